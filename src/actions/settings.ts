import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import { endpointFromBase, parseEndpoint } from '../client/endpoint.ts';
import { renderPairs } from '../output/pairs.ts';
import { SETTING_NAMES, SETTINGS, type SettingName } from '../settings/catalogue.ts';
import { serialize, settingName } from '../settings/settings.ts';
import { parseValue } from '../settings/values.ts';
import { type ConfigFile, configPath, openConfigStore, type Profile } from '../storage/config-file.ts';
import { cleanLine } from '../util/text.ts';

/** The settings as `status` and `config list` tell them. */
export function toldSettings(app: App): Record<string, ToldSetting> {
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, toldSetting(app, name)]));
}

export interface ToldSetting {
  readonly value: string | number | null;
  readonly source: string;
}

function toldSetting(app: App, name: SettingName): ToldSetting {
  const { value, source } = app.settings.raw(name);
  return { value: value === null ? null : serialize(name, value), source };
}

/** Prints the value of a setting that is in force; nothing where it has none. */
export async function getSetting(app: App, word: string): Promise<void> {
  app.config();
  const name = settingName(word);
  const { value, source } = toldSetting(app, name);
  await writeText(app, { name, value, source }, () =>
    value === null ? '' : `${cleanLine(String(value))}\n`,
  );
}

/** Saves a setting, checked. */
export async function setSetting(app: App, word: string, text: string): Promise<void> {
  const name = settingName(word);
  checkSetting(name, text);
  const value = serialize(name, text);
  await change(app, (file) => {
    placeOf(file, name, app.settings.profileName)[keyOf(name)] = value;
  });
  await writeText(app, { name, value, source: 'config' }, () => '');
  await app.note(`${name} is ${value}`);
}

function checkSetting(name: SettingName, value: string): void {
  const where = { name: `config set ${name}`, flag: true, hint: 'restaurant config list' };
  parseValue<unknown>(SETTINGS[name].parse, value, where);
  if (name === 'base-url') endpointFromBase(value);
  if (name === 'endpoint') parseEndpoint(value);
}

/** Removes a setting from the config file. */
export async function unsetSetting(app: App, word: string): Promise<void> {
  const name = settingName(word);
  await change(app, (file) => {
    delete placeOf(file, name, app.settings.profileName)[keyOf(name)];
  });
  await writeText(app, { name, value: null, source: 'default' }, () => '');
}

/** Prints every setting with its source. */
export async function listSettings(app: App): Promise<void> {
  app.config();
  const settings = toldSettings(app);
  const pairs = Object.entries(settings).map(([name, { value, source }]) =>
    value === null ? ([name, ''] as const) : ([name, String(value), source] as const),
  );
  await writeText(app, settings, () => renderPairs([{ pairs }], app.view));
}

/** Prints where the config file is. */
export async function printConfigPath(app: App): Promise<void> {
  const path = configPath(app.configDir);
  await writeText(app, { path }, () => `${path}\n`);
}

async function change(app: App, edit: (file: ConfigFile) => void): Promise<void> {
  app.config();
  await openConfigStore(app.configDir, { warn: (text) => void app.warn(text) }).update(edit);
}

const keyOf = (name: SettingName): string =>
  SETTINGS[name].file === 'profile' ? name.replace('-', '_') : name;

/** The object of the file that holds the setting; made where it is missing. */
function placeOf(file: ConfigFile, name: SettingName, profileName: string): Record<string, unknown> {
  if (SETTINGS[name].file === 'settings') {
    file.settings ??= {};
    return file.settings;
  }
  file.profiles ??= {};
  const held = Object.hasOwn(file.profiles, profileName) ? file.profiles[profileName] : undefined;
  const profile: Profile = held ?? {};
  file.profiles[profileName] = profile;
  return profile;
}

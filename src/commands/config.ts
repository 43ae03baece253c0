import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { list, object, SETTING_OUTPUT, SETTINGS_OUTPUT, text, textOrNull } from '../cli/schemas.ts';
import { AppError } from '../errors.ts';
import { SETTING_NAMES, SETTINGS, type Setting, type SettingName } from '../settings/catalogue.ts';
import { type SettingView, serialize, settingName } from '../settings/settings.ts';
import { parseValue } from '../settings/values.ts';
import type { ConfigFile, Profile } from '../storage/config-file.ts';

const PROFILES_OUTPUT = object({
  profiles: list(object({ name: text, service: textOrNull, last4: textOrNull })),
});

/** Adds `config` and its subcommands to the program. */
export function registerConfig(program: CliCommand, app: App): void {
  const config = program
    .command('config')
    .summary('Read and change settings')
    .description('Read and change the settings in the config file.')
    .examples('restaurant config set city "San Francisco"', 'restaurant config list')
    .notes(
      `Settings: ${SETTING_NAMES.join(', ')}. A flag beats the environment, which beats the config file: ` +
        'restaurant help environment.',
    );
  config
    .command('get')
    .summary('Print a setting')
    .description('Print the value of a setting that is in effect.')
    .argument('<name>', 'Setting')
    .completeWith('name', 'setting')
    .usesOptions('profile', 'json')
    .outputSchema(SETTING_OUTPUT)
    .examples('restaurant config get timeout')
    .action((name: string) => getSetting(app, name));
  config
    .command('set')
    .summary('Save a setting')
    .description('Save a setting in the config file.')
    .argument('<name>', 'Setting')
    .completeWith('name', 'setting')
    .argument('<value>', 'Value')
    .completeWith('value', 'setting-value')
    .usesOptions('profile', 'json')
    .outputSchema(SETTING_OUTPUT)
    .examples('restaurant config set city "San Francisco"', 'restaurant config set timeout 1m')
    .notes(
      "header.<Name> adds a request header for the profile's service: restaurant config set header.X-Team '${TEAM}' " +
        'reads its value from the variable TEAM.',
    )
    .action((name: string, value: string) => setSetting(app, name, value));
  config
    .command('unset')
    .summary('Remove a setting')
    .description('Remove a setting from the config file; its default applies again.')
    .argument('<name>', 'Setting')
    .completeWith('name', 'setting')
    .usesOptions('profile', 'json')
    .outputSchema(SETTING_OUTPUT)
    .examples('restaurant config unset city')
    .action((name: string) => unsetSetting(app, name));
  config
    .command('list')
    .summary('List all settings with their sources')
    .description('List all settings with their values and sources.')
    .usesOptions('profile', 'json')
    .outputSchema(SETTINGS_OUTPUT)
    .examples('restaurant config list', 'restaurant config list --json')
    .action(() => listSettings(app));
  config
    .command('profiles')
    .summary('List saved profiles')
    .description('List the saved profiles: name, service and the last four characters of the key.')
    .usesOptions('json')
    .outputSchema(PROFILES_OUTPUT)
    .examples('restaurant config profiles')
    .action(() => listProfiles(app));
  config
    .command('path')
    .summary('Print the path of the config file')
    .description('Print the path of the config file.')
    .usesOptions('json')
    .outputSchema(object({ path: text }))
    .examples('restaurant config path')
    .action(() => printPath(app));
}

/** Returns the header that `header.<Name>` names. */
const headerName = (word: string): string | undefined => /^header\.(.+)$/i.exec(word)?.[1];

async function getSetting(app: App, word: string): Promise<void> {
  const { writeText } = await import('../app/output.ts');
  const { cleanLine } = await import('../util/text.ts');
  app.config();
  const header = headerName(word);
  const name = header === undefined ? settingName(word) : `header.${header}`;
  const { value, source } =
    header === undefined ? app.settings.view(settingName(word)) : await viewHeader(app, header);
  await writeText(app, { name, value, source }, () =>
    value === null ? '' : `${cleanLine(String(value))}\n`,
  );
}

async function viewHeader(app: App, header: string): Promise<SettingView> {
  const { headerViews } = await import('../app/target.ts');
  const wanted = `header.${header}`.toLowerCase();
  const found = Object.entries(headerViews(app)).find(([name]) => name.toLowerCase() === wanted);
  return found?.[1] ?? { value: null, source: 'default' };
}

/** Saves a header of the profile; with `value` undefined it is removed. */
async function saveHeader(app: App, header: string, value: string | undefined): Promise<void> {
  const { writeText } = await import('../app/output.ts');
  const { checkHeader } = await import('../client/http/headers.ts');
  const { savedHeaders, shownHeader } = await import('../app/target.ts');
  checkHeader(header, value ?? '');
  const { profileName } = app.settings;
  await changeConfig(app, (file) => {
    const profile = sectionOf(file, 'base-url', profileName) as Profile;
    if (value !== undefined && (profile.endpoint ?? profile.base_url ?? profile.key_origin) === undefined) {
      throw new AppError('usage', `the profile ${profileName} has no service that the header could go to`, {
        hint: 'restaurant login --base-url <url>, or: restaurant config set base-url <url>',
      });
    }
    const others = Object.entries(savedHeaders(profile)).filter(
      ([name]) => name.toLowerCase() !== header.toLowerCase(),
    );
    const headers = value === undefined ? others : [...others, [header, value]];
    if (headers.length === 0) delete profile.headers;
    else profile.headers = Object.fromEntries(headers);
  });
  const shown = value === undefined ? null : shownHeader(header, value);
  const source = value === undefined ? 'default' : 'config';
  await writeText(app, { name: `header.${header}`, value: shown, source }, () => '');
  if (value !== undefined) await app.note(`header.${header} is saved for the profile ${profileName}`);
}

async function setSetting(app: App, word: string, given: string): Promise<void> {
  const header = headerName(word);
  if (header !== undefined) return saveHeader(app, header, given);
  const { writeText } = await import('../app/output.ts');
  const name = settingName(word);
  const value = serialize(name, await checkSetting(app, name, given));
  await changeConfig(app, (file) => {
    sectionOf(file, name, app.settings.profileName)[keyOf(name)] = value;
  });
  await writeText(app, { name, value, source: 'config' }, () => '');
  await app.note(`${name} is ${value}`);
}

/** Returns the value to save. @throws {AppError} `usage` for a value that no command could use */
async function checkSetting(app: App, name: SettingName, given: string): Promise<string> {
  const where = { name: `config set ${name}`, flag: true, hint: 'restaurant config list' };
  parseValue<unknown>(SETTINGS[name].parse, given, where);
  if (name === 'profile') app.requireProfile(given);
  if (name !== 'base-url' && name !== 'endpoint') return given;
  const { endpointFromBase, parseEndpoint, withScheme } = await import('../client/endpoint.ts');
  (name === 'base-url' ? endpointFromBase : parseEndpoint)(given);
  return withScheme(given);
}

async function unsetSetting(app: App, word: string): Promise<void> {
  const header = headerName(word);
  if (header !== undefined) return saveHeader(app, header, undefined);
  const { writeText } = await import('../app/output.ts');
  const name = settingName(word);
  await changeConfig(app, (file) => {
    delete sectionOf(file, name, app.settings.profileName)[keyOf(name)];
  });
  await writeText(app, { name, value: null, source: 'default' }, () => '');
}

async function listSettings(app: App): Promise<void> {
  const { writeText } = await import('../app/output.ts');
  const { renderPairs } = await import('../output/pairs.ts');
  app.config();
  const { headerViews } = await import('../app/target.ts');
  const settings: Record<string, SettingView> = {
    ...Object.fromEntries(SETTING_NAMES.map((name) => [name, app.settings.view(name)])),
    ...headerViews(app),
  };
  const pairs = Object.entries(settings).map(([name, { value, source }]) =>
    value === null ? ([name, ''] as const) : ([name, String(value), source] as const),
  );
  await writeText(app, settings, () => renderPairs([{ pairs }], app.view));
}

async function listProfiles(app: App): Promise<void> {
  const { writeText } = await import('../app/output.ts');
  const { keySuffix } = await import('../client/key.ts');
  const { renderPairs } = await import('../output/pairs.ts');
  const profiles = Object.entries(app.config().profiles ?? {}).map(([name, profile]) => ({
    name,
    service: profile.endpoint ?? profile.base_url ?? profile.key_origin ?? null,
    last4: profile.key === undefined ? null : keySuffix(profile.key),
  }));
  const pairs = profiles.map(
    ({ name, service, last4 }) =>
      [name, service ?? 'no service', last4 === null ? 'no key' : `key …${last4}`] as const,
  );
  await writeText(app, { profiles }, () => (pairs.length === 0 ? '' : renderPairs([{ pairs }], app.view)));
  if (profiles.length === 0) await app.note('no saved profiles; restaurant login saves one');
}

async function printPath(app: App): Promise<void> {
  const { writeText } = await import('../app/output.ts');
  const { configPath } = await import('../storage/config-file.ts');
  const path = configPath(app.configDir);
  await writeText(app, { path }, () => `${path}\n`);
}

async function changeConfig(app: App, edit: (file: ConfigFile) => void): Promise<void> {
  app.config();
  await app.updateConfig(edit);
}

const keyOf = (name: SettingName): string =>
  (SETTINGS[name] as Setting<unknown>).inProfile ? name.replace('-', '_') : name;

/** Returns the object of the file that holds the setting; creates it where it is missing. */
function sectionOf(file: ConfigFile, name: SettingName, profileName: string): Record<string, unknown> {
  if (!(SETTINGS[name] as Setting<unknown>).inProfile) {
    file.settings ??= {};
    return file.settings;
  }
  file.profiles ??= {};
  const saved = Object.hasOwn(file.profiles, profileName) ? file.profiles[profileName] : undefined;
  const profile: Profile = saved ?? {};
  file.profiles[profileName] = profile;
  return profile;
}

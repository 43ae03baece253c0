import { requireProfile } from '../app/address.ts';
import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { list, object, SETTING_OUTPUT, SETTINGS_OUTPUT, text, textOrNull } from '../cli/schemas.ts';
import { withScheme } from '../client/endpoint.ts';
import { checkHeader } from '../client/http/headers.ts';
import { keySuffix } from '../client/key.ts';
import { usage } from '../errors.ts';
import { restaurant } from '../hint.ts';
import { SETTING_NAMES, SETTINGS, type Setting, type SettingName } from '../settings/catalog.ts';
import {
  HIDDEN,
  printableHeader,
  printableSettings,
  printableValue,
  serialize,
} from '../settings/printable.ts';
import { isUrl, settingName } from '../settings/settings.ts';
import { parseValue } from '../settings/values.ts';
import { type ConfigFile, profileOf, serviceOf } from '../storage/config-file.ts';
import { nearest, withNearest } from '../util/nearest.ts';
import { maskUrl } from '../util/url.ts';

export function registerConfig(command: CliCommand, app: App): void {
  const config = command
    .about('Read and change settings')
    .examples('restaurant config set city "San Francisco"', 'restaurant config list')
    .notes(
      `Settings: ${SETTING_NAMES.join(', ')}. An option overrides the environment, which overrides the config file: ` +
        'restaurant help environment.',
    );
  registerSettingCommands(config, app);
  config
    .command('list')
    .about('List all settings with their sources')
    .reads()
    .usesOptions('profile', 'json')
    .outputSchema(SETTINGS_OUTPUT)
    .examples('restaurant config list', 'restaurant config list --json')
    .action(() => listSettings(app));
  config
    .command('profiles')
    .about('List saved profiles')
    .reads()
    .usesOptions('json')
    .outputSchema(object({ profiles: list(object({ name: text, service: textOrNull, last4: textOrNull })) }))
    .examples('restaurant config profiles')
    .action(() => listProfiles(app));
  config
    .command('path')
    .about('Print the path of the config file')
    .reads()
    .usesOptions('json')
    .outputSchema(object({ path: text }))
    .examples('restaurant config path')
    .action(() => writeText(app, { path: app.config.path }, () => `${app.config.path}\n`));
}

function registerSettingCommands(config: CliCommand, app: App): void {
  const settingCommand = (name: string): CliCommand => {
    const command = config.command(name) as CliCommand;
    command.suggest = () => withNearest(command.args, SETTING_NAMES);
    return command
      .argument('<name>', 'Name of the setting')
      .completeWith('name', 'setting')
      .usesOptions('profile', 'json')
      .outputSchema(SETTING_OUTPUT);
  };
  settingCommand('get')
    .about('Print a setting')
    .reads()
    .examples('restaurant config get timeout')
    .action((name: string) => getSetting(app, name));
  settingCommand('set')
    .about('Save a setting')
    .argument('<value>', 'New value')
    .completeWith('value', 'setting-value')
    .examples('restaurant config set city "San Francisco"', 'restaurant config set timeout 1m')
    .notes(
      "header.<Name> adds a request header for the profile's service: restaurant config set header.X-Team '${TEAM}' " +
        'reads its value from the variable TEAM.',
    )
    .action((name: string, value: string) => changeSetting(app, name, value));
  settingCommand('unset')
    .about('Remove a setting, so that its default applies')
    .examples('restaurant config unset city')
    .action((name: string) => changeSetting(app, name));
}

const headerName = (word: string): string | undefined => /^header\.(.+)$/i.exec(word)?.[1];

async function getSetting(app: App, word: string): Promise<void> {
  const { cleanLine } = await import('../util/text.ts');
  app.config.file();
  const header = headerName(word);
  const name = header === undefined ? settingName(word) : `header.${header}`;
  const isNamed = ([each]: readonly [string, unknown]) => each.toLowerCase() === name.toLowerCase();
  const [, view] = Object.entries(printableSettings(app.settings)).find(isNamed) ?? [];
  const { value, source } = view ?? { value: null, source: 'default' };
  await writeText(app, { name, value, source }, () =>
    value === null ? '' : `${cleanLine(String(value))}\n`,
  );
  if (value === HIDDEN) await app.notes.warn(`${name} is secret: its value is in ${app.config.path}`);
}

async function changeSetting(app: App, word: string, input?: string): Promise<void> {
  const header = headerName(word);
  const { name, value, change } =
    header === undefined ? settingChange(app, settingName(word), input) : headerChange(app, header, input);
  app.config.file();
  await app.config.update(change);
  await writeText(app, { name, value, source: input === undefined ? 'default' : 'config' }, () => '');
  if (input !== undefined) await app.notes.note(`saved ${name}: ${value}`);
}

interface SettingChange {
  readonly name: string;
  readonly value: string | number | null;
  change(file: ConfigFile): void;
}

/** @throws {AppError} `usage` for a value that no command could use */
function settingChange(app: App, name: SettingName, input: string | undefined): SettingChange {
  const { profileField }: Setting<unknown> = SETTINGS[name];
  if (input === undefined && profileField !== undefined) requireProfile(app);
  const value = input === undefined ? null : serialize(name, checkSetting(app, name, input));
  const change = (file: ConfigFile): void => {
    // JSON omits undefined values.
    const saved = value ?? undefined;
    if (profileField) {
      const profile = profileOf(file, app.settings.profileName);
      profile[profileField] = saved;
      // Another command is not bound yet.
      if (name === 'key-command' && profile.key === undefined) delete profile.key_origin;
    } else file.settings = { ...file.settings, [name]: saved };
  };
  return { name, value: value === null ? null : printableValue(name, String(value)), change };
}

function checkSetting(app: App, name: SettingName, input: string): string {
  const { choices = [], default: value }: Setting<unknown> = SETTINGS[name];
  const example = nearest(input, choices, 1)[0] ?? choices[0] ?? value;
  const words = example === undefined ? ['list'] : ['set', name, example];
  const hint = { command: restaurant('config', ...words) };
  const where = { name: `config set ${name}`, flag: true, isUrl: isUrl(name), hint };
  parseValue<unknown>(SETTINGS[name].parse, input, () => where);
  if (name === 'profile') requireProfile(app, input);
  return name === 'base-url' || name === 'endpoint' ? withScheme(input) : input;
}

/** @throws {AppError} `usage` for a header that cannot be sent, or if the profile has no service */
function headerChange(app: App, header: string, input: string | undefined): SettingChange {
  checkHeader(header, input ?? '');
  if (input === undefined) requireProfile(app);
  const { profileName } = app.settings;
  const change = (file: ConfigFile): void => {
    const profile = profileOf(file, profileName);
    if (input !== undefined && serviceOf(profile) === undefined) {
      throw usage(`cannot save the header: the profile ${profileName} has no service`, {
        command: restaurant('login'),
      });
    }
    const headers = Object.entries(profile.headers ?? {}).filter(
      ([name]) => name.toLowerCase() !== header.toLowerCase(),
    );
    if (input !== undefined) headers.push([header, input]);
    if (headers.length === 0) delete profile.headers;
    else profile.headers = Object.fromEntries(headers);
  };
  return {
    name: `header.${header}`,
    value: input === undefined ? null : printableHeader(header, input),
    change,
  };
}

async function listSettings(app: App): Promise<void> {
  const { renderPairs } = await import('../output/pairs.ts');
  app.config.file();
  const views = printableSettings(app.settings);
  const pairs = Object.entries(views).map(([name, { value, source }]) =>
    value === null ? ([name, ''] as const) : ([name, String(value), source] as const),
  );
  await writeText(app, views, () => renderPairs([{ pairs }], app.terminal.settingsView));
}

async function listProfiles(app: App): Promise<void> {
  const { renderPairs } = await import('../output/pairs.ts');
  const profiles = Object.entries(app.config.file().profiles ?? {}).map(([name, profile]) => ({
    name,
    service: maskUrl(serviceOf(profile) ?? '') || null,
    last4: profile.key === undefined ? null : keySuffix(profile.key),
  }));
  const pairs = profiles.map(({ name, service, last4 }) => {
    const key = last4 === null ? 'no key' : `key …${last4}`;
    return [name, service ?? 'no service', key] as const;
  });
  await writeText(app, { profiles }, () => renderPairs([{ pairs }], app.terminal.settingsView));
  if (profiles.length === 0)
    await app.notes.note({ text: 'no saved profiles; save one', command: restaurant('login') });
}

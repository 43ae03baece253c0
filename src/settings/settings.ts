import { usage } from '../errors.ts';
import { restaurant } from '../hint.ts';
import type { ConfigFile, Profile } from '../storage/config-file.ts';
import { suggestion } from '../util/nearest.ts';
import { SETTING_NAMES, SETTINGS, type Setting, type SettingName, type SettingValue } from './catalog.ts';
import { parseValue } from './values.ts';

/** The sources of a value, in order of precedence. */
export const SOURCES = ['flag', 'env', 'config', 'default'] as const;
export type Source = (typeof SOURCES)[number];

interface Resolved<T> {
  readonly value: T;
  readonly source: Source;
}

interface SettingsInput {
  readonly flags: Readonly<Partial<Record<SettingName, string>>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Empty if it is damaged. */
  readonly file: ConfigFile;
  readonly isDamaged: boolean;
  /** Defaults of this run, in place of those of the catalog. */
  readonly defaults: Readonly<Partial<Record<SettingName, string>>>;
}

export const isUrl = (name: SettingName): boolean => ['base-url', 'endpoint', 'shared-state'].includes(name);

export function variable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
  const text = env[name];
  return text === undefined || text === '' ? undefined : text;
}

/** The settings of this run, each with its source. A value is parsed and validated when it is used. */
export class Settings {
  readonly #input: SettingsInput;

  constructor(input: SettingsInput) {
    this.#input = input;
  }

  get<N extends SettingName>(name: N): SettingValue<N> {
    return this.resolve(name).value;
  }

  resolve<N extends SettingName>(name: N): Resolved<SettingValue<N>> {
    const { value: text, source } = this.raw(name);
    const parse: (text: string) => unknown = SETTINGS[name].parse;
    const value = text === null ? undefined : parseValue(parse, text, () => this.#originOf(name, source));
    return { value: value as SettingValue<N>, source };
  }

  raw(name: SettingName): Resolved<string | null> {
    const { env, profileField, default: value }: Setting<unknown> = SETTINGS[name];
    const flag = this.#input.flags[name];
    if (flag !== undefined) return { value: flag, source: 'flag' };
    const set = variable(this.#input.env, env);
    if (set !== undefined) return { value: set, source: 'env' };
    const saved = profileField ? this.profile[profileField] : this.#input.file.settings?.[name];
    if (typeof saved === 'string' || typeof saved === 'number')
      return { value: String(saved), source: 'config' };
    return { value: this.#input.defaults[name] ?? value ?? null, source: 'default' };
  }

  /** Whether no service is configured, so that only the sample data can be searched. */
  get hasNoService(): boolean {
    const names = ['base-url', 'endpoint'] as const;
    return !this.#input.isDamaged && names.every((name) => this.raw(name).value === null);
  }

  get profileName(): string {
    return this.get('profile');
  }

  /** The option that selects the profile in a command; empty for the default one. */
  get profileOption(): readonly string[] {
    return this.profileName === 'default' ? [] : ['--profile', this.profileName];
  }

  get profile(): Profile {
    const profiles = this.#input.file.profiles ?? {};
    // The name is checked where the profile is needed.
    const name = this.raw('profile').value ?? '';
    return (Object.hasOwn(profiles, name) ? profiles[name] : undefined) ?? {};
  }

  #originOf(name: SettingName, source: Source): ReturnType<Parameters<typeof parseValue>[2]> {
    const { env, profileField }: Setting<unknown> = SETTINGS[name];
    const where = { flag: source === 'flag', isUrl: isUrl(name) };
    // Checked with the command line, which has the hint.
    if (source === 'flag') return { ...where, name: `--${name}` };
    if (source === 'env') return { ...where, name: env, hint: { text: `unset ${env}, or correct it` } };
    const option = profileField === undefined ? [] : this.profileOption;
    return {
      ...where,
      name: `config ${name}`,
      hint: { command: restaurant('config', 'unset', name, ...option) },
    };
  }
}

export function settingName(text: string): SettingName {
  const wanted = text.toLowerCase().replaceAll('_', '-');
  const setting = SETTING_NAMES.find((name) => name === wanted);
  if (setting !== undefined) return setting;
  if (/key|token|secret/.test(wanted)) {
    throw usage('an API key is not a setting, and other users can read the command line', {
      command: restaurant('login'),
    });
  }
  throw usage(`unknown setting '${text}'`, [
    ...suggestion(wanted, SETTING_NAMES),
    { text: `the settings are ${SETTING_NAMES.join(', ')}`, command: restaurant('config', 'list') },
  ]);
}

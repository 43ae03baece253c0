import { AppError } from '../errors.ts';
import type { ConfigFile, Profile } from '../storage/config-file.ts';
import { didYouMean } from '../util/nearest.ts';
import { SETTING_NAMES, SETTINGS, type Setting, type SettingName, type SettingValue } from './catalogue.ts';
import { parseValue, withoutPassword } from './values.ts';

/** Where a value was found. A flag beats the environment, which beats the config file. */
export type Source = 'flag' | 'env' | 'config' | 'default';

export interface Resolved<T> {
  readonly value: T;
  readonly source: Source;
}

export interface SettingsInput {
  /** Flags as given, by setting name. */
  readonly flags: Readonly<Partial<Record<SettingName, string>>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly file: ConfigFile;
}

/** A setting as JSON output shows it: a number where it is one; null where it has no value. */
export interface SettingView {
  readonly value: string | number | null;
  readonly source: Source;
}

/** The settings of this run, each with its source. Values are read, and refused, when asked for. */
export interface Settings {
  get<N extends SettingName>(name: N): SettingValue<N> | undefined;
  /** As `get`, for settings that have a default. */
  need<N extends SettingName>(name: N): SettingValue<N>;
  resolve<N extends SettingName>(name: N): Resolved<SettingValue<N> | undefined>;
  /** The text as it was given, and its source. For telling, without judging. */
  raw(name: SettingName): Resolved<string | null>;
  /** A setting as JSON output shows it. */
  view(name: SettingName): SettingView;
  readonly profileName: string;
  readonly profile: Profile;
}

/** A setting as JSON tells it and the config file keeps it: a number where it is one. What is none stays text. */
export function serialize(name: SettingName, text: string): string | number {
  return (SETTINGS[name] as Setting<unknown>).number === true && /^\d{1,15}$/.test(text)
    ? Number(text)
    : text;
}

/** The text of a variable; an empty one counts as unset. */
export function variable(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): string | undefined {
  const text = env[name];
  return text === undefined || text === '' ? undefined : text;
}

const scalarText = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;

function fileText(input: SettingsInput, name: SettingName, profile: () => Profile): string | undefined {
  const place = SETTINGS[name].file;
  const held = place === 'settings' ? input.file.settings?.[name] : undefined;
  const own = place === 'profile' ? profile()[name.replace('-', '_')] : undefined;
  return scalarText(held ?? own);
}

/** Looks up the settings of this run. Nothing is judged until it is asked for. */
export function openSettings(input: SettingsInput): Settings {
  const text = (name: SettingName): Resolved<string | undefined> => {
    const { env, default: value }: Setting<unknown> = SETTINGS[name];
    const flag = input.flags[name];
    if (flag !== undefined) return { value: flag, source: 'flag' };
    const set = variable(input.env, env);
    if (set !== undefined) return { value: set, source: 'env' };
    const held = fileText(input, name, profile);
    if (held !== undefined) return { value: held, source: 'config' };
    return { value, source: 'default' };
  };

  const resolve = <N extends SettingName>(name: N): Resolved<SettingValue<N> | undefined> => {
    const { value, source } = text(name);
    if (value === undefined) return { value: undefined, source };
    const read = SETTINGS[name].parse as (text: string) => SettingValue<N>;
    return { value: parseValue(read, value, whereOf(name, source)), source };
  };

  const need = <N extends SettingName>(name: N): SettingValue<N> => {
    const { value } = resolve(name);
    if (value === undefined) throw new AppError('unexpected', `setting ${name} has no value`);
    return value;
  };

  function profile(): Profile {
    const profiles = input.file.profiles ?? {};
    const name = need('profile');
    return (Object.hasOwn(profiles, name) ? profiles[name] : undefined) ?? {};
  }

  return {
    get: (name) => resolve(name).value,
    need,
    resolve,
    raw: (name) => {
      const { value, source } = text(name);
      return { value: value ?? null, source };
    },
    view: (name) => {
      const { value, source } = text(name);
      return { value: value === undefined ? null : serialize(name, withoutPassword(value)), source };
    },
    get profileName() {
      return need('profile');
    },
    get profile() {
      return profile();
    },
  };
}

function whereOf(name: SettingName, source: Source): { name: string; flag: boolean; hint?: string } {
  const { env, flag } = SETTINGS[name] as Setting<unknown>;
  if (source === 'flag') return { name: flag ?? name, flag: true };
  if (source === 'env') return { name: env, flag: false, hint: `unset ${env}, or correct it` };
  return { name: `config ${name}`, flag: false, hint: `restaurant config unset ${name}` };
}

/**
 * The name of a setting as a user writes it (`base_url`, `BASE-URL` too).
 * @throws {AppError} `usage` listing the names
 */
export function settingName(text: string): SettingName {
  const wanted = text.toLowerCase().replaceAll('_', '-');
  const found = SETTING_NAMES.find((name) => name === wanted && SETTINGS[name].file !== 'none');
  if (found !== undefined) return found;
  if (/key|token|secret/.test(wanted)) {
    throw new AppError('usage', 'an API key is not a setting: the command line would show it to others', {
      hint: 'restaurant login',
    });
  }
  throw new AppError('usage', `no setting '${text}'`, {
    hint: `${didYouMean(wanted, SETTING_NAMES)}restaurant config list shows them: ${SETTING_NAMES.join(', ')}`,
  });
}

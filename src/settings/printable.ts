import { isHarmless } from '../client/http/headers.ts';
import { maskUrl } from '../util/url.ts';
import { SETTING_NAMES, SETTINGS, type Setting, type SettingName } from './catalog.ts';
import { isUrl, type Settings, type Source } from './settings.ts';

/** A setting without secrets: a number if the setting is numeric; null if it has no value. */
export interface PrintableSetting {
  readonly value: string | number | null;
  readonly source: Source;
}

export const HIDDEN = '…';

export function printableHeader(name: string, value: string): string {
  const isReference = /^(?:(?:Bearer|Basic|Token) +)?\$\{\w+\}$/.test(value);
  return isHarmless(name) || isReference ? value : HIDDEN;
}

export const printableValue = (name: SettingName, text: string): string | number =>
  isUrl(name) ? maskUrl(text) : serialize(name, text);

export function serialize(name: SettingName, text: string): string | number {
  return (SETTINGS[name] as Setting<unknown>).number === true && /^\d{1,15}$/.test(text)
    ? Number(text)
    : text;
}

export function printableSetting(settings: Settings, name: SettingName): PrintableSetting {
  const { value, source } = settings.raw(name);
  return { value: value === null ? null : printableValue(name, value), source };
}

export function printableSettings(settings: Settings): Record<string, PrintableSetting> {
  const all = SETTING_NAMES.map((name) => [name, printableSetting(settings, name)] as const);
  const headers = Object.entries(settings.profile.headers ?? {}).map(
    ([name, value]) => [`header.${name}`, { value: printableHeader(name, value), source: 'config' }] as const,
  );
  return Object.fromEntries([...all, ...headers]);
}

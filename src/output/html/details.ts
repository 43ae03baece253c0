import { toJson } from '../json.ts';
import { label } from '../label.ts';
import { isRecord } from '../records.ts';
import { inline, isSimple } from '../render/inline.ts';
import { clean } from '../text.ts';
import type { Detail, Entry } from './document.ts';

/** Deeper levels are shown as JSON. */
const MAX_DETAIL_LEVEL = 6;
const PHONE_KEY = /phone|tel(?:$|_|ephone)|mobile/i;
const PHONE = /^\+?[\d ().\-/‐‑–]{5,40}$/;

/** The entries of an object, each laid out for reading. */
export function entriesOf(fields: readonly (readonly [key: string, value: unknown])[], level = 0): Entry[] {
  return fields.map(([key, value]) => [label(key), detailOf(value, key, level)]);
}

/** A value of any shape, laid out for reading. Nothing is left out. */
export function detailOf(value: unknown, key = '', level = 0): Detail {
  if (typeof value === 'string') return textOrLink(value, key);
  if (isSimple(value)) return inline(value);
  if (level >= MAX_DETAIL_LEVEL) return clean(toJson(value, false));
  if (Array.isArray(value)) return { list: value.map((item) => detailOf(item, key, level + 1)) };
  return isRecord(value) ? { pairs: entriesOf(Object.entries(value), level + 1) } : inline(value);
}

/** Text as a link where it is a web address or, under such a key, a telephone number; never of another scheme. */
function textOrLink(value: string, key: string): Detail {
  const text = inline(value);
  const href = webAddress(value) ?? (PHONE_KEY.test(key) ? phoneAddress(value) : undefined);
  return href === undefined ? text : { href, text };
}

function webAddress(text: string): string | undefined {
  if (!/^https?:\/\/[^\s\\]+$/i.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, href } = new URL(text);
  return protocol === 'https:' || protocol === 'http:' ? href : undefined;
}

function phoneAddress(text: string): string | undefined {
  if (!PHONE.test(text.trim())) return undefined;
  const digits = text.replace(/\D/g, '');
  return digits.length < 4 ? undefined : `tel:${text.trim().startsWith('+') ? '+' : ''}${digits}`;
}

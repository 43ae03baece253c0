import { isObject } from '../util/json.ts';

/**
 * The content of a row, as far as it takes part in matching: trimmed texts in NFC, coordinates as numbers with five
 * decimals. A blank cell is the empty text; a column that the list does not have is missing.
 */
export interface RowKey {
  readonly name?: string;
  readonly city?: string;
  readonly address?: string;
  /** A number, or text that is none. */
  readonly lat?: number | string;
  readonly lng?: number | string;
  readonly id?: string;
}

export type RowKeyMember = keyof RowKey;

export const ROW_KEY_MEMBERS: readonly RowKeyMember[] = ['name', 'city', 'address', 'lat', 'lng', 'id'];
const COORDINATES: readonly string[] = ['lat', 'lng'];
const DECIMALS = 1e5;
const DECIMAL_COMMA = /^([-+]?\d{1,3}),(\d+)$/;

export const keyText = (text: string): string => text.trim().normalize('NFC');

/** @param texts as in the row; undefined for a missing column */
export function rowKeyOf(texts: Readonly<{ [M in RowKeyMember]?: string | number | undefined }>): RowKey {
  const key: Partial<Record<RowKeyMember, string | number>> = {};
  for (const member of ROW_KEY_MEMBERS) {
    const text = texts[member];
    if (text !== undefined)
      key[member] = COORDINATES.includes(member) ? coordinate(text) : keyText(String(text));
  }
  return key as RowKey;
}

function coordinate(value: string | number): string | number {
  const text = keyText(String(value));
  const number = Number(text.replace(DECIMAL_COMMA, '$1.$2'));
  // Adding 0 makes 0 of -0.
  return text === '' || !Number.isFinite(number) ? text : Math.round(number * DECIMALS) / DECIMALS + 0;
}

export function isRowKey(value: unknown): value is RowKey {
  if (!isObject(value)) return false;
  return ROW_KEY_MEMBERS.every((member) => {
    const type = typeof value[member];
    return type === 'undefined' || type === 'string' || (type === 'number' && COORDINATES.includes(member));
  });
}

/** Equal texts for equal contents. @param members only these; default: all that the key has */
export const rowKeyText = (key: RowKey, members: readonly RowKeyMember[] = ROW_KEY_MEMBERS): string =>
  JSON.stringify(members.flatMap((member) => (key[member] === undefined ? [] : [[member, key[member]]])));

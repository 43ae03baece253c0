import { isObject, toJson } from '../util/json.ts';
import { label, wrap } from '../util/text.ts';
import { indented, maxWidth, type Pair, pairLines } from './pairs.ts';
import { glyphs } from './presentation.ts';
import { link, type View, webUrl } from './style.ts';
import { type Column, renderTable } from './table.ts';
import { type DataField, inline, isSimple, smallTable } from './values.ts';

const MAX_DATA_LEVEL = 6;
const MIN_DATA_WIDTH = 16;
const INDENT = 2;

/** Renders any value for reading: key/value lines, then a section per nested value. Nothing is omitted. */
export function dataLines(value: unknown, columns: number, view: View, level = 0): string[] {
  if (level > MAX_DATA_LEVEL || columns < MIN_DATA_WIDTH)
    return isSimple(value) ? wrap(inline(value), columns) : wrap(toJson(value, false), columns);
  if (Array.isArray(value)) return listLines(value, columns, view, level);
  return isObject(value)
    ? entryLines(Object.entries(value), columns, view, level)
    : wrap(inline(value), columns);
}

export function entryLines(entries: readonly DataField[], columns: number, view: View, level = 0): string[] {
  const pairs = entries
    .filter(([, value]) => isSimple(value))
    .map(([key, value]) => pairOf(key, value, view));
  const sections = entries
    .filter(([, value]) => !isSimple(value))
    .map(([key, value]) => [
      ...wrap(label(key), columns).map(level === 0 ? view.palette.heading : view.palette.key),
      ...indented(dataLines(value, columns - INDENT, view, level + 1), INDENT),
    ]);
  const blocks = [pairLines(pairs, columns, view), ...sections];
  return level === 0 ? separate(blocks) : blocks.flat();
}

export function separate(blocks: readonly (readonly string[])[]): string[] {
  return blocks
    .filter((lines) => lines.length > 0)
    .flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function pairOf(key: string, value: unknown, view: View): Pair {
  const text = inline(value, key);
  if (typeof value !== 'string' || !/^https?:\/\/\S+$/i.test(value)) return { key: label(key), text };
  return { key: label(key), text, paint: (line) => link(view.palette.url(line), webUrl(value), view) };
}

function listLines(items: readonly unknown[], columns: number, view: View, level: number): string[] {
  const table = tableLines(items, columns, view);
  if (table !== undefined) return table;
  return items.flatMap((item) => bulleted(dataLines(item, columns - INDENT, view, level + 1), view));
}

export function bulleted([first = '', ...rest]: readonly string[], view: View): string[] {
  return [`${view.palette.dim(glyphs(view).bullet)} ${first}`.trimEnd(), ...indented(rest, INDENT)];
}

function tableLines(items: readonly unknown[], columns: number, view: View): string[] | undefined {
  const small = smallTable(items);
  if (small === undefined) return undefined;
  const { keys, numeric, rows } = small;
  const table = keys.map((key, index): Column => {
    return {
      key,
      title: label(key),
      priority: Number.POSITIVE_INFINITY,
      align: numeric[index] === true ? 'right' : 'left',
      min: maxWidth([label(key).toUpperCase(), ...rows.map((row) => row[index] ?? '')]),
    };
  });
  if (table.reduce((sum, { min = 0 }) => sum + min + INDENT, -INDENT) > columns) return undefined;
  return renderTable(table, rows, { ...view, width: columns }).split('\n');
}

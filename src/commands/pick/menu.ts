import { numberedLines } from '../../app/keys.ts';
import type { Palette } from '../../output/style.ts';
import { cleanLine, truncate, width, wrapItems } from '../../util/text.ts';
import { type Choice, choicesWith } from './rows.ts';

export interface Menu {
  title: string;
  /** The last event, such as a search without a match. */
  message: string | undefined;
  /** Results of the search. They are all that is shown until something is typed. */
  results: readonly Choice[];
  /** Restaurants of the last search, and saved ones. */
  known: readonly Choice[];
  saved: ReadonlySet<string>;
  /** The city of a search; undefined if it is asked for. */
  city: string | undefined;
  readonly canSearch: boolean;
}

/** The typed text, and the position of the mark. */
export interface Typed {
  readonly text: string;
  /** Index of the marked row; undefined if none is. */
  readonly marked: number | undefined;
  /** Index of the first row that is on the screen. */
  readonly first: number;
}

export const NOTHING: Typed = { text: '', marked: undefined, first: 0 };

export type Step =
  | { readonly typed: Typed }
  | { readonly choice: Choice }
  | { readonly search: string }
  | 'leave';

export interface Screen {
  readonly columns: number;
  /** Number of rows of the menu on the screen, at most 9. */
  readonly rows: number;
  readonly palette: Palette;
  readonly ellipsis: string;
}

const MAX_TYPED = 100;

export function rowsOf({ results, known }: Menu, text: string): readonly Choice[] {
  if (text.trim() === '') return results.length > 0 ? results : known;
  const ids = new Set(results.map(({ id }) => id));
  return choicesWith([...results, ...known.filter(({ id }) => !ids.has(id))], text);
}

/** Returns what a key does. Digits choose a row of the screen; other characters are typed. */
export function press(menu: Menu, typed: Typed, key: string | undefined, rows: number): Step {
  const shown = rowsOf(menu, typed.text);
  const picked =
    /^[1-9]$/.test(key ?? '') && Number(key) <= rows ? shown[typed.first + Number(key) - 1] : undefined;
  if (picked !== undefined) return { choice: picked };
  const act = key === undefined ? undefined : KEYS[key];
  if (key === undefined || act !== undefined) return act?.(typed, shown, menu, rows) ?? 'leave';
  const isCharacter = [...key].length === 1 && !/\p{C}/u.test(key);
  if (!isCharacter || typed.text.length >= MAX_TYPED) return { typed };
  return { typed: { ...NOTHING, text: typed.text + key } };
}

type Act = (typed: Typed, shown: readonly Choice[], menu: Menu, rows: number) => Step;

const KEYS: Readonly<Record<string, Act>> = {
  enter: ({ text, marked }, shown, { canSearch }) => {
    if (marked === undefined && canSearch && text.trim() !== '') return { search: text.trim() };
    const choice = shown[marked ?? 0];
    return choice === undefined ? { typed: { ...NOTHING, text } } : { choice };
  },
  backspace: ({ text }) => ({ typed: { ...NOTHING, text: [...text].slice(0, -1).join('') } }),
  escape: ({ text }) => (text === '' ? 'leave' : { typed: NOTHING }),
  'ctrl-d': () => 'leave',
  up: (typed, shown, _, rows) => ({ typed: move(typed, (typed.marked ?? shown.length) - 1, shown, rows) }),
  down: (typed, shown, _, rows) => ({ typed: move(typed, (typed.marked ?? -1) + 1, shown, rows) }),
};

function move(typed: Typed, to: number, shown: readonly Choice[], rows: number): Typed {
  if (shown.length === 0) return typed;
  const marked = Math.min(Math.max(to, 0), shown.length - 1);
  const first = Math.min(Math.max(typed.first, marked - rows + 1), marked);
  return { ...typed, marked, first };
}

export function rowLines(
  { saved }: Menu,
  shown: readonly Choice[],
  { columns, palette, ellipsis }: Screen,
  marked?: number,
): string[] {
  const rows = shown.map((choice, index) => ({
    mark: index === marked ? '>' : ' ',
    name: typeof choice.record.name === 'string' ? choice.record.name : choice.id,
    facts: [...(saved.has(choice.id) ? ['saved'] : []), ...factsOf(choice)],
  }));
  const lines = numberedLines(rows, columns, ellipsis);
  return lines.map((line, index) => (index === marked ? palette.heading(line) : line));
}

const factsOf = ({ record: { grade, cuisine_tags, neighborhood, city } }: Choice): string[] =>
  [grade, ...[cuisine_tags].flat().slice(0, 3), neighborhood ?? city]
    .filter((fact) => typeof fact === 'string' && fact !== '')
    .map((fact) => cleanLine(String(fact).slice(0, 100)));

/** The lines of the screen; the last one is that of the cursor. */
export function menuLines(menu: Menu, typed: Typed, screen: Screen): string[] {
  const { columns, palette, ellipsis } = screen;
  const all = rowsOf(menu, typed.text);
  const shown = all.slice(typed.first, typed.first + screen.rows);
  const more = all.length - typed.first - shown.length;
  const dim = (text: string): string[] =>
    text === '' ? [] : wrapItems(cleanLine(text), columns).slice(0, 4).map(palette.dim);
  return [
    palette.heading(truncate(cleanLine(menu.title), columns, ellipsis)),
    ...dim(menu.message ?? ''),
    ...rowLines(menu, shown, screen, typed.marked === undefined ? undefined : typed.marked - typed.first),
    ...dim(more > 0 ? `    and ${more} more` : ''),
    ...dim(keysText(menu, typed, shown.length)),
    `> ${endOf(cleanLine(typed.text), columns - 3)}`,
  ];
}

function keysText({ canSearch, city }: Menu, { text, marked }: Typed, count: number): string {
  const words = text.trim();
  const where = city === undefined ? '' : ` in ${city}`;
  const search = canSearch && words !== '' && marked === undefined;
  const enter = search
    ? `enter searches "${words}"${where}`
    : `enter picks ${marked === undefined ? '1' : 'it'}`;
  return [
    ...(count === 0 ? [] : [count === 1 ? '1 picks' : `1-${count} pick`]),
    ...(search || count > 0 ? [enter] : []),
    ...(words === '' ? [canSearch ? 'type to filter or search' : 'type to filter'] : []),
    words === '' ? 'esc leaves' : 'esc clears',
  ].join(', ');
}

function endOf(text: string, columns: number): string {
  let rest = [...text];
  while (rest.length > 0 && width(rest.join('')) > columns) rest = rest.slice(1);
  return rest.join('');
}

import type { Detail, PageColumn, PageHead, PageRow } from '../document.ts';
import { amount, button, el, formatCount, prefersReducedMotion } from './dom.ts';
import { moreElement, rowElement, short } from './row.ts';

/** Maximum number of rows on a page of the list, and in print. */
const PAGE = 100;
const PRINTED = 5000;
const SEARCH_DELAY_MS = 120;

export interface List {
  readonly element: HTMLElement;
  /** Selects a row and scrolls to it; with `focus`, also opens and focuses it. */
  choose(row: number, focus?: boolean): void;
  /** Opens a row. */
  open(row: number): void;
}

interface Order {
  readonly column: number;
  readonly descending: boolean;
}

/** Creates the list, with search, filters, sorting and pages. Rows are known by their numbers. */
export function makeList(
  { columns, heading }: PageHead,
  rows: readonly PageRow[],
  hooks: {
    /** Called when the user selects a row. */
    onChoose(row: number): void;
    /** Called when the user wants to see a row on the map. */
    onPlace(row: number): void;
    /** Called when other rows are shown. */
    onRows(numbers: readonly number[]): void;
  },
): List {
  const search = searcher(rows);
  const opened = new Set<number>();
  let query = '';
  let order: Order | undefined;
  let found: readonly number[] = [...rows.keys()];
  let numbers = found;
  let page = 0;
  let chosen: number | undefined;

  const headings = columns.map(({ label }, column) =>
    el(
      'th',
      { role: 'columnheader', scope: 'col', 'aria-sort': 'none' },
      button({ class: 'sort', dir: 'auto' }, () => sortBy(column), label),
    ),
  );
  const body = el('tbody', { role: 'rowgroup' });
  const table = el('div', { class: 'scroll' }, tableOf(heading, headings, body));
  const count = el('p', { role: 'status', class: 'count' });
  const place = el('span');
  const back = button({}, () => turn(page - 1), 'Previous');
  const next = button({}, () => turn(page + 1), 'Next');
  const pager = el('nav', { 'aria-label': 'Pages of the list', class: 'pager' }, back, place, next);
  const input = el('input', { type: 'search', id: 'search', autocomplete: 'off', spellcheck: 'false' });
  const filters = makeFilters(columns, rows, find);
  const form = el(
    'form',
    { role: 'search' },
    el('label', { for: 'search' }, 'Search the list'),
    input,
    ...filters.map(({ element }) => element),
  );
  const nothing = el('p', { class: 'empty' });
  const none = el('div', { class: 'no-match' }, nothing, button({}, clearSearch, 'Clear the search'));
  const element = el('section', { id: 'list', 'aria-label': 'List', tabindex: '-1' });
  element.append(form, count, none, table, pager);

  let waiting: ReturnType<typeof setTimeout> | undefined;
  input.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(find, SEARCH_DELAY_MS);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    find();
  });
  addEventListener('beforeprint', () => draw(PRINTED));
  addEventListener('afterprint', () => draw());

  function find(): void {
    clearTimeout(waiting);
    const entered = [input.value, ...filters.map(({ value }) => value())].join('\0');
    if (query === entered) return;
    query = entered;
    found = search(input.value).filter((number) => filters.every(({ passes }) => passes(rows[number])));
    hooks.onRows(found);
    refresh();
  }

  function clearSearch(): void {
    form.reset();
    find();
    input.focus();
  }

  /** Cycles through ascending, descending and the original order. */
  function sortBy(column: number): void {
    if (order?.column !== column) order = { column, descending: false };
    else order = order.descending ? undefined : { column, descending: true };
    for (const [index, each] of headings.entries()) {
      const direction = order?.descending === true ? 'descending' : 'ascending';
      each.setAttribute('aria-sort', order?.column === index ? direction : 'none');
    }
    refresh();
  }

  function refresh(): void {
    numbers = order === undefined ? found : sortRows(found, rows, order, columns[order.column]?.kind);
    page = 0;
    draw();
  }

  function turn(to: number): void {
    page = to;
    draw();
    // A disabled button loses the focus.
    if (back.disabled && !next.disabled) next.focus();
    else if (next.disabled && !back.disabled) back.focus();
    table.scrollIntoView({ block: 'start', behavior: prefersReducedMotion() ? 'auto' : 'smooth' });
  }

  /** Draws a page of the list, or the first `size` rows. */
  function draw(size = PAGE): void {
    const first = size === PAGE ? page * PAGE : 0;
    const shown = numbers.slice(first, first + size);
    body.replaceChildren(...shown.flatMap(elementsOf));
    const all = amount(rows.length, 'row');
    const text = numbers.length === rows.length ? all : `${formatCount(numbers.length)} of ${all}`;
    // A screen reader reads a new text aloud.
    if (count.textContent !== text) count.textContent = text;
    none.hidden = numbers.length > 0;
    table.hidden = numbers.length === 0;
    const words = input.value === '' ? '' : ` “${input.value}”`;
    const filtered = filters.some(({ value }) => value() !== '') ? ' with these filters' : '';
    nothing.textContent = `Nothing matches${words}${filtered}.`;
    const last = formatCount(first + shown.length);
    place.textContent = `${formatCount(first + 1)} to ${last} of ${formatCount(numbers.length)}`;
    pager.hidden = numbers.length <= PAGE;
    back.disabled = page === 0;
    next.disabled = (page + 1) * PAGE >= numbers.length;
  }

  /** Returns a row and, if it is open, its details. */
  function elementsOf(number: number): Element[] {
    const row = rows[number];
    if (row === undefined) return [];
    const isOpen = opened.has(number);
    const main = rowElement(number, row, columns, isOpen, () => toggle(number));
    if (number === chosen) main.setAttribute('aria-current', 'true');
    return isOpen ? [main, moreElement(number, row, columns, () => hooks.onPlace(number))] : [main];
  }

  function toggle(number: number): void {
    chosen = number;
    const isOpen = opened.delete(number);
    if (!isOpen) opened.add(number);
    draw();
    focus(number);
    if (!isOpen) hooks.onChoose(number);
  }

  const focus = (number: number): void =>
    body.querySelector<HTMLElement>(`#row-${number} button.name`)?.focus({ preventScroll: true });

  form.hidden = rows.length === 1;
  draw();
  return {
    element,
    open(number) {
      opened.add(number);
      draw();
    },
    choose(number, withFocus = false) {
      const at = numbers.indexOf(number);
      if (at === -1) return;
      page = Math.floor(at / PAGE);
      chosen = number;
      if (withFocus) opened.add(number);
      draw();
      const behavior = prefersReducedMotion() ? 'auto' : 'smooth';
      body.querySelector(`#row-${number}`)?.scrollIntoView({ block: 'nearest', behavior });
      if (withFocus) focus(number);
    },
  };
}

/** Creates a table. Roles are explicit, since narrow screens show rows as cards, which hides the table. */
function tableOf(caption: string, headings: readonly Node[], body: Node): HTMLTableElement {
  const number = el(
    'th',
    { role: 'columnheader', scope: 'col', class: 'n' },
    el('abbr', { title: 'Number' }, '#'),
  );
  const head = el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, number, ...headings));
  return el('table', { role: 'table' }, el('caption', {}, caption), head, body);
}

/** Maximum number of values that a filter offers; a column with more is searched. */
const MAX_CHOICES = 15;
const MIN_ROWS_TO_FILTER = 4;

interface Filter {
  readonly element: HTMLElement;
  /** The selected value; empty for all. */
  value(): string;
  passes(row: PageRow | undefined): boolean;
}

/** Creates a filter for each column of statuses or grades that has several values. */
function makeFilters(
  columns: readonly PageColumn[],
  rows: readonly PageRow[],
  onChange: () => void,
): Filter[] {
  if (rows.length < MIN_ROWS_TO_FILTER) return [];
  return columns.flatMap(({ label, kind }, index) => {
    if (kind !== 'status' && kind !== 'grade') return [];
    const cells = rows.map(({ c }) => c[index] ?? null).filter((cell) => cell !== null);
    const values = [...new Set(cells.map(String))].sort();
    if (values.length < 2 || values.length > MAX_CHOICES) return [];
    const options = values.map((value) => el('option', { value }, short(value.replaceAll('_', ' '))));
    const select = el('select', {}, el('option', { value: '' }, 'All'), ...options);
    select.addEventListener('change', onChange);
    return [
      {
        element: el('label', { class: 'filter' }, `${label} `, select),
        value: () => select.value,
        passes: (row) => select.value === '' || String(row?.c[index]) === select.value,
      },
    ];
  });
}

/** Returns a function that finds the rows that contain every word of a query, without case and accents. */
function searcher(rows: readonly PageRow[]): (query: string) => number[] {
  const folded = new Map<PageRow, string>();
  const textOf = (row: PageRow): string => {
    const text = folded.get(row) ?? fold(textsOf(row).join('\n'));
    folded.set(row, text);
    return text;
  };
  return (query) => {
    const words = fold(query).split(/\s+/);
    return [...rows.keys()].filter((number) => {
      const row = rows[number];
      return row !== undefined && words.every((word) => word === '' || textOf(row).includes(word));
    });
  };
}

const textsOf = (row: PageRow): string[] => [
  row.t ?? '',
  ...row.c.map((cell) => String(cell ?? '')),
  ...row.d.map(([, value]) => textIn(value)),
];

/** Returns the text of a value, without labels and the addresses of links. */
function textIn(value: Detail): string {
  if (typeof value === 'string') return value;
  if ('href' in value) return value.text;
  if ('cells' in value) return value.cells.flat().join('\n');
  return ('list' in value ? value.list : value.pairs.map(([, inner]) => inner)).map(textIn).join('\n');
}

const fold = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();

const collator = new Intl.Collator('en', { sensitivity: 'base', numeric: true });
const GRADE_SIGNS = ['+', '', '-'];

/** Returns a text that sorts letter grades by rank, A+ before A before A-, and other texts behind them. */
function gradeKey(text: string): string {
  const [, letter, sign = ''] = /^([A-F])([+\u2212-]?)$/.exec(text) ?? [];
  return letter === undefined ? `Z ${text}` : letter + GRADE_SIGNS.indexOf(sign.replace('\u2212', '-'));
}

/** Sorts rows by a column. Missing values are last in both directions; the sort is stable. */
function sortRows(
  numbers: readonly number[],
  rows: readonly PageRow[],
  { column, descending }: Order,
  kind: PageColumn['kind'] | undefined,
): number[] {
  const keyOf = (number: number): string | number | null => {
    const cell = rows[number]?.c[column] ?? null;
    return kind === 'grade' && typeof cell === 'string' ? gradeKey(cell) : cell;
  };
  return [...numbers].sort((a, b) => {
    const [one, other] = [keyOf(a), keyOf(b)];
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const isNumeric = typeof one === 'number' && typeof other === 'number';
    const order = isNumeric ? one - other : collator.compare(String(one), String(other));
    return descending ? -order : order;
  });
}

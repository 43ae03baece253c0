import type { PageColumn, PageHead, PageRow } from '../document.ts';
import { amount, button, el, formatCount, prefersReducedMotion } from './dom.ts';
import { moreElement, rowElement, short } from './row.ts';
import { type Order, searcher, sortRows } from './search.ts';

/** Maximum number of rows on a page of the list, and in print. */
const PAGE = 100;
const PRINTED = 5000;
const SEARCH_DELAY_MS = 120;

export interface ListHooks {
  /** Called when the user selects a row. */
  onChoose(row: number): void;
  /** Called when the user wants to see a row on the map. */
  onPlace(row: number): void;
  /** Called when other rows are shown, with their numbers. */
  onRows(numbers: readonly number[]): void;
}

export interface List {
  readonly element: HTMLElement;
  /** Selects a row and scrolls to it; with `focus`, also opens and focuses it. */
  choose(row: number, focus?: boolean): void;
  /** Opens a row. */
  open(row: number): void;
}

/** Creates the list, with search, filters, sorting and pages. */
export function makeList(head: PageHead, rows: readonly PageRow[], hooks: ListHooks): List {
  const { columns } = head;
  const search = searcher(rows);
  const opened = new Set<number>();
  let query = '';
  let order: Order | undefined;
  let found: readonly number[] = [...rows.keys()];
  let numbers = found;
  let page = 0;
  let chosen: number | undefined;

  const table = makeTable(columns, head.heading, sortBy);
  const count = el('p', { role: 'status', class: 'count' });
  const place = el('span');
  const back = button({}, () => turn(page - 1), 'Previous');
  const on = button({}, () => turn(page + 1), 'Next');
  const pager = el('nav', { 'aria-label': 'Pages of the list', class: 'pager' }, back, place, on);
  const input = el('input', { type: 'search', id: 'search', autocomplete: 'off', spellcheck: 'false' });
  const form = el('form', { role: 'search' }, el('label', { for: 'search' }, 'Search the list'), input);
  const element = el('section', { id: 'list', 'aria-label': 'List', tabindex: '-1' });
  const nothing = el('p', { class: 'empty' });
  const clear = button({}, clearSearch, 'Clear the search');
  const selects = filterSelects(columns, rows, find);
  form.append(...selects.map(({ element: select }) => select));
  const none = el('div', { class: 'no-match' }, nothing, clear);
  element.append(form, count, none, table.element, pager);

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
    const wanted = [input.value, ...selects.map(({ value }) => value())].join('\0');
    if (query === wanted) return;
    query = wanted;
    found = search(input.value).filter((number) => selects.every(({ passes }) => passes(rows[number])));
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
    table.mark(order);
    refresh();
  }

  function refresh(): void {
    const kind = columns[order?.column ?? 0]?.kind ?? 'text';
    numbers = order === undefined ? found : sortRows(found, rows, order, kind);
    page = 0;
    draw();
  }

  function turn(to: number): void {
    page = to;
    draw();
    // A disabled button loses the focus.
    if (back.disabled && !on.disabled && document.activeElement !== on) on.focus();
    else if (on.disabled && !back.disabled && document.activeElement !== back) back.focus();
    table.element.scrollIntoView({ block: 'start', behavior: prefersReducedMotion() ? 'auto' : 'smooth' });
  }

  function draw(size = PAGE): void {
    const first = size === PAGE ? page * PAGE : 0;
    const some = numbers.slice(first, first + size);
    table.body.replaceChildren(...some.flatMap(elementsOf));
    const last = first + some.length;
    const pages = Math.ceil(numbers.length / PAGE);
    count.textContent =
      numbers.length === rows.length
        ? amount(rows.length, 'row')
        : `${formatCount(numbers.length)} of ${amount(rows.length, 'row')}`;
    none.hidden = numbers.length > 0;
    table.element.hidden = numbers.length === 0;
    const filters = selects.some(({ value }) => value() !== '') ? ' with these filters' : '';
    nothing.textContent = `Nothing matches${input.value === '' ? '' : ` “${input.value}”`}${filters}.`;
    place.textContent = `${formatCount(first + 1)} to ${formatCount(last)} of ${formatCount(numbers.length)}`;
    pager.hidden = pages < 2;
    back.disabled = page === 0;
    on.disabled = page >= pages - 1;
    if (chosen !== undefined) mark(chosen, true);
  }

  function elementsOf(number: number): Element[] {
    const row = rows[number];
    if (row === undefined) return [];
    const main = rowElement(number, row, columns, { onToggle: toggle, onPlace: hooks.onPlace });
    if (!opened.has(number)) return [main];
    expand(main, number, true);
    return [main, moreOf(number, row)];
  }

  const moreOf = (number: number, row: PageRow): Element =>
    moreElement(number, row, columns, { onToggle: toggle, onPlace: hooks.onPlace });

  function expand(main: Element, number: number, open: boolean): void {
    const name = main.querySelector('button.name');
    name?.setAttribute('aria-expanded', String(open));
    if (open) name?.setAttribute('aria-controls', `more-${number}`);
    else name?.removeAttribute('aria-controls');
  }

  function toggle(number: number): void {
    const isOpen = opened.has(number);
    setOpen(number, !isOpen);
    setChosen(number);
    if (!isOpen) hooks.onChoose(number);
  }

  function setOpen(number: number, open: boolean): void {
    const main = document.getElementById(`row-${number}`);
    const row = rows[number];
    if (opened.has(number) === open || row === undefined) return;
    if (open) opened.add(number);
    else opened.delete(number);
    if (main === null) return;
    expand(main, number, open);
    if (open) main.after(moreOf(number, row));
    else document.getElementById(`more-${number}`)?.remove();
  }

  function setChosen(number: number): void {
    if (chosen !== undefined) mark(chosen, false);
    chosen = number;
    mark(number, true);
  }

  function mark(number: number, isChosen: boolean): void {
    const main = document.getElementById(`row-${number}`);
    if (isChosen) main?.setAttribute('aria-current', 'true');
    else main?.removeAttribute('aria-current');
  }

  form.hidden = rows.length === 1;
  draw();
  return {
    element,
    open: (number) => setOpen(number, true),
    choose(number, focus = false) {
      const at = numbers.indexOf(number);
      if (at === -1) return;
      if (Math.floor(at / PAGE) !== page) {
        page = Math.floor(at / PAGE);
        draw();
      }
      if (focus) setOpen(number, true);
      setChosen(number);
      const main = document.getElementById(`row-${number}`);
      main?.scrollIntoView({ block: 'nearest', behavior: prefersReducedMotion() ? 'auto' : 'smooth' });
      if (focus) main?.querySelector<HTMLElement>('button.name')?.focus();
    },
  };
}

/** The table without rows. */
export interface Table {
  readonly element: HTMLElement;
  readonly body: HTMLElement;
  /** Marks the column by which the rows are sorted. */
  mark(order: Order | undefined): void;
}

/** Creates the table, with a sort button in each heading. */
export function makeTable(
  columns: readonly PageColumn[],
  caption: string,
  onSort: (column: number) => void,
): Table {
  const headings = columns.map((column, place) =>
    el(
      'th',
      { role: 'columnheader', scope: 'col', 'aria-sort': 'none' },
      button({ class: 'sort', dir: 'auto' }, () => onSort(place), column.label),
    ),
  );
  const number = el(
    'th',
    { role: 'columnheader', scope: 'col', class: 'n' },
    el('abbr', { title: 'Number' }, '#'),
  );
  const body = el('tbody', { role: 'rowgroup' });
  const head = el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, number, ...headings));
  const table = el('table', { role: 'table' }, el('caption', {}, caption), head, body);
  const mark = (order: Order | undefined): void => {
    for (const [place, heading] of headings.entries()) {
      const sorted = order?.column === place;
      heading.setAttribute('aria-sort', !sorted ? 'none' : order.descending ? 'descending' : 'ascending');
    }
  };
  return { element: el('div', { class: 'scroll' }, table), body, mark };
}

/** Most values that a filter offers; a column with more is searched. */
const MAX_CHOICES = 15;
const MIN_ROWS_TO_FILTER = 4;

interface Filter {
  readonly element: HTMLElement;
  /** The chosen value; empty for all. */
  value(): string;
  passes(row: PageRow | undefined): boolean;
}

/** A choice for each column of statuses or grades that has several values. */
function filterSelects(
  columns: readonly PageColumn[],
  rows: readonly PageRow[],
  onChange: () => void,
): Filter[] {
  if (rows.length < MIN_ROWS_TO_FILTER) return [];
  return columns.flatMap(({ label, kind }, index) => {
    if (kind !== 'status' && kind !== 'grade') return [];
    const values = [
      ...new Set(rows.flatMap(({ c }) => (c[index] === null ? [] : [String(c[index])]))),
    ].sort();
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

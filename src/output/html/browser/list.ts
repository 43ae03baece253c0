import { foldLetters } from '../../../util/fold.ts';
import { formatNumber, plural } from '../../../util/format.ts';
import { gradeRank } from '../../../util/restaurant.ts';
import type { ColumnKind, Detail, PageColumn, PageHead } from '../document.ts';
import { moreElement } from './details.ts';
import { button, el, type PlacedRow, rowElement } from './elements.ts';
import type { MapView } from './map.ts';
import type { PageReview } from './review.ts';

const PAGE_ROWS = 100;
const PRINT_ROWS = 5000;
const SEARCH_DELAY_MS = 120;
/** Width of the list, in pixels, up to which each row is a card. */
const MAX_CARD_WIDTH = 640;

/** A cell, or the rank of its grade. */
type Key = string | number | null;

interface Order {
  readonly column: number;
  readonly descending: boolean;
}

export class RowList {
  readonly element = el('section', { id: 'list', 'aria-label': 'List', tabindex: '-1' });
  readonly #columns: readonly PageColumn[];
  readonly #rows: readonly PlacedRow[];
  readonly #map: MapView | undefined;
  readonly #filters: readonly Filter[];
  readonly #input = el('input', {
    type: 'search',
    id: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  readonly #form: HTMLFormElement;
  readonly #headings: readonly HTMLElement[];
  readonly #body = el('tbody', { role: 'rowgroup' });
  readonly #table: HTMLElement;
  readonly #count = el('p', { role: 'status', class: 'count' });
  readonly #none: HTMLElement;
  readonly #place = el('span');
  readonly #back = button({}, () => this.#turn(this.#page - 1), 'Previous');
  readonly #next = button({}, () => this.#turn(this.#page + 1), 'Next');
  readonly #pager: HTMLElement;
  readonly #opened: Set<PlacedRow>;
  readonly review: PageReview;
  readonly #followsMap: () => boolean;
  /** The text of each row, without case and accents. */
  #texts: readonly string[] | undefined;
  #order: Order | undefined;
  #matches: readonly PlacedRow[];
  #sorted: readonly PlacedRow[];
  #page = 0;
  #chosen: PlacedRow | undefined;
  #waiting: ReturnType<typeof setTimeout> | undefined;

  /** @param parts `followsMap`: whether the list scrolls to the row that is selected on the map */
  constructor(
    { columns, heading }: PageHead,
    rows: readonly PlacedRow[],
    { map, review, followsMap }: Parts,
  ) {
    this.#columns = columns;
    this.#rows = decideFirst(rows);
    this.#map = map;
    this.review = review;
    this.#followsMap = followsMap;
    this.#matches = this.#rows;
    this.#sorted = this.#rows;
    this.#opened = new Set(rows.length === 1 ? rows : []);
    this.#filters = makeFilters(columns, rows, () => this.#find());
    this.#headings = columns.map(({ label }, column) =>
      el(
        'th',
        { role: 'columnheader', scope: 'col', 'aria-sort': 'none' },
        button({ class: 'sort', dir: 'auto' }, () => this.#sortBy(column), label),
      ),
    );
    this.#table = el('div', { class: 'scroll' }, tableOf(heading, this.#headings, this.#body));
    const label = el('label', { for: 'search' }, 'Search the list');
    const menus = this.#filters.map(({ element }) => element);
    this.#form = el('form', { role: 'search' }, label, this.#input, ...menus);
    // One restaurant is a card, which has nothing to search, sort, or count.
    const isCard = rows.length === 1;
    this.#form.hidden = isCard;
    this.#count.hidden = isCard;
    this.#table.classList.toggle('single', isCard);
    const clear = button({}, () => this.#clearSearch(), 'Clear the search');
    this.#none = el('div', { class: 'no-match' }, el('p', { class: 'empty' }, 'Nothing matches.'), clear);
    const pages = { 'aria-label': 'Pages of the list', class: 'pager' };
    this.#pager = el('nav', pages, this.#back, this.#place, this.#next);
    this.element.append(this.#form, this.#count, this.#none, this.#table, this.#pager);
    this.#listen();
    this.#draw();
    new ResizeObserver(() => this.#fit()).observe(this.element);
  }

  /** Selects a row; with `open`, also opens it, scrolls to it, and focuses it. */
  choose(row: PlacedRow, open: boolean): void {
    const index = this.#sorted.indexOf(row);
    if (index === -1) return;
    const follows = open || this.#followsMap();
    if (follows) this.#page = Math.floor(index / PAGE_ROWS);
    this.#chosen = row;
    if (open) this.#opened.add(row);
    this.#draw();
    if (follows) this.#body.querySelector(`#row-${row.number}`)?.scrollIntoView({ block: 'nearest' });
    if (open) this.#focus(row);
  }

  /** Shows a row, also if it is filtered out, on the map too. */
  reveal(row: PlacedRow): void {
    if (!this.#sorted.includes(row)) {
      this.#form.reset();
      this.#find();
    }
    this.choose(row, true);
    this.#map?.choose(row);
  }

  #listen(): void {
    this.#input.addEventListener('input', () => {
      clearTimeout(this.#waiting);
      this.#waiting = setTimeout(() => this.#find(), SEARCH_DELAY_MS);
    });
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#find();
    });
    addEventListener('beforeprint', () => this.#draw(0, PRINT_ROWS));
    addEventListener('afterprint', () => this.#draw());
  }

  #find(): void {
    clearTimeout(this.#waiting);
    this.#texts ??= this.#rows.map(({ summary = '', cells, details }) =>
      foldLetters([summary, ...cells, ...details.map(textIn)].join('\n')),
    );
    const words = foldLetters(this.#input.value).split(/\s+/);
    const texts = this.#texts;
    this.#matches = this.#rows.filter(
      (row, index) =>
        words.every((word) => texts[index]?.includes(word)) &&
        this.#filters.every(({ accepts }) => accepts(row)),
    );
    this.#map?.show(this.#matches);
    this.#arrange();
  }

  #clearSearch(): void {
    this.#form.reset();
    this.#find();
    this.#input.focus();
  }

  /** Cycles through ascending, descending and the original order. */
  #sortBy(column: number): void {
    const before = this.#order;
    if (before?.column !== column) this.#order = { column, descending: false };
    else this.#order = before.descending ? undefined : { column, descending: true };
    const direction = this.#order?.descending === true ? 'descending' : 'ascending';
    for (const [index, heading] of this.#headings.entries())
      heading.setAttribute('aria-sort', this.#order?.column === index ? direction : 'none');
    this.#arrange();
  }

  #arrange(): void {
    const order = this.#order;
    this.#sorted =
      order === undefined ? this.#matches : sortRows(this.#matches, order, this.#columns[order.column]?.kind);
    this.#page = 0;
    this.#draw();
  }

  #turn(to: number): void {
    this.#page = to;
    this.#draw();
    // A disabled button loses the focus.
    if (this.#back.disabled) this.#next.focus();
    else if (this.#next.disabled) this.#back.focus();
    this.#table.scrollIntoView();
  }

  #draw(first = this.#page * PAGE_ROWS, size = PAGE_ROWS): void {
    const total = this.#sorted.length;
    const drawn = this.#sorted.slice(first, first + size);
    this.#body.replaceChildren(...drawn.flatMap((row) => this.#elementsOf(row)));
    const all = plural(this.#rows.length, 'row');
    const text = total === this.#rows.length ? all : `${formatNumber(total)} of ${all}`;
    // Screen readers announce each change.
    if (this.#count.textContent !== text) this.#count.textContent = text;
    this.#none.hidden = total > 0;
    this.#table.hidden = total === 0;
    const [from, to, count] = [first + 1, first + drawn.length, total].map(formatNumber);
    this.#place.textContent = `${from} to ${to} of ${count}`;
    this.#pager.hidden = total <= PAGE_ROWS;
    this.#fit();
    this.#back.disabled = this.#page === 0;
    this.#next.disabled = (this.#page + 1) * PAGE_ROWS >= total;
  }

  /** Shows the rows as cards if there is only one, or if a column would be out of sight. */
  #fit(): void {
    const { classList } = this.#table;
    classList.remove('cards');
    const { clientWidth, scrollWidth } = this.#table;
    const isNarrow = clientWidth <= MAX_CARD_WIDTH || scrollWidth > clientWidth;
    classList.toggle('cards', this.#rows.length === 1 || isNarrow);
  }

  #elementsOf(row: PlacedRow): Element[] {
    const isOpen = this.#opened.has(row);
    const mark = this.review.mark(row);
    const main = rowElement(row, this.#columns, { isOpen, mark }, () => this.#toggle(row));
    if (row === this.#chosen) main.setAttribute('aria-current', 'true');
    if (!isOpen) return [main];
    const choices = this.review.choices(row);
    return [main, moreElement(row, this.#columns, choices, () => this.#map?.reveal(row))];
  }

  #toggle(row: PlacedRow): void {
    this.#chosen = row;
    const isOpen = this.#opened.delete(row);
    if (!isOpen) this.#opened.add(row);
    this.#draw();
    this.#focus(row);
    if (!isOpen) this.#map?.choose(row);
  }

  #focus({ number }: PlacedRow): void {
    this.#body.querySelector<HTMLElement>(`#row-${number} button.name`)?.focus({ preventScroll: true });
  }
}

/** Creates a table. Roles are explicit, since narrow screens show rows as cards, which hides the table. */
function tableOf(caption: string, headings: readonly Node[], body: Node): HTMLTableElement {
  const attributes = { role: 'columnheader', scope: 'col', class: 'n' };
  const number = el('th', attributes, el('abbr', { title: 'Number' }, '#'));
  const head = el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, number, ...headings));
  return el('table', { role: 'table' }, el('caption', {}, caption), head, body);
}

interface Parts {
  readonly map: MapView | undefined;
  readonly review: PageReview;
  followsMap(): boolean;
}

/** The rows to decide, then the others, each in their order. */
const decideFirst = (rows: readonly PlacedRow[]): readonly PlacedRow[] => [
  ...rows.filter(({ review }) => review !== undefined),
  ...rows.filter(({ review }) => review === undefined),
];

const MAX_CHOICES = 15;
const MIN_ROWS_TO_FILTER = 4;

interface Filter {
  readonly element: HTMLElement;
  accepts(row: PlacedRow): boolean;
}

function makeFilters(
  columns: readonly PageColumn[],
  rows: readonly PlacedRow[],
  onChange: () => void,
): Filter[] {
  if (rows.length < MIN_ROWS_TO_FILTER) return [];
  return columns.flatMap(({ label, kind }, column) => {
    if (kind !== 'status' && kind !== 'grade') return [];
    const values = [...new Set(rows.flatMap(({ cells }) => cells[column] ?? []).map(String))].sort((a, b) =>
      compare(keyOf(a, kind), keyOf(b, kind)),
    );
    if (values.length < 2 || values.length > MAX_CHOICES) return [];
    const options = values.map((value) => el('option', { value }, value.replaceAll('_', ' ')));
    const menu = el('select', {}, el('option', { value: '' }, 'All'), ...options);
    menu.addEventListener('change', onChange);
    const accepts = ({ cells }: PlacedRow): boolean =>
      menu.value === '' || String(cells[column]) === menu.value;
    return [{ element: el('label', {}, `${label} `, menu), accepts }];
  });
}

function textIn([, value]: readonly [label: string, value: Detail]): string {
  if (typeof value === 'string') return value;
  if ('href' in value) return value.text;
  if ('head' in value) return value.rows.flat().join('\n');
  if ('pairs' in value) return value.pairs.map(textIn).join('\n');
  return value.list.map((item) => textIn(['', item])).join('\n');
}

const collator = new Intl.Collator('en', { sensitivity: 'base', numeric: true });

const keyOf = (cell: Key, kind?: ColumnKind): Key => (kind === 'grade' ? (gradeRank(cell) ?? cell) : cell);

function compare(one: Key, other: Key): number {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  return collator.compare(String(one), String(other));
}

/** Missing values are last in both directions. */
function sortRows(rows: readonly PlacedRow[], { column, descending }: Order, kind?: ColumnKind): PlacedRow[] {
  return [...rows].sort((a, b) => {
    const one = keyOf(a.cells[column] ?? null, kind);
    const other = keyOf(b.cells[column] ?? null, kind);
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    return descending ? compare(other, one) : compare(one, other);
  });
}

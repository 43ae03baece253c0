import { encodeRecord } from '../../../util/csv.ts';
import { plural } from '../../../util/format.ts';
import type { ReviewChoice } from '../document.ts';
import { button, el, type PlacedRow } from './elements.ts';

const FILE = 'decisions.csv';
const NONE = 'none';

/** Decisions about doubtful rows, until they are downloaded as a file for `restaurant review --apply`. */
export class PageReview {
  readonly element: HTMLElement;
  readonly #rows: readonly PlacedRow[];
  readonly #open: (row: PlacedRow) => void;
  /** The chosen id, or `none`, by row. */
  readonly #decisions = new Map<PlacedRow, string>();
  readonly #state = el('span', { role: 'status' });
  readonly #download: HTMLButtonElement;
  #isSaved = true;

  constructor(rows: readonly PlacedRow[], open: (row: PlacedRow) => void) {
    this.#rows = rows.filter(({ review }) => review !== undefined);
    this.#open = open;
    this.#download = button({}, () => this.#save(), `Download ${FILE}`);
    const next = button({ class: 'next' }, () => this.#showNext(), 'Next row to decide');
    this.element = el('p', { class: 'review' }, this.#state, next, this.#download);
    this.#show();
    addEventListener('beforeunload', (event) => {
      if (!this.#isSaved) event.preventDefault();
    });
  }

  get isEmpty(): boolean {
    return this.#rows.length === 0;
  }

  choices(row: PlacedRow): HTMLElement | undefined {
    const { review } = row;
    if (review === undefined) return undefined;
    const labels = [...review.choices, { id: NONE, text: 'None of these' }].map((choice) =>
      this.#choice(row, choice, choice.id === review.current),
    );
    const next = button({ class: 'next' }, () => this.#showNext(row), 'Next row to decide');
    return el('fieldset', {}, el('legend', {}, 'Which restaurant is it?'), ...labels, next);
  }

  mark(row: PlacedRow): string {
    const chosen = this.#decisions.get(row);
    if (chosen === undefined) return '';
    if (chosen === NONE) return 'decided: none';
    return chosen === row.review?.current ? 'decided: yes' : 'decided: another';
  }

  #choice(row: PlacedRow, { id, text }: ReviewChoice, isCurrent: boolean): HTMLElement {
    const input = el('input', { type: 'radio', name: `decision-${row.number}`, value: id });
    input.checked = this.#decisions.get(row) === id;
    input.addEventListener('change', () => this.#decide(row, id));
    const note = isCurrent ? [el('small', {}, 'in the list now')] : [];
    return el('label', {}, input, el('span', { dir: 'auto' }, text), ...note);
  }

  #decide(row: PlacedRow, id: string): void {
    this.#decisions.set(row, id);
    this.#isSaved = false;
    const mark = document.querySelector(`#row-${row.number} .decision`);
    mark?.replaceChildren(this.mark(row));
    this.#show();
  }

  #show(): void {
    const [done, all] = [this.#decisions.size, this.#rows.length];
    this.#state.textContent = `${done} of ${plural(all, 'doubtful row')} decided`;
    this.#download.disabled = done === 0;
  }

  #showNext(after?: PlacedRow): void {
    const start = after === undefined ? 0 : this.#rows.indexOf(after) + 1;
    const order = [...this.#rows.slice(start), ...this.#rows.slice(0, start)];
    const next = order.find((row) => row !== after && !this.#decisions.has(row));
    if (next === undefined) {
      this.#download.focus();
      return;
    }
    this.#open(next);
    document.querySelector<HTMLElement>(`#more-${next.number} input`)?.focus();
  }

  #save(): void {
    const lines = [...this.#decisions].map(([row, chosen]) => {
      const { name = '', current = null } = row.review ?? {};
      const other = chosen === current ? 'yes' : 'other';
      const decision = chosen === NONE ? NONE : other;
      return encodeRecord([String(row.number), name, decision, chosen === NONE ? '' : chosen], ',');
    });
    const text = ['row,name,decision,restaurant_id', ...lines, ''].join('\n');
    const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
    el('a', { href: url, download: FILE }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
    this.#isSaved = true;
  }
}

import { formatNumber } from '../../../util/format.ts';
import type { ColumnKind, PageColumn, PageRow } from '../document.ts';

/** Creates an element. Text is never parsed as markup. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function button(
  attributes: Readonly<Record<string, string>>,
  run: () => void,
  ...children: readonly (Node | string)[]
): HTMLButtonElement {
  const element = el('button', { type: 'button', ...attributes }, ...children);
  element.addEventListener('click', run);
  return element;
}

export interface PlacedRow extends PageRow {
  readonly number: number;
}

export function nameOf(row: PageRow, columns: readonly PageColumn[]): string {
  return String(row.cells[nameColumn(columns)] ?? '(no name)');
}

export const nameColumn = (columns: readonly PageColumn[]): number =>
  Math.max(
    0,
    columns.findIndex(({ kind }) => kind === 'name'),
  );

/** An element with a text from outside, whose long words alone may break anywhere. */
export function words<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  text: string,
  attributes: Readonly<Record<string, string>> = {},
): HTMLElementTagNameMap[K] {
  const element = el(tag, attributes, text);
  const lang = languageOf(text);
  if (lang !== undefined) element.lang = lang;
  if (/\S{25}/.test(text)) element.classList.add('long');
  return element;
}

/** Letters that only one language uses, for hyphens, fonts, and voices. */
const LETTERS = [
  [/[\u3040-\u30ff]/, 'ja'],
  [/[\uac00-\ud7a3]/, 'ko'],
  [/[\u0e01-\u0e5b]/, 'th'],
  [/ß/, 'de'],
] as const;

const languageOf = (text: string): string | undefined => LETTERS.find(([letters]) => letters.test(text))?.[1];

export function rowElement(
  row: PlacedRow,
  columns: readonly PageColumn[],
  { isOpen, mark }: { readonly isOpen: boolean; readonly mark: string },
  onToggle: () => void,
): HTMLTableRowElement {
  const heading = nameColumn(columns);
  const pin = el('span', { class: row.point === undefined ? 'pin none' : 'pin' }, formatNumber(row.number));
  const cells = columns.map(({ label, kind }, index) => {
    if (index !== heading) {
      const text = painted(row.cells[index] ?? null, kind);
      const decision = kind === 'status' && row.review ? [el('span', { class: 'decision' }, mark)] : [];
      return el('td', { role: 'cell', 'data-label': label }, text, ...decision);
    }
    const state = { 'aria-expanded': String(isOpen), 'aria-controls': `more-${row.number}` };
    const text = words('bdi', nameOf(row, columns));
    const name = button({ class: 'name', dir: 'auto', ...state }, onToggle, text);
    return el('th', { role: 'rowheader', scope: 'row', 'data-label': label }, name);
  });
  const first = el('td', { role: 'cell', class: 'n' }, pin);
  return el('tr', { role: 'row', id: `row-${row.number}` }, first, ...cells);
}

export function painted(value: string | number | null, kind: ColumnKind): Node {
  if (value === null) return el('span', { class: 'nothing' }, '\u2013');
  const text = String(value);
  if (kind === 'grade') return el('span', { class: 'grade', 'data-grade': gradeOf(text) }, text);
  if (kind === 'status')
    return el('span', { class: 'status', 'data-status': text }, text.replaceAll('_', ' '));
  return words('bdi', text);
}

const gradeOf = (text: string): string => /^[A-F](?![A-Za-z])/.exec(text)?.[0] ?? '';

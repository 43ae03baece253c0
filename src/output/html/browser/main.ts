import { formatNumber, plural } from '../../../util/format.ts';
import { HEAD_ID, LEFT_ID, type PageHead, type PageRow, ROWS_ID } from '../document.ts';
import { ComparedCards, cardElement } from './card.ts';
import { el, type PlacedRow } from './elements.ts';
import { RowList } from './list.ts';
import { MapView } from './map.ts';
import { MapPanel } from './panel.ts';
import { PageReview } from './review.ts';

/** Whether the map is beside the list. The style sheet has the same width. */
const isWide = (): boolean => matchMedia('(min-width: 75rem)').matches;

const head = takeData(HEAD_ID) as PageHead;
const rows = (takeData(ROWS_ID) as PageRow[]).map((row, index) => Object.assign(row, { number: index + 1 }));
const left = Number(takeData(LEFT_ID));
const main = document.getElementById('main') ?? document.body;

localizeTimes();
if (rows.length === 0)
  main.append(el('p', { class: 'empty', id: 'list', tabindex: '-1' }, 'No restaurants.'));
else showRows();

interface PageView {
  readonly element: HTMLElement;
  /** Selects a row, and with `open` shows its details. */
  choose?(row: PlacedRow, open: boolean): void;
}

function showRows(): void {
  const placed = rows.filter(({ point }) => point !== undefined).length;
  const map = placed === 0 ? undefined : addMap();
  const content = contentWith(map);
  if (map !== undefined) map.onChoose = (row, open) => content.choose?.(row, open);
  main.append(content.element);
  if (left > 0) content.element.append(el('p', {}, `${plural(left, 'more row')} only in the list itself.`));
  const missing = rows.length - placed;
  if (missing === 0) return;
  const text = `${formatNumber(placed)} on the map, ${formatNumber(missing)} without coordinates`;
  document.getElementById('placed')?.append(text);
}

function addMap(): MapView {
  const panel = new MapPanel();
  const hasReviews = rows.some(({ review }) => review !== undefined);
  // The rows to decide come first.
  if (hasReviews && !isWide()) panel.fold();
  main.append(panel.element);
  main.classList.add('mapped');
  return new MapView(panel, head, rows);
}

function contentWith(map: MapView | undefined): PageView {
  const [first] = rows;
  if (head.isCard === true && first !== undefined) return { element: cardElement(head, first, map) };
  if (head.comparison !== undefined) return new ComparedCards(head, rows, map);
  const list: RowList = new RowList(head, rows, {
    map,
    review: new PageReview(rows, (row) => list.reveal(row)),
    followsMap: isWide,
  });
  if (!list.review.isEmpty) main.prepend(list.review.element);
  return list;
}

function takeData(id: string): unknown {
  const element = document.getElementById(id);
  element?.remove();
  return JSON.parse(element?.textContent ?? 'null');
}

function localizeTimes(): void {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  for (const element of document.querySelectorAll('time')) {
    element.textContent = format.format(new Date(element.dateTime));
  }
}

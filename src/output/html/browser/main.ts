import { HEAD_ID, LEFT_ID, type PageHead, type PageRow, ROWS_ID } from '../document.ts';
import { amount, el, formatCount, prefersReducedMotion } from './dom.ts';
import { makeList } from './list.ts';
import { type MapView, makeMap } from './map.ts';

const { head, rows, left } = readPage();
const main = document.getElementById('main') ?? document.body;
const placedCount = rows.filter(({ p }) => p !== undefined).length;

localizeTimes();
if (rows.length === 0) main.append(el('p', { class: 'empty' }, 'Nothing was found.'));
else showRows();

function showRows(): void {
  showPlacedCount();
  const place = el('div', { id: 'map', role: 'region', 'aria-label': 'Map' });
  let map: MapView | undefined;
  const list = makeList(head, rows, {
    onChoose: (row) => map?.choose(row),
    onPlace(row) {
      place.scrollIntoView({ block: 'nearest', behavior: prefersReducedMotion() ? 'auto' : 'smooth' });
      place.focus({ preventScroll: true });
      map?.choose(row);
    },
    onRows: (numbers) => map?.show(numbers),
  });
  if (placedCount > 0) {
    main.append(place);
    main.classList.add('mapped');
  }
  main.append(list.element);
  if (left > 0)
    list.element.append(el('p', { class: 'left' }, `${amount(left, 'more row')} only in the list itself.`));
  if (placedCount > 0) {
    map = makeMap(place, head, rows, {
      onChoose: (row) => list.choose(row),
      onDetails: (row) => list.choose(row, true),
    });
    map.show([...rows.keys()]);
  }
  if (rows.length === 1) list.open(0);
}

/** Shows how many rows are on the map. */
function showPlacedCount(): void {
  const note = document.getElementById('placed');
  if (note === null) return;
  const missing = rows.length - placedCount;
  note.textContent =
    missing === 0
      ? `${formatCount(placedCount)} on the map`
      : `${formatCount(placedCount)} on the map, ${formatCount(missing)} without coordinates`;
  note.hidden = false;
}

/** Reads the data of the page, and removes the elements that it is in. */
function readPage(): { head: PageHead; rows: readonly PageRow[]; left: number } {
  return {
    head: parse(HEAD_ID) as PageHead,
    rows: parse(ROWS_ID) as readonly PageRow[],
    left: Number(parse(LEFT_ID)),
  };
}

function parse(id: string): unknown {
  const element = document.getElementById(id);
  const value: unknown = JSON.parse(element?.textContent ?? 'null');
  element?.remove();
  return value;
}

/** Shows times as people of this browser's language and time zone write them. */
function localizeTimes(): void {
  const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  for (const element of document.querySelectorAll('time')) {
    element.textContent = format.format(new Date(element.dateTime));
  }
}

import { formatNumber, plural } from '../../../util/format.ts';
import { HEAD_ID, LEFT_ID, type PageHead, type PageRow, ROWS_ID } from '../document.ts';
import { el } from './elements.ts';
import { List } from './list.ts';
import { MapView } from './map.ts';

const head = takeData(HEAD_ID) as PageHead;
const rows = (takeData(ROWS_ID) as PageRow[]).map((row, index) => Object.assign(row, { number: index + 1 }));
const main = document.getElementById('main') ?? document.body;

localizeTimes();
if (rows.length === 0)
  main.append(el('p', { class: 'empty', id: 'list', tabindex: '-1' }, 'Nothing was found.'));
else showRows();

function showRows(): void {
  const placed = rows.filter(({ point }) => point !== undefined).length;
  const place = el('div', { id: 'map', role: 'region', 'aria-label': 'Map' });
  if (placed > 0) {
    main.append(place);
    main.classList.add('mapped');
  }
  const map =
    placed === 0 ? undefined : new MapView(place, head, rows, (row, open) => list.choose(row, open));
  const list = new List(head, rows, map);
  main.append(list.element);
  const left = Number(takeData(LEFT_ID));
  if (left > 0)
    list.element.append(el('p', { class: 'left' }, `${plural(left, 'more row')} only in the list itself.`));
  const missing = rows.length - placed;
  const without = missing === 0 ? '' : `, ${formatNumber(missing)} without coordinates`;
  document.getElementById('placed')?.replaceChildren(`${formatNumber(placed)} on the map${without}`);
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

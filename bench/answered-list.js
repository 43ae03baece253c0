// Makes a long list whose rows are all answered, without sending requests.
import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const CITY = 'San Francisco';
const ROWS_AT_A_TIME = 5000;
/** So long ago that no answer is later than the clock. */
const START = Date.UTC(2026, 0, 1);

const nameOf = (row) => `Nopa ${row}`;

export const listRow = (row) => `${nameOf(row)},${CITY}\n`;

const restaurant = (row, suffix) => ({
  service_id: `nopa-${row}${suffix}`,
  name: nameOf(row) + suffix,
  address: `${(row % 900) + 1} Divisadero St, San Francisco, CA 94117`,
  city: CITY,
  neighborhood: 'NoPa',
  coordinates: { lat: 37.7 + row / 1e6, lng: -122.4 },
  cuisine_tags: ['californian', 'brunch'],
  grade: 'A',
  coverage_level: 'full',
});

/** A search that found the restaurant and two with longer names. */
const answerLine = (row) =>
  `${JSON.stringify({
    id: `a${row.toString(36)}`,
    at: new Date(START + row).toISOString(),
    find: { name: nameOf(row), city: CITY },
    results: ['', ' Annex', ' House'].map((suffix) => restaurant(row, suffix)),
    received: 3,
    total: 3,
  })}\n`;

/** Writes `list.csv` and `found.answers.ndjson` into a new folder. @param service endpoint that the answers are of */
export function writeAnsweredList(folder, rows, service) {
  mkdirSync(folder, { recursive: true });
  const header = JSON.stringify({ restaurant: 'answers', version: 1, service });
  writeLines(join(folder, 'found.answers.ndjson'), `${header}\n`, answerLine, rows);
  writeLines(join(folder, 'list.csv'), 'name,city\n', listRow, rows);
}

function writeLines(path, header, lineOf, rows) {
  const file = openSync(path, 'w', 0o600);
  writeSync(file, header);
  for (let start = 0; start < rows; start += ROWS_AT_A_TIME) {
    const length = Math.min(ROWS_AT_A_TIME, rows - start);
    writeSync(file, Array.from({ length }, (_each, place) => lineOf(start + place)).join(''));
  }
  closeSync(file);
}

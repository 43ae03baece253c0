// Measures how well `enrich` matches a list with errors: 2,000 rows of known restaurants, by name and city, with --loose, and
// with coordinates and addresses. Usage: npm run match-quality [-- --seed <n>] [--rows <n>]. Fails if a goal is missed.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { path } from '../scripts/project.js';
import { makeDirtyList } from './dirty-list.js';
import { createSearch, startService } from './likeness-service.js';
import { GOALS, MODES, scoreOf } from './match-scores.js';
import { playReview } from './review-keys.js';

const UNPACED = '--per-minute 0 --per-day 0 --format ndjson --quiet --max-age 0'.split(' ');
const BIN = path('bin/restaurant.js');
const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, rows: { type: 'string', default: '2000' } },
});
const folder = mkdtempSync(join(tmpdir(), 'match-quality-'));
const say = (line) => process.stdout.write(`${line}\n`);
const percent = (value) => `${(value * 100).toFixed(1)}%`;

async function enrich(baseUrl, file, options) {
  const env = { PATH: process.env.PATH, HOME: folder, RESTAURANT_API_KEY: 'sk_service_quality' };
  const words = [BIN, 'enrich', file, '--base-url', baseUrl, ...UNPACED, ...options];
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const output = await text(child.stdout);
  return output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).restaurant);
}

function csvOf(rows, columns) {
  const cells = (values) => values.map((value) => `"${String(value).replaceAll('"', '""')}"`).join(',');
  return [columns, ...rows.map(({ row }) => columns.map((column) => row[column]))].map(cells).join('\n');
}

async function scoresWith(kind, { restaurants, rows }) {
  const service = await startService(createSearch(restaurants, kind));
  const scores = {};
  for (const [mode, { options, columns }] of Object.entries(MODES)) {
    const file = join(folder, `${mode}.csv`);
    writeFileSync(file, csvOf(rows, columns));
    scores[mode] = scoreOf(rows, await enrich(service.baseUrl, file, options), mode);
  }
  service.close();
  return scores;
}

const MAX_KEYS_PER_ROW = 1.1;
const MAX_PLAYED = 600;

/** A person who knows the answers decides the doubtful rows of a list. */
async function playList({ restaurants, rows: all }) {
  const rows = all.slice(0, MAX_PLAYED);
  const service = await startService(createSearch(restaurants, 'parts'));
  const { options, columns, answer } = MODES.place;
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder, RESTAURANT_API_KEY: 'sk_service_quality' },
    ...{ RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: '0' },
  };
  const url = ['--base-url', service.baseUrl];
  writeFileSync(join(folder, 'review.csv'), csvOf(rows, columns));
  const words = [BIN, 'enrich', 'review.csv', '-o', 'reviewed.csv', ...url, ...options, '--quiet'];
  const child = spawn(process.execPath, words, { cwd: folder, env, stdio: 'inherit' });
  await new Promise((resolve) => child.on('exit', resolve));
  const played = await playReview(
    [BIN, 'review', 'reviewed.csv', ...url],
    { cwd: folder, env },
    (number) => rows[number - 1]?.[answer],
    (id) => restaurants.find(({ service_id }) => service_id === id)?.name ?? '',
  );
  service.close();
  return played;
}

function print(title, scores) {
  const modes = Object.keys(MODES);
  const line = (name, cells) => say(name.padEnd(16) + cells.map((cell) => String(cell).padStart(9)).join(''));
  say(`\n${title}`);
  line(
    '',
    modes.flatMap((mode) => [mode, '', '', '']),
  );
  line(
    'error',
    modes.flatMap(() => ['matched', 'right', 'likely', 'recall']),
  );
  const cellsOf = ({ matched, precision, likely, recall, having }) => [
    matched,
    matched === 0 ? '-' : percent(precision),
    likely,
    having === 0 ? '-' : percent(recall),
  ];
  const kinds = Object.keys(scores.name.kinds);
  for (const kind of kinds)
    line(
      kind,
      modes.flatMap((mode) => cellsOf(scores[mode].kinds[kind])),
    );
  line(
    'all',
    modes.flatMap((mode) => cellsOf(scores[mode])),
  );
  line(
    'likely right',
    modes.flatMap((mode) => ['', '', percent(scores[mode].likelyPrecision), '']),
  );
  line(
    'right one first',
    modes.flatMap((mode) => ['', '', percent(scores[mode].first), '']),
  );
}

try {
  const list = makeDirtyList(Number(values.seed), Number(values.rows));
  say(`${values.rows} rows, ${list.restaurants.length} restaurants, seed ${values.seed}`);
  const scores = { parts: await scoresWith('parts', list), likeness: await scoresWith('likeness', list) };
  for (const [kind, modes] of Object.entries(scores)) print(`a service that searches by ${kind}`, modes);
  for (const { service, mode, what, least } of GOALS) {
    const score = scores[service][mode][what];
    if (score < least) process.exitCode = 1;
    say(
      `${score < least ? 'MISSED' : 'ok    '} ${service}, ${mode}: ${what} ${percent(score)}, at least ${percent(least)}`,
    );
  }
  const { keys, rows, searches, doubtful } = await playList(list);
  const perRow = keys / Math.max(doubtful, 1);
  if (perRow > MAX_KEYS_PER_ROW) process.exitCode = 1;
  say(
    `${perRow > MAX_KEYS_PER_ROW ? 'MISSED' : 'ok    '} review: ${perRow.toFixed(2)} keys for each of ${doubtful} doubtful rows (${rows} decisions, ${searches} searches), at most ${MAX_KEYS_PER_ROW}`,
  );
  for (const each of Object.values(scores)
    .flatMap(Object.values)
    .flatMap(({ wrong }) => wrong))
    say(`wrong: ${JSON.stringify(each)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

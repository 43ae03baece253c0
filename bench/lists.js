// Long lists, compared with a bare script that reads and writes the same CSV; and the peak of memory.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { path } from '../scripts/project.js';
import { listRow, writeAnsweredList } from './answered-list.js';
import { median } from './measure.js';

const bin = path('bin/restaurant.js');
const bareList = path('bench/bare-list.cjs');
const bareLoop = path('bench/bare-loop.cjs');
const ROWS = 100_000;
const FIRST_ROWS = 2_000;
const SIZES = [50_000, 200_000];
const MAX_RUNS = 3;
const ALL_FORMATS = ['csv', 'tsv', 'ndjson', 'geojson', 'xlsx', 'parquet', 'html'];
const BARE = 'a bare script that reads and writes the same CSV';
const BARE_LOOP = 'a bare undici loop that sends the same requests';

const rowsText = (rows) => `${rows.toLocaleString('en')} rows`;
const inMegabytes = (bytes) => `${(bytes / 1e6).toFixed(0)} MB`;

/**
 * Runs a process. @returns the seconds of its CPU time, which other work of the machine does not change; the peak of its
 * memory in bytes; and its output
 */
function run(words, { cwd, env }) {
  const usageFile = join(cwd, '..', 'usage');
  const watch = `data:text/javascript,import{writeFileSync}from'node:fs';process.on('exit',()=>writeFileSync(${JSON.stringify(usageFile)},JSON.stringify(process.resourceUsage())))`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', watch, ...words], { cwd, env });
  if (status !== 0) throw new Error(`${words.join(' ')}: exit ${status}\n${stderr}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(readFileSync(usageFile, 'utf8'));
  return { seconds: (userCPUTime + systemCPUTime) / 1e6, peak: maxRSS * 1024, stdout: String(stdout) };
}

/** Brings a list up to date. @throws {Error} unless it sends that many requests */
function enrich(place, requests, formats = ['csv']) {
  const outputs = formats.flatMap((format) => ['-o', `found.${format}`]);
  const unpaced = ['--per-minute', '0', '--per-day', '0', '--json'];
  const ran = run([bin, 'enrich', 'list.csv', ...outputs, ...unpaced], place);
  const summary = JSON.parse(ran.stdout);
  if (summary.requests !== requests) throw new Error(`${summary.requests} requests instead of ${requests}`);
  return ran;
}

/** Does both alternately, so that a change of the machine's speed affects both. @returns the medians of the seconds */
function compare(runs, ours, theirs) {
  const pairs = Array.from({ length: Math.min(runs, MAX_RUNS) }, (_each, round) => [
    ours(round).seconds,
    theirs().seconds,
  ]);
  const [mine, other] = [0, 1].map((side) => median(pairs.map((pair) => pair[side])));
  return { mine, ratio: mine / other };
}

const checksums = (folder) =>
  readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${name} ${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}`,
    )
    .join('\n');

const removeViews = (folder, formats = ALL_FORMATS) => {
  for (const format of formats) rmSync(join(folder, `found.${format}`), { force: true });
};

function answeredPlace({ home, env }, rows) {
  const cwd = join(home, `list-${rows}`);
  writeAnsweredList(cwd, rows, `${env.RESTAURANT_BASE_URL}/api/mcp`);
  return { cwd, env };
}

function benchFinished(options) {
  const place = answeredPlace(options, ROWS);
  const { cwd, env } = place;
  const bare = () => run([bareList, join(cwd, 'found.csv'), join(options.home, 'copy.csv')], { cwd, env });
  enrich(place, 0);
  const before = checksums(cwd);
  const second = compare(options.runs, () => enrich(place, 0), bare);
  if (checksums(cwd) !== before) throw new Error('the second run changed a file');
  const written = (formats) =>
    compare(
      options.runs,
      () => {
        removeViews(cwd, formats);
        return enrich(place, 0, formats);
      },
      bare,
    );
  const [csv, all] = [written(['csv']), written(ALL_FORMATS)];
  const added = compare(
    options.runs,
    (round) => {
      appendFileSync(join(cwd, 'list.csv'), listRow(ROWS + round));
      return enrich(place, 1);
    },
    bare,
  );
  rmSync(cwd, { recursive: true });
  return [
    [`${rowsText(ROWS)} again: 0 requests, 0 changed bytes`, second, BARE],
    ['one row more: 1 request', added, BARE],
    ['the CSV is written again', csv, BARE],
    [`${ALL_FORMATS.length} formats are written again`, all, BARE],
  ];
}

function benchFirst({ home, env, runs }) {
  const cwd = join(home, 'first');
  writeAnsweredList(cwd, FIRST_ROWS, '');
  const ours = () => {
    for (const name of ['found.csv', 'found.answers.ndjson']) rmSync(join(cwd, name), { force: true });
    return enrich({ cwd, env }, FIRST_ROWS);
  };
  const compared = compare(runs, ours, () => run([bareLoop, join(cwd, 'list.csv'), '4'], { cwd, env }));
  return [`the first run over ${rowsText(FIRST_ROWS)}, immediate responses`, compared, BARE_LOOP];
}

function benchMemory(options, rows) {
  const place = answeredPlace(options, rows);
  enrich(place, 0);
  const { seconds, peak } = enrich(place, 0);
  rmSync(place.cwd, { recursive: true });
  return [rowsText(rows), inMegabytes(peak), `${((seconds / rows) * 1e6).toFixed(0)} µs`];
}

const table = (...rows) => rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');

/** Prints the tables of docs/performance.md. @param options an empty folder, and the service with a key in `env` */
export function benchLists(options) {
  const { say } = options;
  const compared = [...benchFinished(options), benchFirst(options)];
  const ratios = compared.map(([name, { mine, ratio }, baseline]) => [
    name,
    `${mine.toFixed(1)} s`,
    ratio.toFixed(1),
    baseline,
  ]);
  say(`\n${table(['`enrich`', 'CPU time', 'Ratio', 'Baseline'], ['---', '---', '---', '---'], ...ratios)}`);
  const sizes = SIZES.map((rows) => benchMemory(options, rows));
  say(
    `\n${table(['`enrich` again', 'Peak of memory', 'CPU time per row'], ['---', '---', '---'], ...sizes)}`,
  );
}

// Measures how well `enrich` matches a list with errors: 1,000 rows of known restaurants with the errors that real lists
// have. Prints precision and recall of `matched` and `likely` for each kind of error, without and with --loose. Fails if a
// goal is missed. Similar names are added to the sample data ("Nopa Express" next to "Nopa").
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';

const BIN = fileURLToPath(new URL('../bin/restaurant.js', import.meta.url));
const SAMPLE = new URL('../src/sandbox/sample.csv', import.meta.url);
const ROWS = 1000;
const GOALS = { matched: 1, likely: 0.9, loose: 0.8 };
const LOOSE_KINDS = ['suffix', 'parentheses', 'branch'];

/** Generates the same random numbers in every run (mulberry32). */
function randomOf(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
const random = randomOf(20_251_121);
const pick = (list) => list[Math.floor(random() * list.length)];

/** Drops or doubles a letter, or swaps it with the next one. */
function typo(name) {
  const letters = [...name];
  const at = 1 + Math.floor(random() * Math.max(1, letters.length - 2));
  const [one = '', other = ''] = letters.slice(at, at + 2);
  letters.splice(at, 2, ...pick([[other], [one, one, other], [other, one]]));
  return letters.join('');
}

const CITY_ALIASES = {
  'San Francisco': 'SF',
  'New York': 'NYC',
  'Mexico City': 'CDMX',
  'Los Angeles': 'L.A.',
};

/** The kinds of errors in names and cities. */
const DAMAGE = {
  clean: (name, city) => [name, city],
  case: (name, city) => [random() < 0.5 ? name.toUpperCase() : name.toLowerCase(), city],
  blanks: (name, city) => [`  ${name.replaceAll(' ', '  ')} `, ` ${city} `],
  accents: (name, city) => [name.normalize('NFD').replace(/[\u0300-\u036f]/g, ''), city],
  and: (name, city) => [name.includes(' & ') ? name.replace(' & ', ' and ') : `${name}.`, city],
  'city alias': (name, city) => [name, CITY_ALIASES[city] ?? `${city}, downtown`],
  suffix: (name, city) => [pick([`${name} Restaurant`, `Ristorante ${name}`, `Restaurante ${name}`]), city],
  parentheses: (name, city) => [`${name} ${pick(['(closed?)', '(new)', '[old menu]'])}`, city],
  branch: (name, city) => [
    `${name} ${pick(['- Downtown', '– Station', '| Riverside', '@ Market Hall'])}`,
    city,
  ],
  typo: (name, city) => [typo(name), city],
  'first word': (name, city) => [name.split(' ')[0], city],
  'city typo': (name, city) => [name, typo(city)],
};

function makeData() {
  const sample = parse(readFileSync(SAMPLE), { columns: true });
  const namesakes = sample
    .filter((_each, index) => index % 3 === 0)
    .map((each) => ({ ...each, service_id: '', name: `${each.name} Express`, address: '2 Other Street' }));
  return [...sample, ...namesakes];
}

/** Returns rows with the correct id, which is empty if the row is not in the data. */
function makeList(data) {
  const known = data.filter(({ service_id }) => service_id !== '');
  const cities = [...new Set(known.map(({ city }) => city))];
  const kinds = [...Object.keys(DAMAGE), 'other city'];
  return Array.from({ length: ROWS }, (_each, index) => {
    const kind = kinds[index % kinds.length];
    const { name, city, service_id } = pick(known);
    if (kind === 'other city') {
      // A restaurant that is not in the data: the correct result is none.
      const other = pick(cities.filter((each) => each !== city));
      const exists = data.some((each) => each.city === other && each.name === name);
      return { kind, name, city: other, id: exists ? service_id : '' };
    }
    const [dirtyName, dirtyCity] = DAMAGE[kind](name, city);
    return { kind, name: dirtyName, city: dirtyCity, id: service_id };
  });
}

const count = (rows, status) => rows.filter(({ found }) => found.status === status).length;
const percent = (share) => `${(share * 100).toFixed(0)}%`;
const print = ([name, ...cells]) =>
  process.stdout.write(
    `${String(name).padEnd(14)}${cells.map((cell) => String(cell).padStart(9)).join('')}\n`,
  );

const folder = mkdtempSync(join(tmpdir(), 'match-quality-'));
const at = (name) => join(folder, name);
const env = { PATH: process.env.PATH, HOME: folder, RESTAURANT_API_KEY: 'sk_service_demo_paid' };
let failed = false;

const data = makeData();
const list = makeList(data);
writeFileSync(at('data.csv'), csvOf(data, Object.keys(data[0])));
writeFileSync(at('list.csv'), csvOf(list, ['name', 'city']));
const words = ['sandbox', '--port', '0', '--data', at('data.csv'), '--per-minute', '0', '--per-day', '0'];
const sandbox = spawn(process.execPath, [BIN, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const [baseUrl] = await once(createInterface({ input: sandbox.stdout }), 'line');
  const plain = enrich(baseUrl, []);
  const loose = enrich(baseUrl, ['--loose']);
  report(plain, loose);
} finally {
  sandbox.kill();
  if (sandbox.exitCode === null) await once(sandbox, 'exit');
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed ? 1 : 0;

function csvOf(rows, columns) {
  const cells = (values) => values.map((value) => `"${value.replaceAll('"', '""')}"`).join(',');
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(cells).join('\n');
}

/** Returns the results of the list, in order. */
function enrich(baseUrl, options) {
  const unpaced = ['--per-minute', '0', '--per-day', '0', '--format', 'ndjson', '--quiet'];
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [BIN, 'enrich', at('list.csv'), '--base-url', baseUrl, ...unpaced, ...options],
    { env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
  );
  if (status !== 0) throw new Error(`enrich: exit ${status}\n${stderr}`);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line, index) => ({ ...list[index], found: JSON.parse(line).restaurant }));
}

function report(plain, loose) {
  const kinds = [...new Set(list.map(({ kind }) => kind))];
  const columns = [
    'damage',
    'rows',
    'matched',
    'precise',
    'likely',
    'precise',
    'recall',
    '--loose',
    'precise',
    'recall',
  ];
  print(columns);
  for (const kind of kinds) print([kind, ...figures(plain, loose, (row) => row.kind === kind)]);
  print(['all', ...figures(plain, loose, () => true)]);
  for (const rows of [plain, loose]) {
    goal('precision of matched', precision(rows, ['matched']), GOALS.matched);
    goal('precision of likely', precision(rows, ['likely']), GOALS.likely);
  }
  for (const kind of LOOSE_KINDS)
    goal(`recall of ${kind} with --loose`, recall(loose.filter((row) => row.kind === kind)), GOALS.loose);
}

function figures(plain, loose, belongs) {
  const [one, other] = [plain.filter(belongs), loose.filter(belongs)];
  const of = (rows, status) => [count(rows, status), percent(precision(rows, [status]))];
  return [
    one.length,
    ...of(one, 'matched'),
    ...of(one, 'likely'),
    percent(recall(one)),
    ...of(other, 'likely'),
    percent(recall(other)),
  ];
}

/** Returns the share of correct restaurants among rows with these statuses; 1 if there are none. */
function precision(rows, statuses) {
  const judged = rows.filter(({ found }) => statuses.includes(found.status));
  return judged.length === 0 ? 1 : judged.filter(({ id, found }) => found.id === id).length / judged.length;
}

/** Returns the share of rows with the correct restaurant, matched or likely, among those that have one. */
function recall(rows) {
  const having = rows.filter(({ id }) => id !== '');
  const right = having.filter(
    ({ id, found }) => found.id === id && ['matched', 'likely'].includes(found.status),
  );
  return having.length === 0 ? 1 : right.length / having.length;
}

function goal(name, reached, wanted) {
  const missed = reached < wanted;
  failed ||= missed;
  process.stdout.write(`${missed ? 'MISSED' : 'ok    '} ${name}: ${reached.toFixed(3)} (goal ${wanted})\n`);
}

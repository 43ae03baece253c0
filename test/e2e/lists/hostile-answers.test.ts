import { existsSync, renameSync, symlinkSync } from 'node:fs';
import { expect, it } from 'vitest';
import { listOf, table, useLists } from '../../helpers/enrich.ts';

const { service, path, read, write, enrich } = useLists();
const line = (number: number, content: object): string =>
  `${JSON.stringify({ id: `line-${number}`, at: '2026-01-01T00:00:00.000Z', ...content })}\n`;
const header = (): string =>
  `${JSON.stringify({ restaurant: 'answers', version: 1, service: service.sandbox.endpoint })}\n`;

it('an answers file from a stranger names no file that is read or written', async () => {
  write('in.csv', listOf(2));
  write('profile', 'export A=1\n');
  const run = {
    list: '../profile',
    options: { prefix: 'x_', answers: 'other' },
    files: ['../new', 'profile'],
  };
  const lines = [
    { run },
    {
      run: {
        ...run,
        list: 'profile',
        options: { toString: 1, fields: 'premium', baseUrl: 'https://evil.example' },
      },
    },
    { wrote: { file: '../profile', sha256: 'a'.repeat(64) } },
    { wrote: { file: { toString: 1 }, sha256: 1 } },
  ];
  write('out.answers.ndjson', header() + lines.map((content, index) => line(index, content)).join(''));
  const { exit } = await enrich('in.csv -o out.csv');
  expect([exit, read('profile'), existsSync(path('new'))]).toEqual([0, 'export A=1\n', false]);
  expect(table(read('out.csv'))[0]).toMatchObject({ restaurant_status: 'matched' });
});

it('values of any type, and names of every object, do no harm', async () => {
  write('in.csv', 'service_id,name,city\nconstructor,,\n__proto__,,\n,Place 1,Testville\n');
  const odd = {
    service_id: 'constructor',
    name: { toString: 1 },
    address: 7,
    coordinates: 'x',
    __proto__: null,
  };
  const lines = [
    { find: { name: 'Place 1', city: 'Testville' }, results: [odd], received: 1, total: 1 },
    { find: { name: 'Place 1', city: 'Testville' }, results: [], received: -1, total: 'x' },
    { lookup: { id: 'constructor', fields: 'basic' }, output: JSON.parse('{"__proto__":{"a":1},"name":5}') },
    { decide: { name: 'Place 1', city: 'Testville' }, restaurant: '../x' },
    { undo: 'line-4' },
    { undo: 'line-5' },
  ];
  write('out.answers.ndjson', header() + lines.map((content, index) => line(index, content)).join(''));
  const { exit, stderr } = await enrich(
    'in.csv -o out.csv -o out.html -o out.geojson -o out.xlsx -o out.parquet',
  );
  expect([exit, stderr]).toEqual([0, expect.stringContaining('out.answers.ndjson: skipped damaged lines')]);
  expect(table(read('out.csv')).map((row) => row.restaurant_status)).toEqual([
    'matched',
    'skipped',
    'matched',
  ]);
  expect(service.sent()).toBe(1);
});

it('a preview writes nothing, and a damaged or linked answers file is never followed', async () => {
  write('in.csv', listOf(2));
  write('out.answers.ndjson', `${header()}${line(1, { find: { name: 'Place 0' } })}{"id":"x","at`);
  const before = read('out.answers.ndjson');
  expect((await enrich('in.csv -o out.csv --dry-run')).exit).toBe(0);
  expect([read('out.answers.ndjson'), existsSync(path('out.csv')), service.sent()]).toEqual([
    before,
    false,
    0,
  ]);
  write('elsewhere', before);
  symlinkSync('elsewhere', path('linked.answers.ndjson'));
  expect((await enrich('in.csv -o linked.csv')).exit).toBe(9);
  expect([read('elsewhere'), existsSync(path('linked.csv')), service.sent()]).toEqual([before, false, 0]);
});

it('lines that all take back one line, with one id, are read in time', async () => {
  write('in.csv', listOf(1));
  const undo = (second: number) =>
    `${JSON.stringify({ id: 'same', at: new Date(second * 1000).toISOString(), undo: 'same' })}\n`;
  write('out.answers.ndjson', header() + Array.from({ length: 40_000 }, (_each, at) => undo(at)).join(''));
  expect((await enrich('in.csv -o out.csv')).exit).toBe(0);
});

it('a file of damaged lines is refused before a request', async () => {
  write('in.csv', listOf(1));
  write('out.answers.ndjson', `${header()}\n${'x\n'.repeat(10_000)}`);
  expect((await enrich('in.csv --dry-run -o out.csv')).exit).toBe(0);
  write('out.answers.ndjson', `${header()}\n${'x\n'.repeat(1_000_000)}`);
  const { exit, stderr } = await enrich('in.csv -o out.csv');
  expect([exit, service.sent()]).toEqual([2, 0]);
  expect(stderr).toContain('out.answers.ndjson has more than 10000 damaged lines');
});

it('only files that begin as answers are searched for the one that wrote a view', async () => {
  write('in.csv', listOf(1));
  await enrich('in.csv -o out.csv');
  renameSync(path('out.answers.ndjson'), path('moved.answers.ndjson'));
  const wrote = line(1, { wrote: { file: 'out.csv', sha256: 'a'.repeat(64) } });
  write('foreign.answers.ndjson', `{}\n${wrote}`);
  write('large.answers.ndjson', 'x'.repeat(10_000) + header() + wrote);
  symlinkSync('moved.answers.ndjson', path('link.answers.ndjson'));
  service.sent();
  expect([(await enrich('in.csv -o out.csv')).exit, service.sent()]).toEqual([0, 0]);
});

it('--answers needs a name, and another one than an output, before a request', async () => {
  write('in.csv', listOf(1));
  for (const [name, message] of [
    ['', '--answers needs the name of a file'],
    ['out.csv', 'out.csv cannot be an output and have the answers'],
  ] as const) {
    const { exit, stderr } = await enrich(`in.csv -o out.csv --answers ${name}`);
    expect([exit, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  expect([service.sent(), existsSync(path('out.csv'))]).toEqual([0, false]);
});

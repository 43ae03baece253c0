import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { beforeEach, describe, expect, it } from 'vitest';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { restaurants, UNPACED } from '../../unit/enrich/service-data.ts';

const service = useService({ restaurants: restaurants(30) });
let folder = '';
beforeEach(() => {
  folder = tempFolder();
  service.sent();
});

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
const lines = (name: string): string[] => read(name).trimEnd().split('\n');
const enrich = (words: string) =>
  service.run(['enrich', ...words.split(' '), '--max-age', '0'], { cwd: folder, env: UNPACED });
const columnsOf = (name: string, ...columns: string[]): string[][] =>
  (parse(read(name), { columns: true }) as Record<string, string>[]).map((row) =>
    columns.map((column) => row[column] ?? ''),
  );

const ROWS = [
  '"Place 3",Testville,"a, b"',
  'ubermut,Testville,',
  'Twin,Testville,',
  'Plase 5,Testville,',
  ',,',
];

describe('the output of enrich as a list', () => {
  beforeEach(async () => {
    write('in.csv', `name,city,note\n${ROWS.join('\n')}\n`);
    await enrich('in.csv -o out.csv');
    service.sent();
  });

  it('keeps decided rows, and asks again for the others', async () => {
    const corrected = read('out.csv').replace('Plase 5', 'Place 5');
    write('out.csv', corrected);
    const { exit, stderr } = await enrich('out.csv -o again.csv');
    expect([exit, service.sent()]).toEqual([0, 3]);
    expect(columnsOf('again.csv', 'name', 'restaurant_status', 'restaurant_match', 'restaurant_id')).toEqual([
      ['Place 3', 'matched', 'exact', 'id-3'],
      ['ubermut', 'likely', 'only', 'only'],
      ['Twin', 'ambiguous', 'best', 'twin-1'],
      ['Place 5', 'matched', 'exact', 'id-5'],
      ['', 'skipped', '', ''],
    ]);
    expect(lines('again.csv').slice(0, 2)).toEqual(lines('out.csv').slice(0, 2));
    expect(stderr).toContain('2 matched, 1 likely, 1 ambiguous');
    service.sent();
    // The same rows again: the same bytes.
    await enrich('again.csv -o third.csv');
    expect([read('third.csv'), service.sent()]).toEqual([read('again.csv'), 2]);
    expect((await enrich('again.csv -o third.csv --resume')).exit).toBe(0);
  });

  it('turns no guess into a match with another prefix, and loses no address', async () => {
    await enrich('out.csv -o again.csv --prefix r2_');
    const fields = ['status', 'match', 'address', 'lat', 'lng', 'neighborhood'];
    const [old, now] = ['restaurant_', 'r2_'].map((prefix) =>
      columnsOf('again.csv', ...fields.map((field) => prefix + field)),
    );
    expect(now).toEqual(old);
    expect(service.sent()).toBe(3);
    await enrich('out.csv -o named.csv --prefix r2_ --id-column restaurant_id');
    expect(read('named.csv')).toBe(read('again.csv'));
    expect((await enrich('out.csv --id-column other')).exit).toBe(2);
  });

  it('keeps decisions of a person, and looks up an id that is added to a row without one', async () => {
    const edited = lines('out.csv').map((line) =>
      line
        .replace(',likely,only,', ',matched,confirmed,')
        .replace(',ambiguous,best,2,twin-1,Twin,', ',not_found,rejected,2,,,')
        .replace('Plase 5,Testville,,not_found,,0,,', 'Plase 5,Testville,,not_found,,0,id-5,'),
    );
    write('out.csv', `${edited.join('\n')}\n`);
    await enrich('out.csv -o again.csv');
    expect(columnsOf('again.csv', 'restaurant_status', 'restaurant_match', 'restaurant_id')).toEqual([
      ['matched', 'exact', 'id-3'],
      ['matched', 'confirmed', 'only'],
      ['not_found', 'rejected', ''],
      ['likely', 'id', 'id-5'],
      ['skipped', '', ''],
    ]);
    expect(service.sent()).toBe(1);
  });

  it('gets details for the rows that were decided, and says what that costs', async () => {
    const words = 'out.csv --fields standard --add seats=seating.indoor';
    expect(JSON.parse((await enrich(`${words} --dry-run --json`)).stdout)).toMatchObject({
      done: 0,
      requests: 4,
    });
    expect(JSON.parse((await enrich('out.csv --dry-run --json')).stdout)).toMatchObject({
      done: 1,
      requests: 3,
    });
    await enrich(`${words} -o again.csv`);
    const [first = []] = columnsOf('again.csv', 'restaurant_address', 'restaurant_lng', 'seats');
    expect(first).toEqual(['3 "Main", St', '-3', expect.stringMatching(/^\d+$/)]);
  });

  it('works as NDJSON, and from CSV to NDJSON', async () => {
    await enrich('out.csv -o out.ndjson');
    service.sent();
    await enrich('out.ndjson -o again.ndjson');
    expect([read('again.ndjson'), service.sent()]).toEqual([read('out.ndjson'), 3]);
    expect(JSON.parse(lines('out.ndjson')[0] ?? '').restaurant).toMatchObject({
      status: 'matched',
      lat: 1.5,
      cuisine_tags: ['a', 'b'],
    });
    await enrich('out.ndjson -o back.csv');
    expect(columnsOf('back.csv', 'note', 'restaurant_status', 'restaurant_address')).toEqual(
      columnsOf('out.csv', 'note', 'restaurant_status', 'restaurant_address'),
    );
  });
});

describe('a column restaurant_id', () => {
  it('has the ids to look up, and keeps those that lead to nothing', async () => {
    write(
      'in.csv',
      'restaurant_id,name,city\nid-3,Place 3,\nid-99,Gone,\nid-4,Wrong Name,\n,Place 5,Testville\n../x,,\n',
    );
    expect((await enrich('in.csv -o out.csv')).exit).toBe(0);
    expect(columnsOf('out.csv', 'name', 'restaurant_status', 'restaurant_match', 'restaurant_id')).toEqual([
      ['Place 3', 'matched', 'id', 'id-3'],
      ['Gone', 'not_found', '', 'id-99'],
      ['Wrong Name', 'likely', 'id', 'id-4'],
      ['Place 5', 'matched', 'exact', 'id-5'],
      ['', 'skipped', '', '../x'],
    ]);
    expect(lines('out.csv')[0]).toMatch(/^name,city,restaurant_status,/);
    write('ids.csv', 'restaurant_id\nid-3\n');
    expect((await enrich('ids.csv --id-column restaurant_id')).stdout).toMatch(
      /^restaurant_status,.*\nmatched,id,1,id-3,/,
    );
  });
});

import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Level } from '../../src/client/types.ts';
import { resolveColumns } from '../../src/lists/match/columns.ts';
import type { RestaurantService } from '../../src/lists/match/query.ts';
import { Counters } from '../../src/lists/progress/summary.ts';
import type { InputRow, ListFormat } from '../../src/lists/row.ts';
import { enrichRows } from '../../src/lists/run/enrich-rows.ts';
import { FinishedRows } from '../../src/lists/write/checkpoint.ts';
import { openRowCodec } from '../../src/lists/write/row-codec.ts';
import { RowFile } from '../../src/lists/write/row-file.ts';
import { CsvReader, encodeRecord } from '../../src/util/csv.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const folder = tempFolder();
const path = join(folder, 'out');
const previousPath = join(folder, 'previous');

/** Names with every kind of character. Some repeat; one finds two restaurants, one finds none. */
const NAMES = ['Nopa', 'a "b"', 'two\nlines', 'Nopa', 'é🍕,', 'nothing', 'twins', ',";\r\n"', 'last'];

/** Fewer names, for formats with long rows. */
const FEW = ['Nopa', 'é🍕,', 'Nopa', 'last'];

/** Names as a CSV may contain them: quoted without need, with text after the quotes, and with a quote inside. */
const CELLS = ['"Nopa" ', '5" pizza', '"a\n""b""" ', '"c" "d"'];

async function* rowsOf(format: ListFormat, names: readonly string[]): AsyncGenerator<InputRow> {
  if (format === 'csv') {
    const cells = [...CELLS, ...names.map((name) => encodeRecord([name], ','))];
    for (const record of new CsvReader(',').push(cells.map((cell) => `${cell},SF\r\n`).join('')))
      yield { kind: 'cells', ...record };
    return;
  }
  for (const [index, name] of names.entries()) {
    const value = { name, city: 'SF' };
    yield { kind: 'object', line: index + 1, text: JSON.stringify(value), value };
  }
}

function service(requests: string[]): RestaurantService {
  return {
    async find({ name }) {
      if (!requests.includes(`find ${name}`)) requests.push(`find ${name}`);
      const ids = name === 'nothing' ? [] : name === 'twins' ? ['1', '2'] : [name.toLowerCase()];
      return { results: ids.map((id) => ({ service_id: id, name, address: 'x\n"y"' })), total: ids.length };
    },
    async lookup(id) {
      if (!requests.includes(`lookup ${id}`)) requests.push(`lookup ${id}`);
      return { id, note: '"\n,' };
    },
  };
}

/** Continues a run with an existing output. @returns the requests that were sent */
async function run(format: ListFormat, level: Level | undefined, retry = false): Promise<string[]> {
  const requests: string[] = [];
  const codec = openRowCodec({
    format,
    delimiter: ',',
    bom: format === 'csv',
    headerText: '"name",city',
    lineEnd: '\r\n',
    columns: ['name', 'city'],
    prefix: 'r_',
    details: true,
    added: [{ name: 'note', path: 'note' }],
    guard: true,
  });
  writeFileSync(path, '', { flag: 'a' });
  const file = RowFile.open(path);
  const previous = retry ? RowFile.open(previousPath) : undefined;
  try {
    await enrichRows({
      plan: {
        rows: () => rowsOf(format, level === undefined ? NAMES : FEW),
        columns: resolveColumns(['name', 'city'], { nested: true }),
        codec,
        options: { fields: level, concurrency: 3 },
      },
      counters: new Counters([]),
      finished: new FinishedRows({ file, codec, name: 'out', previous, retryErrors: retry }),
      service: service(requests),
      append: (text) => file.append(text),
      stop: new AbortController(),
    });
  } finally {
    file.close();
    previous?.close();
  }
  return requests;
}

describe.each([
  ['csv', undefined],
  ['csv', 'basic'],
  ['ndjson', 'basic'],
] as const)('an output cut at any byte: %s, lookups %s', (format, level) => {
  it('is finished as if it had never been cut, without repeating requests', async () => {
    writeFileSync(path, '');
    const all = await run(format, level);
    expect(new Set(all).size).toBe(all.length);
    const whole = readFileSync(path);
    // Each run completes the output again.
    for (let cut = 0; cut <= whole.length; cut += 1) {
      truncateSync(path, cut);
      const requests = await run(format, level);
      expect(readFileSync(path).equals(whole)).toBe(true);
      expect(new Set(requests).size).toBe(requests.length);
      const finished = whole.subarray(0, cut).toString();
      if (finished.includes('last'))
        expect(requests.filter((request) => !request.endsWith(' last'))).toEqual([]);
      if (cut === whole.length) expect(requests).toEqual([]);
    }
  });

  it('is finished in the same way while failed rows are requested again', async () => {
    writeFileSync(path, '');
    await run(format, level);
    const whole = readFileSync(path);
    writeFileSync(previousPath, failLast(whole.toString(), format));
    const previous = readFileSync(previousPath);
    for (let cut = 0; cut <= whole.length; cut += 7) {
      truncateSync(path, cut);
      const requests = await run(format, level, true);
      expect(readFileSync(path).equals(whole)).toBe(true);
      expect(requests.every((request) => request.endsWith('last'))).toBe(true);
      expect(readFileSync(previousPath).equals(previous)).toBe(true);
    }
  });
});

/** Returns the output with a failure in the row of `last`. */
function failLast(text: string, format: ListFormat): string {
  return format === 'csv'
    ? text.replace(/^last,SF,.*\r\n$/m, 'last,SF,error,,,,,,,,,,,,,,timeout: x,,\r\n')
    : text.replace(/^(\{"name":"last","city":"SF",).*\n$/m, '$1"r":{"status":"error","details":null}}\n');
}

import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { resultText, toolText, useScriptedService } from '../helpers/answers.ts';

const BIG = '9007199254740993';
const LONG = '123456789012345678901234567890';
const LAT = '37.774900000000002';
const LNG = '-122.4372000000000000001';
const ROW = `{"service_id":"r-1","name":"Nopa","branch":${BIG},"coordinates":{"lat":${LAT},"lng":${LNG}},"codes":[${LONG},1e400,7],"debt":-1e400,"plain":1.50}`;
const FOUND = `{"status":"ok","results":[${ROW}],"total_matches":${BIG}}`;
/** Replaces 1.50 by 1.5, which is the same number in JavaScript. */
const asShown = (json: string) => json.replace('1.50', '1.5');

const service = useScriptedService();
const find = (...more: string[]) => service.run(['find', 'Nopa', '--city', 'SF', ...more]);
const columns = ['--columns', 'name,branch,lat,lng,codes,debt,plain'];

describe('numbers that JavaScript would change are printed as received', () => {
  it.each(['as JSON', 'as a stream', 'in structuredContent', 'from the cache'])(
    'by find, %s',
    async (how) => {
      if (how === 'in structuredContent')
        service.answer(resultText(`{"content":[],"structuredContent":${FOUND}}`));
      else if (how !== 'as a stream') service.answer(toolText(FOUND));
      else
        service.answer(({ id }, response) => {
          const content = JSON.stringify([{ type: 'text', text: FOUND }]);
          response.writeHead(200, { 'Content-Type': 'text/event-stream' });
          response.end(`data: {"jsonrpc":"2.0","id":${id},"result":{"content":${content}}}\n\n`);
        });
      if (how === 'from the cache') {
        await find();
        service.answer((_, response) => response.writeHead(500).end());
      }
      const again = how === 'from the cache' ? ['--max-age', '1h'] : [];
      expect(await find('--json', ...again)).toEqual({ exit: 0, stdout: `${asShown(FOUND)}\n`, stderr: '' });
      expect((await find('--format', 'ndjson', ...again)).stdout).toBe(`${asShown(ROW)}\n`);
    },
  );

  it('by find, in every other format', async () => {
    service.answer(toolText(FOUND));
    const cells = ['Nopa', BIG, LAT, LNG, `${LONG}; 1e400; 7`, '-1e400', '1.5'];
    expect((await find('--format', 'tsv', ...columns)).stdout).toBe(`${cells.join('\t')}\n`);
    expect(parse((await find('--format', 'csv', ...columns)).stdout)[1]).toEqual(cells);
    const table = await service.run(['find', 'Nopa', '--city', 'SF', '--no-color', ...columns], {
      tty: { stdout: true, columns: 200 },
    });
    for (const cell of cells) expect(table.stdout).toContain(` ${cell}`);
    const geo = (await find('--format', 'geojson')).stdout;
    expect(geo).toContain(`"coordinates":[${LNG},${LAT}]`);
    expect(geo).toContain(
      `"properties":{"service_id":"r-1","name":"Nopa","branch":${BIG},"codes":[${LONG},1e400,7]`,
    );
    const pretty = await service.run(['find', 'Nopa', '--city', 'SF', '--json'], { tty: { stdout: true } });
    expect(pretty.stdout).toContain(`\n  "total_matches": ${BIG}\n}`);
    expect((await find('--json', '--columns', 'branch,lat')).stdout).toBe(
      `{"status":"ok","results":[{"branch":${BIG},"coordinates":{"lat":${LAT}}}],"total_matches":${BIG}}\n`,
    );
    expect((await find('--json', '--limit', '1')).stdout).toContain(`"total_matches":${BIG}`);
  });

  it('by lookup, as JSON and as a card, alone and in a list', async () => {
    service.answer(toolText(ROW));
    expect((await service.run(['lookup', 'r-1', '--json'])).stdout).toBe(`${asShown(ROW)}\n`);
    const two = (await service.run(['lookup', 'r-1', 'r-2', '--json'])).stdout;
    expect(two).toBe(
      `[${['r-1', 'r-2'].map((id) => `{"restaurant_id":"${id}","output":${asShown(ROW)}}`).join(',')}]\n`,
    );
    const card = (await service.run(['lookup', 'r-1', '--format', 'table'])).stdout;
    for (const number of [BIG, LONG, '1e400', LAT, '-1e400']) expect(card).toContain(number);
    const tsv = (await service.run(['lookup', 'r-1', '--format', 'tsv'])).stdout;
    expect(tsv.split(/[\t\n]/)).toEqual(expect.arrayContaining([BIG, LAT, LNG, `${LONG}; 1e400; 7`]));
  });

  it('by call and tools', async () => {
    service.answer(toolText(ROW));
    const call = (...more: string[]) =>
      service.run(['call', 'lookup_restaurant', 'restaurant_id=r-1', ...more]);
    expect((await call('--json')).stdout).toBe(`${asShown(ROW)}\n`);
    expect((await call('--format', 'table')).stdout).toContain(LONG);
    service.answer(toolText(`[${BIG},[${LONG}]]`));
    expect((await call('--json')).stdout).toBe(`[${BIG},[${LONG}]]\n`);
    service.answer(toolText(BIG));
    expect((await call('--json')).stdout).toBe(`"${BIG}"\n`);
    const schema = `{"type":"object","properties":{"n":{"type":"integer","default":${BIG}}}}`;
    const tools = `{"tools":[{"name":"count","inputSchema":${schema}}]}`;
    service.answer(resultText(tools));
    expect((await service.run(['tools', '--json'])).stdout).toBe(`${tools}\n`);
    expect((await service.run(['tools', 'count', '--format', 'table'])).stdout).toContain(`Default: ${BIG}.`);
  });

  it('by raw, unwrapped and at a terminal', async () => {
    service.answer(toolText(ROW));
    const words = ['raw', 'tools/call', '{}'];
    expect((await service.run([...words, '--unwrap'])).stdout).toBe(`${asShown(ROW)}\n`);
    service.answer(resultText(`{"n":${BIG}}`));
    expect((await service.run(words, { tty: { stdout: true } })).stdout).toContain(`"n": ${BIG}`);
  });

  it('by enrich, in its columns and in the details', async () => {
    service.answer(({ params, ...rest }, response) =>
      toolText(params.name === 'find_restaurant' ? FOUND : ROW)({ params, ...rest }, response),
    );
    const run = (format: string, stdin: string) =>
      service.run(
        [
          'enrich',
          '-',
          '--input-format',
          format,
          '--fields',
          'basic',
          '--add',
          'branch=branch',
          '--city',
          'SF',
        ],
        { stdin },
      );
    const [header = [], ...rows] = parse((await run('csv', 'name\nNopa\nNopa\n')).stdout) as string[][];
    for (const cells of rows) {
      const row = Object.fromEntries(header.map((name, place) => [name, cells[place]]));
      expect(row).toMatchObject({ restaurant_lat: LAT, restaurant_lng: LNG, branch: BIG });
      expect(row.restaurant_details).toBe(asShown(ROW));
    }
    const own = `{"name":"Nopa","mine":${LONG}`;
    const ndjson = (await run('ndjson', `${own}}\n`)).stdout;
    expect(ndjson.startsWith(`${own},"restaurant":{`)).toBe(true);
    expect(ndjson).toContain(`"lat":${LAT},"lng":${LNG},`);
    expect(ndjson).toContain(`"branch":${BIG}}`);
  });
});

describe('numbers on the command line', () => {
  it.each([
    ['raw', 'x', `{"n":${BIG},"a":[${LONG}]}`],
    ['raw', 'x', '-F', `n=${BIG}`, '-F', `a=[${LONG}]`],
    ['call', 'x', `n:=${BIG}`, `a:=[${LONG}]`],
    ['call', 'x', '--args', `{"n":${BIG},"a":[${LONG}]}`],
  ])('are sent as typed by %s %s %s', async (...words) => {
    service.answer((request, response) =>
      request.method === 'tools/list' ? response.writeHead(404).end() : toolText('{}')(request, response),
    );
    expect(await service.run(words)).toMatchObject({ exit: 0 });
    expect(service.requests.at(-1)?.text).toContain(`{"n":${BIG},"a":[${LONG}]}`);
    expect((await service.run([...words, '--dry-run'])).stdout).toContain(`"n":${BIG},"a":[${LONG}]`);
    expect((await service.run([...words, '--curl'])).stdout).toContain(`"n":${BIG},"a":[${LONG}]`);
  });

  it('distinguish cached responses', async () => {
    const call = (n: string) =>
      service.run([
        'call',
        'lookup_restaurant',
        '--args',
        `{"restaurant_id":"r","n":${n}}`,
        '--max-age',
        '1h',
      ]);
    service.answer(toolText('"one"'));
    expect((await call(BIG)).stdout).toContain('one');
    service.answer(toolText('"other"'));
    expect((await call('9007199254740992')).stdout).toContain('other');
    expect((await call(BIG)).stdout).toContain('one');
  });
});

it('the bridge forwards numbers unchanged in both directions', async () => {
  service.answer(resultText(`{"content":[],"structuredContent":{"n":${BIG}},"m":${LONG}}`));
  const message = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"n":${BIG}}}}`;
  const { stdout } = await service.run(['mcp'], { stdin: `${message}\n` });
  expect(service.requests.at(-1)?.text).toContain(`"arguments":{"n":${BIG}}`);
  expect(stdout).toContain(`"structuredContent":{"n":${BIG}},"m":${LONG}`);
});

import { describe, expect, it } from 'vitest';
import { type Reply, resultText, toolText, useScriptedService } from '../helpers/answers.ts';

const BIG = '9007199254740993';
const LONG = '123456789012345678901234567890';
const ROW = `{"service_id":"r-1","name":"Nopa","branch":${BIG},"coordinates":{"lat":37.774900000000002,"lng":-122.4372000000000000001},"codes":[${LONG},1e400,7],"debt":-1e400,"plain":1.50}`;
const OUTPUT = `{"status":"ok","results":[${ROW}],"total_matches":${BIG}}`;

const service = useScriptedService();
const find = (...more: string[]) => service.run(['find', 'Nopa', '--city', 'SF', ...more]);

describe('numbers are printed as received', () => {
  const content = JSON.stringify([{ type: 'text', text: OUTPUT }]);
  it.each<[how: string, reply: Reply]>([
    ['as JSON', toolText(OUTPUT)],
    ['in structuredContent', resultText(`{"content":[],"structuredContent":${OUTPUT}}`)],
    [
      'as a stream',
      ({ id }, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.end(`data: {"jsonrpc":"2.0","id":${id},"result":{"content":${content}}}\n\n`);
      },
    ],
  ])('by find, %s, and from the cache', async (_how, reply) => {
    service.answer(reply);
    for (const age of ['0', '1h']) {
      const json = await find('--json', '--max-age', age);
      expect(json).toEqual({ exit: 0, stdout: `${OUTPUT}\n`, stderr: '' });
      expect((await find('--jq', '.', '--max-age', age)).stdout).toContain(`"branch":${BIG}`);
    }
    expect(service.asked).toHaveLength(2);
  });

  it('by find on a terminal, indented', async () => {
    service.answer(toolText(OUTPUT));
    const words = ['find', 'Nopa', '--city', 'SF', '--json'];
    const { stdout } = await service.run(words, { tty: { stdout: true } });
    expect(stdout).toContain('\n      "plain": 1.50\n    }\n  ],\n  "total_matches": 9007199254740993\n}\n');
  });

  it('by lookup, call, and raw', async () => {
    service.answer(toolText(ROW));
    const call = ['call', 'lookup_restaurant', 'restaurant_id=r-1', '--json'];
    for (const words of [['lookup', 'r-1', '--json'], call, ['raw', 'tools/call', '{}', '--unwrap']]) {
      expect([words[0], (await service.run(words)).stdout]).toEqual([words[0], `${ROW}\n`]);
    }
    service.answer(resultText(`{"content":[],"structuredContent":${ROW}}`));
    for (const age of ['0', '1h', '1h']) {
      expect((await service.run([...call, '--max-age', age])).stdout).toBe(`${ROW}\n`);
    }
    service.answer(resultText(`{"n": ${BIG}}`));
    const raw = await service.run(['raw', 'x', '{}'], { tty: { stdout: true } });
    expect(raw.stdout).toContain(`"n": ${BIG}`);
  });

  it.each(['18446744073709551616', '1e400', '0.1000000000000000055511'])(
    'by call and raw, if the output is only the number %s',
    async (number) => {
      service.answer(toolText(number));
      const call = ['call', 'lookup_restaurant', 'restaurant_id=r'];
      const raw = ['raw', 'tools/call', '{}', '--unwrap'];
      for (const words of [[...call, '--json'], raw]) {
        expect((await service.run(words)).stdout).toBe(`${number}\n`);
      }
      // jq writes an exponent as 1E+400.
      const jq = await service.run([...call, '--jq', '.']);
      expect(jq.stdout.replace('E+', 'e')).toBe(`${number}\n`);
    },
  );
});

describe('numbers beyond those of JSON', () => {
  it('are rounded when the output is changed', async () => {
    service.answer(toolText(OUTPUT));
    expect((await find('--json', '--columns', 'branch,lat')).stdout).toContain(
      '{"branch":9007199254740992,"coordinates":{"lat":37.7749}}',
    );
    const columns = ['--columns', 'branch,lat,codes'];
    expect((await find('--format', 'tsv', ...columns)).stdout).toBe(
      '9007199254740992\t37.7749\t1.2345678901234568e+29; out of range; 7\n',
    );
  });

  it.each([
    ['raw', 'x', `{"a":[${LONG}]}`],
    ['call', 'x', `n:=[${BIG}]`],
    ['call', 'x', `n:=0.${LONG}e400`],
    ['call', 'x', '--args', '{"n":1e400}'],
  ])('are not sent by %s %s %s %s', async (...words) => {
    const before = service.requests.length;
    const { exit, stderr } = await service.run(words);
    expect([exit, service.requests.length]).toEqual([2, before]);
    expect(stderr).toContain(
      'an integer beyond 2^53, which would lose digits\nhint: if the service accepts text, ',
    );
  });
});

describe('a long integer alone', () => {
  const typed = { integer: BIG, count: `-${LONG}`, ids: `7,${BIG}`, text: BIG, any: BIG };
  const sent = `{"integer":${BIG},"count":-${LONG},"ids":[7,${BIG}],"text":"${BIG}","any":"${BIG}"}`;
  const properties = {
    integer: { type: 'integer', minimum: 1 },
    count: { type: ['null', 'number'] },
    ids: { type: 'array', items: { type: 'integer' } },
    text: { type: 'string' },
    any: {},
  };

  const tools = JSON.stringify({ tools: [{ name: 't', inputSchema: { type: 'object', properties } }] });
  const reply: Reply = (request, response) =>
    (request.method === 'tools/list' ? resultText(tools) : toolText('1'))(request, response);

  it('is sent by call with its digits, by the schema of the tool', async () => {
    service.answer(reply);
    const words = Object.entries(typed).map(([name, value]) => `${name}=${value}`);
    expect(await service.run(['call', 't', ...words])).toMatchObject({ exit: 0 });
    expect(service.requests.at(-1)?.text).toContain(`"arguments":${sent}`);
    const refused = await service.run(['call', 't', `integer=-${BIG}`]);
    expect([refused.exit, refused.stderr]).toEqual([2, expect.stringContaining('must be >= 1')]);
  });

  it('is sent beside any name of a member', async () => {
    service.answer(reply);
    await service.run(['raw', 'x', '-F', 'toJSON=1', '-F', `n=${BIG}`]);
    expect(service.requests.at(-1)?.text).toContain(`{"toJSON":1,"n":${BIG}}`);
  });

  it.each([
    ['call', 't', `n:=${BIG}`],
    ['raw', 'x', '-F', `n=${BIG}`],
  ])('is sent with its digits, and shown by previews: %s', async (...words) => {
    service.answer(reply);
    await service.run([...words, '--max-age', '1h']);
    expect(service.requests.at(-1)?.text).toContain(`{"n":${BIG}}`);
    for (const preview of ['--curl', '--dry-run']) {
      expect((await service.run([...words, preview])).stdout).toContain(BIG);
    }
  });
});

it('an integer in the arguments of a host reaches the service with its digits', async () => {
  service.answer(toolText('1'));
  const args = `{"n":${BIG},"list":[-${LONG},{"text":"${BIG}"}],"decimal":1.5}`;
  const call = (id: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"t","arguments":${args}}}\n`;
  const stdin = call('1') + call(BIG);
  const { stdout } = await service.run(['mcp', '--protocol', 'bare'], { stdin });
  expect(service.requests.at(-1)?.text).toContain(`"arguments":${args}`);
  const [refused, result] = stdout.trim().split('\n');
  expect([JSON.parse(refused ?? ''), JSON.parse(result ?? '')]).toMatchObject([
    { id: null, error: { message: 'Invalid Request: id must be a string or an integer' } },
    { id: 1, result: { content: [{ text: '1' }] } },
  ]);
});

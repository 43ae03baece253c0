import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Reply, resultText, toolText, useScriptedService } from '../helpers/answers.ts';
import { fewOrAll } from '../helpers/full.ts';
import { restaurants, sharedFolder, toolWithSchema, useProgram } from './support.ts';

const { run } = useProgram();
const service = useScriptedService();
const ID = '5f0c9b1e-0000-4000-8000-000000000001';
const FIND = ['find', 'Nopa', '--city', 'SF'];
const home = () => ({ HOME: sharedFolder(), RESTAURANT_BASE_URL: service.url });

const send =
  (status: number, headers: Record<string, string>, body: string | Uint8Array = '{}'): Reply =>
  (_, response) =>
    response.writeHead(status, headers).end(body);
const json = (body: string): Reply => send(200, { 'Content-Type': 'application/json' }, body);
const stream = (body: string): Reply => send(200, { 'Content-Type': 'text/event-stream' }, body);

/** Name, response, and the expected exit codes. */
const REPLIES: [string, Reply, ...number[]][] = [
  ['Retry-After in the year 9999', send(429, { 'Retry-After': 'Fri, 31 Dec 9999 23:59:59 GMT' }), 5],
  [
    'cookies, Alt-Svc and Refresh',
    send(200, { 'Set-Cookie': 'a=b', 'Alt-Svc': 'h2=":1"', Refresh: '0;url=//x' }),
    7,
  ],
  ['a charset of 6 kB', send(200, { 'Content-Type': `application/json; charset=${'x'.repeat(6000)}` }), 7],
  ['a redirect with user info', send(302, { Location: 'https://user:pass@evil.example/' }), 7],
  ['a redirect of 8 kB', send(307, { Location: `https://${'x'.repeat(8000)}.example/` }), 7],
  ['a number of a million digits', json(`{"jsonrpc":"2.0","id":1,"result":${'9'.repeat(1_000_000)}}`), 7],
  [
    'names of object methods as keys',
    restaurants(
      JSON.parse(
        '{"service_id":"a","name":"b","toString":1,"then":2,"toJSON":3,"length":4,"hasOwnProperty":5}',
      ),
    ),
    0,
  ],
  [
    'an error code named constructor',
    json('{"jsonrpc":"2.0","id":1,"error":{"code":"constructor","message":"__proto__"}}'),
    7,
  ],
  ['a million percent signs', send(500, {}, '%25'.repeat(1_000_000)), 7],
  ['a million prefixes of keys', send(500, {}, 'sk_service_'.repeat(600_000)), 7],
  ['a million times Bearer', send(500, {}, 'Bearer '.repeat(1_000_000)), 7],
  [
    'millions of combining marks',
    restaurants({ service_id: ID, name: `a${'\u0301'.repeat(fewOrAll(200_000, 2_000_000))}` }),
    0,
  ],
  [
    'millions of zero-width characters',
    restaurants({ service_id: ID, name: 'a\u200b'.repeat(fewOrAll(150_000, 1_500_000)) }),
    0,
  ],
  [
    'a page with 7,000 open scripts',
    send(200, { 'Content-Type': 'text/html' }, '<title>\u001b[2J</title><script'.repeat(7000)),
    7,
  ],
  ['a million empty data lines', stream(`${'data:\n'.repeat(1_000_000)}\n`), 6, 7],
  ['two million comments', stream(':x\n'.repeat(2_000_000)), 6, 7],
  ['carriage returns alone', stream('\r'.repeat(1_000_000)), 6, 7],
  ['an event id with escapes, then the end', stream('id: \u001b[2J\u2028😀\ndata: {}\n\n'), 6, 7],
  ['an event id of 2 MB', stream(`id: ${'x'.repeat(2_000_000)}\ndata: {}\n\n`), 6, 7],
  ['a retry of 10^21', stream('retry: 1000000000000000000000\n\n'), 6, 7],
];

describe('a response', () => {
  it.each(REPLIES)(
    'with %s ends with an expected exit code',
    async (_name: string, reply: Reply, ...exits: readonly number[]) => {
      service.answer(reply);
      for (const more of [['--json'], ['--format', 'table']]) {
        const { exit, stderr } = await run([...FIND, '--timeout', '10s', '--max-wait', '0', ...more], {
          env: home(),
        });
        expect(exits, stderr.slice(0, 500)).toContain(exit);
      }
    },
  );
});

describe('a tool', () => {
  const CALL = ['call', 'evil', `q=${'a'.repeat(40)}`];

  it.each<[string, unknown]>([
    ['a reference to a file', { type: 'object', properties: { q: { $ref: 'file:///etc/passwd' } } }],
    ['a reference to a server', { type: 'object', properties: { q: { $ref: 'http://127.0.0.1:9/schema' } } }],
    [
      'code in names',
      JSON.parse('{"properties":{"*/process.exit(3)//\\u2028`\\"":{"const":"*/process.exit(3)//"}}}'),
    ],
    ['90 levels', JSON.parse(`${'{"properties":{"a":'.repeat(90)}{}${'}}'.repeat(90)}`)],
    ['a schema that is a number', 7],
    ['a schema that is null', null],
    ['asynchronous validation', { $async: true, type: 'object' }],
  ])('with %s is called or rejected immediately', async (_name, schema) => {
    service.answer(toolWithSchema(schema));
    const { exit } = await run([...CALL, '--json'], { env: home() });
    expect([0, 2, 7]).toContain(exit);
    expect(service.asked.every(({ path }) => path === '/api/mcp')).toBe(true);
  });

  it('list of 200,000 tools is printed', async () => {
    const tools = Array.from({ length: 200_000 }, (_, n) => ({ name: `t${n}`, inputSchema: {} }));
    service.answer(resultText(JSON.stringify({ tools })));
    await run(['tools', '--json'], { env: home() });
  });
});

describe('time is linear in the size of', () => {
  it('a huge list with one long number', async () => {
    const list = `[12345678901234567890${',0'.repeat(7_500_000)}]`;
    service.answer(toolText(`{"status":"ok","results":${list},"total_matches":1}`));
    await run([...FIND, '--json'], { env: home() });
  });

  it.each([
    ['64 KiB of a header', (size: number) => `name,city,${'a'.repeat(size)}`],
    [
      'a header of 50,000 columns',
      () => `name,city,${Array.from({ length: 50_000 }, (_, n) => `c${n}`).join(',')}`,
    ],
    ['a million quotes', () => '"'.repeat(1_000_001)],
  ])('%s of a list', async (_name, text) => {
    const folder = sharedFolder();
    writeFileSync(join(folder, 'list.csv'), text(1024 * 1024));
    const words = ['enrich', 'list.csv', '-o', 'out.csv', '--dry-run'];
    await run(words, { env: home(), cwd: folder });
  });
});

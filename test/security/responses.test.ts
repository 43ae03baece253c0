import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { found, type Reply, toolText, useScriptedService } from '../helpers/answers.ts';
import { start } from '../helpers/process.ts';
import { json, result, status } from '../helpers/script.ts';
import { sharedFolder, useProgram } from './support.ts';

const service = useScriptedService();
const { run } = useProgram(() => service.url);
const FIND = ['find', 'Nopa', '--city', 'SF'];

const empty = (code: number, headers: Record<string, string>): Reply => status(code, headers, '{}');
const stream = (body: string): Reply => status(200, { 'Content-Type': 'text/event-stream' }, body);

/** Name, response, and the expected exit codes. */
const REPLIES: [string, Reply, ...number[]][] = [
  ['Retry-After in the year 9999', empty(429, { 'Retry-After': 'Fri, 31 Dec 9999 23:59:59 GMT' }), 5],
  [
    'cookies, Alt-Svc and Refresh',
    empty(200, { 'Set-Cookie': 'a=b', 'Alt-Svc': 'h2=":1"', Refresh: '0;url=//x' }),
    7,
  ],
  ['a charset of 6 kB', empty(200, { 'Content-Type': `application/json; charset=${'x'.repeat(6000)}` }), 7],
  ['a redirect with user info', empty(302, { Location: 'https://user:pass@evil.example/' }), 7],
  ['a redirect of 8 kB', empty(307, { Location: `https://${'x'.repeat(8000)}.example/` }), 7],
  [
    'names of object methods as keys',
    found(
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
  [
    'a page with 7,000 open scripts',
    status(200, { 'Content-Type': 'text/html' }, '<title>\u001b[2J</title><script'.repeat(7000)),
    7,
  ],
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
        const { exit, stderr } = await run([...FIND, '--timeout', '10s', '--max-wait', '0', ...more]);
        expect(exits, stderr.slice(0, 500)).toContain(exit);
      }
    },
  );
});

describe('a tool', () => {
  const CALL = ['call', 'evil', `q=${'a'.repeat(40)}`];

  /** Responds to `tools/list` with one tool of this schema, and to its call. */
  const toolWithSchema =
    (inputSchema: unknown): Reply =>
    (request, response) => {
      const isList = request.method === 'tools/list';
      (isList ? result({ tools: [{ name: 'evil', inputSchema }] }) : toolText('{}'))(request, response);
    };

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
    const { exit } = await run([...CALL, '--json']);
    expect([0, 2, 7]).toContain(exit);
    expect(service.asked.every(({ path }) => path === '/api/mcp')).toBe(true);
  });

  it('list of 200,000 tools is printed', async () => {
    const tools = Array.from({ length: 200_000 }, (_, n) => ({ name: `t${n}`, inputSchema: {} }));
    service.answer(result({ tools }));
    await run(['tools', '--json']);
  });
});

describe('a command in a hint', () => {
  const PREMIUM = ['lookup', '1', '--fields', 'premium'];
  /** Responds to a search with a row, and to lookups with this status. */
  const refusing =
    (id: string, code: number): Reply =>
    (request, response) => {
      const isLookup = request.text.includes('lookup_restaurant');
      const row = { service_id: id, name: 'Nopa', city: 'SF' };
      (isLookup ? json('{"error":{"code":"x"}}', code) : found(row))(request, response);
    };

  /** Runs a command that fails, then the command in its hint, with a `restaurant` that does nothing. */
  async function expectHarmlessHint(words: readonly string[]) {
    const { stderr } = await run([...words, '--json']);
    const [command = ''] = /restaurant .*/.exec(JSON.parse(stderr).error.hint ?? '') ?? [];
    const line = `restaurant() { :; }; ${command.replace(/ (?:works|gives|shows|lists) .*/s, '')}`;
    const cwd = sharedFolder();
    await start('bash', ['-c', line], { cwd }).ended;
    expect(readdirSync(cwd)).toEqual([]);
  }

  it.each([
    'x;id>PWNED;#',
    '$(id>PWNED)',
    '`id>PWNED`',
    "'; id>PWNED; '",
    'a\nid>PWNED',
    '--base-url=http://x',
  ])('with the id %j from the service runs no other command', async (id) => {
    for (const code of [403, 404]) {
      service.answer(refusing(id, code));
      await run(FIND, { exit: 0 });
      await expectHarmlessHint(PREMIUM);
    }
  });

  it('with a tool name from the service runs no other command', async () => {
    service.answer(result({ tools: [{ name: 'evil$(id>PWNED)', inputSchema: {} }] }));
    await expectHarmlessHint(['call', 'evil$(id>PWNE)']);
  });
});

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFault } from '../../src/sandbox/faults.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { startRestaurant, until } from '../helpers/process.ts';
import type { Transcript } from '../helpers/program.ts';
import { RUNS, resetFolder, useCommandRuns } from '../helpers/runs.ts';
import { httpServer, type TestServer } from '../helpers/servers.ts';
import { everyCommand, readTree } from '../helpers/tree.ts';

/** The part of the key that must never be shown. Its end may be, since it distinguishes keys. */
const MARK = 'm4rkedKeyThatNobodyMaySee';
const KEY = `sk_service_${MARK}_x9z2`;
const FORMS = [MARK, encodeURIComponent(MARK), Buffer.from(`Bearer ${KEY}`).toString('base64').slice(10, 40)];

const { home, again, fresh } = useCommandRuns();
const tree = await readTree();
const commands = everyCommand(tree.commands);

let open: Sandbox;
beforeAll(async () => {
  open = await startSandbox({ auth: false, perMinute: 0, perDay: 0 });
});
afterAll(() => open.close());

const withKey = () => ({ RESTAURANT_API_KEY: KEY, RESTAURANT_BASE_URL: open.baseUrl });
const withoutKey = () => ({ RESTAURANT_API_KEY: '', RESTAURANT_BASE_URL: open.baseUrl });

function expectUnseen(what: string, { stdout, stderr }: Pick<Transcript, 'stdout' | 'stderr'>): void {
  for (const form of FORMS) {
    expect([what, form, stdout.includes(form), stderr.includes(form)]).toEqual([what, form, false, false]);
  }
}

/** Returns the files below a folder that contain the key. */
function filesWithKey(folder: string): string[] {
  const all = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  const files = all.filter((path) => statSync(path).isFile());
  return files
    .filter((path) => readFileSync(path, 'latin1').includes(MARK))
    .map((path) => relative(folder, path));
}

describe('the key in the environment', () => {
  it.each(Object.keys(RUNS))('is not printed or stored by %s', async (name) => {
    const plan = { ...RUNS[name], words: RUNS[name]?.words ?? [] };
    const stdin = name === 'login' ? KEY : plan.stdin;
    const accepted = commands.find((command) => command.name === name)?.global_options ?? [];
    const variants = [[], ['--verbose'], ['--json'], ['--json', '--verbose'], ['--dry-run'], ['--curl']];
    for (const more of variants) {
      if (more.some((flag) => !accepted.includes(flag))) continue;
      const words = plan.words.filter(
        (word) => more.every((flag) => !/--(dry|curl)/.test(flag)) || word !== '--demo',
      );
      const run = await fresh({ words, ...(stdin === undefined ? {} : { stdin }) }, more, { env: withKey() });
      expect([name, more, run.exit]).toEqual([name, more, 0]);
      expectUnseen([name, ...more].join(' '), run);
      expect(filesWithKey(home)).toEqual(name === 'login' ? ['.config/restaurant/config.json'] : []);
    }
  });

  it('is shown by status with its last four characters and its source', async () => {
    const { stdout } = await fresh({ words: ['status'] }, ['--json'], { env: withKey() });
    expect(JSON.parse(stdout).key).toEqual({ present: true, last4: 'x9z2', source: 'env' });
  });

  it('is not repeated when it is invalid or typed in the wrong place', async () => {
    for (const key of [`${MARK}-abcd`, `Bearer ${KEY}`, `"${KEY}"`, `${KEY} x`, `sk_service_${MARK}\u00e9`]) {
      const run = await fresh({ words: ['find', 'x', '--city', 'SF'] }, [], {
        env: { ...withKey(), RESTAURANT_API_KEY: key },
      });
      expect(run.exit).toBe(4);
      expectUnseen('a wrong key', run);
      const result = await again(
        { words: ['status', '--json'] },
        { env: { ...withKey(), RESTAURANT_API_KEY: key } },
      );
      expect(result.exit).toBe(0);
      expectUnseen('status of a wrong key', result);
    }
    for (const words of [
      ['login', KEY],
      ['login', '--key', KEY],
      ['login', `--key=${KEY}`],
      [KEY],
      ['find', KEY, KEY],
      ['config', 'set', KEY, 'x'],
      ['config', 'set', 'timeout', KEY],
      ['find', 'x', '--city', 'SF', '--base-url', `https://${KEY}@example.com`],
      ['find', 'x', '--city', 'SF', '--base-url', `https://example.com/?key=${KEY}`],
      ['raw', 'x', '-H', `Authorization: Bearer ${KEY}`],
      ['call', 'x', KEY],
      ['lookup', `${KEY}?`],
    ]) {
      for (const more of [[], ['--json'], ['--verbose']]) {
        const run = await fresh({ words }, more, { env: withoutKey() });
        expect([words, run.exit === 0]).toEqual([words, false]);
        expectUnseen(words.join(' '), run);
        expect(filesWithKey(home)).toEqual([]);
      }
    }
  });
});

describe('the saved key', () => {
  it('is stored in the config file only, until logout deletes it', async () => {
    resetFolder(home);
    const env = withoutKey();
    const login = await again({ words: ['login', '--key-stdin', '--verbose'], stdin: `${KEY}\n` }, { env });
    expect(login.exit).toBe(0);
    expectUnseen('login', login);
    for (const [name, plan] of Object.entries(RUNS)) {
      if (['login', 'logout'].includes(name)) continue;
      const run = await again({ ...plan, words: [...plan.words, '--verbose'] }, { env });
      expect([name, run.exit]).toEqual([name, 0]);
      expectUnseen(name, run);
    }
    const profile = ['--profile', 'second'];
    await again({ words: ['login', '--key-stdin', ...profile], stdin: KEY }, { env });
    expect(filesWithKey(home)).toEqual(['.config/restaurant/config.json']);
    expect((await again({ words: ['logout', ...profile] }, { env })).exit).toBe(0);
    expect(filesWithKey(home)).toEqual(['.config/restaurant/config.json']);
    const logout = await again({ words: ['logout', '--verbose'] }, { env });
    expect(logout).toMatchObject({ exit: 0, stdout: 'Deleted the saved key of profile default.\n' });
    expect(filesWithKey(home)).toEqual([]);
    expect((await again({ words: ['find', 'x', '--city', 'SF'] }, { env })).exit).toBe(4);
  });
});

describe('a key that the service repeats', () => {
  type Answer = (request: { id: number; echo: string }, response: ServerResponse) => void;
  const json = (response: ServerResponse, body: unknown, status = 200) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  const result = (id: number, text: string, more = {}) => ({
    jsonrpc: '2.0',
    id,
    result: { content: [{ type: 'text', text }], ...more },
  });

  const ECHOES: Readonly<Record<string, Answer>> = {
    'in the body of a 401': ({ echo }, response) => json(response, { error: { message: echo } }, 401),
    'in the text of a 403': ({ echo }, response) => response.writeHead(403).end(`no: ${echo}`),
    'in the body of a 429': ({ echo }, response) =>
      response.writeHead(429, { 'Retry-After': '1' }).end(JSON.stringify({ error: 'slow', message: echo })),
    'in a header that is shown': ({ echo }, response) =>
      response.writeHead(500, echo, { 'X-Request-Id': echo, 'X-Echo': echo }).end(),
    'as base64': ({ echo }, response) =>
      response.writeHead(500).end(`no ${Buffer.from(echo).toString('base64')} here`),
    'percent-encoded': ({ echo }, response) => response.writeHead(500).end(encodeURIComponent(echo)),
    'in a redirect': ({ echo }, response) =>
      response.writeHead(307, { Location: `https://elsewhere.example/?${echo.replace(' ', '%20')}` }).end(),
    'in a web page': ({ echo }, response) =>
      response.writeHead(200, { 'Content-Type': 'text/html' }).end(`<html><title>${echo}</title></html>`),
    'in a JSON-RPC error': ({ id, echo }, response) =>
      json(response, { jsonrpc: '2.0', id, error: { code: -32000, message: echo, data: { echo } } }),
    'in a tool error': ({ id, echo }, response) => json(response, result(id, echo, { isError: true })),
    'in text that is not JSON': ({ id, echo }, response) => json(response, result(id, `{${echo}`)),
    'in JSON that is cut off': ({ echo }, response) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(`{"echo":"${echo}"`),
    'in a stream that is cut off': ({ echo }, response) =>
      response
        .writeHead(200, { 'Content-Type': 'text/event-stream' })
        .end(`: ${echo}\n\ndata: {"echo":"${echo}"\n\n`),
    'with another id': ({ id, echo }, response) => json(response, result(id + 1, echo)),
    'in a restaurant': ({ id, echo }, response) => {
      const row = { service_id: 'r-1', name: echo, key: KEY };
      json(response, result(id, JSON.stringify({ status: echo, results: [row], total_matches: 1 })));
    },
  };

  let answer: Answer = () => {};
  let server: TestServer;
  beforeAll(async () => {
    server = await httpServer(({ body, headers }, response) =>
      answer({ id: JSON.parse(body).id, echo: headers.authorization ?? 'none' }, response),
    );
  });
  afterAll(() => server.close());

  it.each(Object.keys(ECHOES))('%s is not printed', async (where) => {
    answer = ECHOES[where] ?? answer;
    const env = {
      RESTAURANT_API_KEY: KEY,
      RESTAURANT_BASE_URL: server.origin,
      RESTAURANT_RETRIES: '0',
      RESTAURANT_MAX_WAIT: '0',
    };
    const runs = [
      ['find', 'x', '--city', 'SF', '--format', 'table'],
      ['lookup', 'r-1', 'r-2', '--format', 'ndjson'],
      ['call', 'find_restaurant', 'name=x', 'city=y'],
      ['raw', 'tools/call', '{}', '-i'],
      ['raw', 'tools/call', '{}', '--unwrap'],
      ['tools'],
      ['status', '--check'],
      ['login', '--key-stdin'],
    ];
    const login = '.config/restaurant/config.json';
    let seen = '';
    for (const words of runs) {
      const formed = words.includes('--format') || words[0] === 'raw';
      for (const more of [[], ...(formed ? [] : [['--json']]), ['--verbose']]) {
        const run = await fresh({ words, stdin: KEY }, more, { env });
        expectUnseen(`${where}: ${[...words, ...more].join(' ')}`, run);
        expect([words, filesWithKey(home).filter((name) => name !== login)]).toEqual([words, []]);
        seen += run.stdout + run.stderr;
      }
    }
    // The mask replaces it in the output.
    const received = seen.split('\n').filter((line) => !line.startsWith('> '));
    expect(received.join('\n')).toMatch(/Bearer( |%20)(sk_service_)?…|sk_service_…x9z2/);
  });
});

describe('a process', () => {
  it('never has the key in its arguments', async () => {
    const hanging = await startSandbox({ auth: false, faults: [parseFault('hang')] });
    resetFolder(home);
    const env = { HOME: home, RESTAURANT_BASE_URL: hanging.baseUrl };
    const run = startRestaurant(['login', '--key-stdin'], { env, stdin: KEY });
    try {
      await until(() => hanging.requests.length > 0, run);
      const { stdout } = await promisify(execFile)('ps', ['-o', 'args=', '-p', String(run.process.pid)]);
      expect(stdout).toContain('login');
      expect(stdout).not.toContain(MARK);
      for (const { headers, body } of hanging.requests) {
        expect(JSON.stringify([headers, body])).not.toContain(MARK);
      }
    } finally {
      run.process.kill('SIGINT');
      expectUnseen('an interrupted login', await run.ended);
      expect(filesWithKey(home)).toEqual([]);
      await hanging.close();
    }
  });
});

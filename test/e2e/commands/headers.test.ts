import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { sendJson, serve } from '../../helpers/client.ts';
import { runCli } from '../../helpers/program.ts';
import type { ReceivedRequest } from '../../helpers/servers.ts';
import { serviceWithHome } from './service-with-home.ts';

const KEY = 'sk_service_headers_0123456789';
const SECRET = 'access-token-4711';
const FIND = ['find', 'Nopa', '--city', 'SF', '--json'];

let home: string;
let env: Record<string, string>;
let base: string;
let requests: readonly ReceivedRequest[];

beforeEach(async () => {
  ({ home, env, base, requests } = await serviceWithHome());
});

const run = (words: string[], more: Record<string, string> = {}) =>
  runCli(words, { env: { ...env, ...more } });
const config = () => JSON.parse(readFileSync(join(home, '.config/restaurant/config.json'), 'utf8'));

describe('-H', () => {
  it.each([
    [FIND],
    [['lookup', 'r-1', '--json']],
    [['tools', '--json']],
    [['call', 't', '--json']],
    [['raw', 'x/y']],
    [['status', '--check', '--json']],
  ])('sends headers with %j and shows no secret', async (words) => {
    const headers = ['-H', `X-Api-Key: ${SECRET}`, '--header', 'X-Request-Id: 42'];
    const { stdout, stderr } = await run([...words, '--base-url', base, '--verbose', ...headers], {
      RESTAURANT_API_KEY: KEY,
    });
    expect(requests.length).toBeGreaterThan(0);
    for (const { headers } of requests)
      expect(headers).toMatchObject({ 'x-api-key': SECRET, 'x-request-id': '42' });
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it('is sufficient for a service that requires no key', async () => {
    expect((await run([...FIND, '--base-url', base])).exit).toBe(4);
    expect((await run([...FIND, '--base-url', base, '-H', `X-Api-Key: ${SECRET}`])).exit).toBe(0);
    expect(requests[0]?.headers).not.toHaveProperty('authorization');
  });

  it('is hidden in previews', async () => {
    for (const preview of ['--dry-run', '--curl']) {
      const { stdout } = await run([...FIND, preview, '--base-url', base, '-H', `X-Api-Key: ${SECRET}`], {
        RESTAURANT_API_KEY: KEY,
      });
      expect(stdout).toContain('X-Api-Key');
      expect(stdout).not.toContain(SECRET);
    }
    expect(requests).toEqual([]);
  });

  it.each(['no colon', 'Authorization: x', 'a b: c'])('rejects %j before a request', async (header) => {
    const { exit } = await run([...FIND, '--base-url', base, '-H', header], { RESTAURANT_API_KEY: KEY });
    expect([exit, requests.length]).toEqual([2, 0]);
  });
});

describe('saved headers', () => {
  const save = async (name: string, value: string) =>
    run(['config', 'set', `header.${name}`, value, '--json']);

  it('require a profile with a service', async () => {
    expect((await save('X-Api-Key', SECRET)).exit).toBe(2);
  });

  it('are sent to the service of the profile, with variables replaced', async () => {
    await run(['config', 'set', 'base-url', base]);
    expect(JSON.parse((await save('X-Api-Key', '${TEAM_TOKEN}')).stdout)).toEqual({
      name: 'header.X-Api-Key',
      value: '${TEAM_TOKEN}',
      source: 'config',
    });
    expect((await save('x-plain', SECRET)).stdout).not.toContain(SECRET);
    const found = await run(FIND, { TEAM_TOKEN: 'from-environment', RESTAURANT_API_KEY: KEY });
    expect(found.exit).toBe(0);
    expect(requests[0]?.headers).toMatchObject({ 'x-api-key': 'from-environment', 'x-plain': SECRET });
    const listed = await run(['config', 'list', '--json']);
    expect(listed.stdout).toContain('"header.X-Api-Key"');
    expect(listed.stdout).not.toContain(SECRET);
    const missing = await run(FIND, { RESTAURANT_API_KEY: KEY });
    expect(missing.exit).toBe(2);
    expect(missing.stderr).toContain('TEAM_TOKEN is not set');
    await run(['config', 'unset', 'header.x-api-key']);
    expect(Object.keys(config().profiles.default.headers)).toEqual(['x-plain']);
  });

  it('are not sent to another service', async () => {
    await run(['config', 'set', 'base-url', 'https://service.example']);
    await save('X-Api-Key', SECRET);
    await run([...FIND, '--base-url', base], { RESTAURANT_API_KEY: KEY });
    expect(requests[0]?.headers).not.toHaveProperty('x-api-key');
  });

  it('are overridden by -H', async () => {
    await run(['config', 'set', 'base-url', base]);
    await save('X-Api-Key', SECRET);
    await run([...FIND, '-H', 'x-api-key: other'], { RESTAURANT_API_KEY: KEY });
    expect(requests[0]?.headers['x-api-key']).toBe('other');
  });
});

describe('the environment', () => {
  it('passes its trace context to the service', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await run([...FIND, '--base-url', base], {
      RESTAURANT_API_KEY: KEY,
      TRACEPARENT: traceparent,
      TRACESTATE: 'a=b',
      BAGGAGE: 'c=d',
    });
    const trace = { traceparent, tracestate: 'a=b', baggage: 'c=d' };
    expect(requests[0]?.headers).toMatchObject(trace);
    expect(JSON.parse(requests[0]?.body ?? '').params._meta).toEqual(trace);
  });
});

describe('--max-body', () => {
  it.each([
    [['--max-body', '20B'], 7],
    [['--max-body', '1MiB'], 0],
    [['--max-body', 'much'], 2],
  ])('%j', async (words, exit) => {
    expect((await run([...FIND, '--base-url', base, ...words], { RESTAURANT_API_KEY: KEY })).exit).toBe(exit);
  });
});

describe('a key that was saved without a service', () => {
  it('is sent only to the service of its profile', async () => {
    await runCli(['login', '--key-stdin', '--no-verify'], { env, stdin: KEY });
    await run(['config', 'set', 'base-url', 'https://service.example']);
    expect((await run([...FIND, '--base-url', base])).exit).toBe(4);
    expect(requests).toEqual([]);
  });

  it('is bound to the first service that accepts it', async () => {
    const login = ['login', '--key-stdin', '--no-verify'];
    expect((await runCli(login, { env, stdin: KEY })).exit).toBe(0);
    expect(config().profiles.default).toEqual({ key: KEY });
    const refusing = await serve((_seen, response) => response.writeHead(401).end());
    expect((await run([...FIND, '--base-url', refusing.url.origin])).exit).toBe(4);
    const failing = await serve((seen, response) => {
      const { id } = JSON.parse(seen.body) as { id: number };
      sendJson(response, JSON.stringify({ jsonrpc: '2.0', id, error: { code: -1, message: 'bad key' } }));
    });
    expect((await run([...FIND, '--base-url', failing.url.origin])).exit).toBe(7);
    expect(config().profiles.default).not.toHaveProperty('key_origin');
    expect((await run([...FIND, '--base-url', base])).exit).toBe(0);
    expect(config().profiles.default.key_origin).toBe(base);
    const other = await run([...FIND, '--base-url', 'https://other.example']);
    expect(other.exit).toBe(4);
    expect(other.stderr).toContain(`belongs to ${base}`);
  });
});

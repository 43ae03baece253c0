import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { useScriptedService } from '../../helpers/answers.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { FIND as FOUND, refuse, result, status } from '../../helpers/script.ts';

const KEY = 'sk_service_headers_0123456789';
const SECRET = 'access-token-4711';
const FIND = ['find', 'Nopa', '--city', 'SF', '--json'];
const NO_KEY = { RESTAURANT_API_KEY: '' };

const TOOLS = result({ tools: [{ name: 't', inputSchema: { type: 'object' } }] });
const service = useScriptedService((request, response) => {
  const reply = request.method === 'tools/list' ? TOOLS : FOUND[1];
  reply(request, response);
});
let home: string;
let env: Record<string, string>;

beforeEach(() => {
  ({ home, env } = newHome());
});

const run = (words: readonly string[], more: Record<string, string> = {}, stdin = '') =>
  runCli(words, { env: { ...env, RESTAURANT_MAX_AGE: '0', RESTAURANT_API_KEY: KEY, ...more }, stdin });
const find = (words: readonly string[], more?: Record<string, string>) =>
  run([...FIND, '--base-url', service.url, ...words], more);
const profile = () =>
  JSON.parse(readFileSync(join(home, '.config/restaurant/config.json'), 'utf8')).profiles.default;

describe('-H', () => {
  const HEADER = ['-H', `X-Api-Key: ${SECRET}`];

  it.each([
    [FIND],
    [['lookup', 'r-1', '--json']],
    [['tools', '--json']],
    [['call', 't', '--json']],
    [['raw', 'x/y']],
    [['status', '--check', '--json']],
  ])('sends headers with %j and shows no secret', async (words) => {
    const headers = [...HEADER, '--header', 'X-Request-Id: 42'];
    const { stdout, stderr } = await run([...words, '--base-url', service.url, '--verbose', ...headers]);
    expect(service.asked.length).toBeGreaterThan(0);
    for (const { headers } of service.asked)
      expect(headers).toMatchObject({ 'x-api-key': SECRET, 'x-request-id': '42' });
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it('is sufficient for a service that requires no key', async () => {
    expect((await find([], NO_KEY)).exit).toBe(4);
    expect((await find(HEADER, NO_KEY)).exit).toBe(0);
    expect(service.asked[0]?.headers).not.toHaveProperty('authorization');
  });

  it.each(['--dry-run', '--curl'])('is hidden in the preview of %s', async (preview) => {
    const { stdout } = await find([preview, ...HEADER]);
    expect([stdout.includes('X-Api-Key'), stdout.includes(SECRET), service.asked]).toEqual([true, false, []]);
  });
});

describe('saved headers', () => {
  const set = (...words: string[]) => run(['config', 'set', ...words, '--json']);

  it('require a profile with a service', async () => {
    expect((await set('header.X-Api-Key', SECRET)).exit).toBe(2);
  });

  it('are sent to the service of the profile, with variables replaced', async () => {
    await set('base-url', service.url);
    const value = '$' + '{TEAM_TOKEN}';
    const saved = await set('header.X-Api-Key', value);
    expect(JSON.parse(saved.stdout)).toEqual({ name: 'header.X-Api-Key', value, source: 'config' });
    expect((await set('header.x-plain', SECRET)).stdout).not.toContain(SECRET);
    expect((await run(FIND, { TEAM_TOKEN: 'from-environment' })).exit).toBe(0);
    expect(service.asked[0]?.headers).toMatchObject({ 'x-api-key': 'from-environment', 'x-plain': SECRET });
    const { stdout } = await run(['config', 'list', '--json']);
    expect([stdout.includes('"header.X-Api-Key"'), stdout.includes(SECRET)]).toEqual([true, false]);
    const missing = await run(FIND);
    expect([missing.exit, missing.stderr]).toEqual([2, expect.stringContaining('TEAM_TOKEN is not set')]);
    await run(['config', 'unset', 'header.x-api-key']);
    expect(Object.keys(profile().headers)).toEqual(['x-plain']);
  });

  it('are not sent to another service', async () => {
    await set('base-url', 'https://service.example');
    await set('header.X-Api-Key', SECRET);
    await find([]);
    expect(service.asked[0]?.headers).not.toHaveProperty('x-api-key');
  });

  it('are overridden by -H', async () => {
    await set('base-url', service.url);
    await set('header.X-Api-Key', SECRET);
    await find(['-H', 'x-api-key: other']);
    expect(service.asked[0]?.headers['x-api-key']).toBe('other');
  });
});

it('the environment passes its trace context to the service', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await find([], { TRACEPARENT: traceparent, TRACESTATE: 'a=b', BAGGAGE: 'c=d' });
  const trace = { traceparent, tracestate: 'a=b', baggage: 'c=d' };
  expect(service.asked[0]?.headers).toMatchObject(trace);
  expect(service.asked[0]?.params._meta).toEqual(trace);
});

describe('a key that was saved without a service', () => {
  beforeEach(async () => {
    expect((await run(['login', '--key-stdin', '--no-verify'], NO_KEY, KEY)).exit).toBe(0);
    expect(profile()).toEqual({ key: KEY });
  });

  it('is sent only to the service of its profile', async () => {
    await run(['config', 'set', 'base-url', 'https://service.example']);
    expect([(await find([], NO_KEY)).exit, service.asked]).toEqual([4, []]);
  });

  it('is not bound to a service that does not accept it', async () => {
    for (const [reply, exit] of [
      [status(401), 4],
      [refuse(200, { code: -1, message: 'bad key' }), 7],
    ] as const) {
      service.answer(reply);
      expect((await find([], NO_KEY)).exit).toBe(exit);
      expect(profile()).not.toHaveProperty('key_origin');
    }
    service.answer(FOUND[1]);
    expect((await find([], NO_KEY)).exit).toBe(0);
    expect(profile().key_origin).toBe(service.url);
    const other = await run([...FIND, '--base-url', 'https://other.example'], NO_KEY);
    expect([other.exit, other.stderr]).toEqual([4, expect.stringContaining(`belongs to ${service.url}`)]);
  });
});

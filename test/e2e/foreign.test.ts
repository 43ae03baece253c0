import { afterAll, describe, expect, it } from 'vitest';
import { newHome, runCli } from '../helpers/program.ts';
import { httpServer } from '../helpers/servers.ts';

const KEY = 'sk_service_of_somebody_else';
const RESTAURANT = {
  service_id: '5f0c9b1e-0000-4000-8000-000000000001',
  name: 'Chez Ladurée',
  address: '1 Rue Royale, Paris',
  coordinates: { lat: 48.8686, lng: 2.323 },
  city: 'Paris',
  neighborhood: 'Concorde',
  cuisine_tags: ['french', 'pastry'],
  grade: 'A-',
  coverage_level: 'full',
};
const DETAILS = { grade: 'A-', tldr: 'Macarons.', cuisine: ['french'], price_level: '$$$' };
const RICH = { ...DETAILS, dishes: [{ name: 'Ispahan', price: 9.5 }] };

// The service as documented, without code of this project: one path, one method, two tools.
let form: 'json' | 'sse' = 'json';
const seen: { headers: Record<string, unknown>; body: Record<string, unknown> }[] = [];
const server = await httpServer((request, response) => {
  const body = JSON.parse(request.body);
  seen.push({ headers: request.headers, body });
  if (request.method !== 'POST' || request.path !== '/api/mcp') return response.writeHead(404).end();
  if (request.headers.authorization !== `Bearer ${KEY}`) return response.writeHead(401).end();
  const { name, arguments: args } = body.params;
  const found = { status: 'ok', results: [RESTAURANT], total_matches: 1 };
  const output = name === 'find_restaurant' ? found : args.fields === undefined ? DETAILS : RICH;
  const content = [{ type: 'text', text: JSON.stringify(output) }];
  const reply = JSON.stringify({ jsonrpc: '2.0', id: body.id, result: { content } });
  const type = form === 'json' ? 'application/json' : 'text/event-stream';
  return response
    .writeHead(200, { 'Content-Type': type })
    .end(form === 'json' ? reply : `data: ${reply}\n\n`);
});

const { env: own } = newHome();
const given = { RESTAURANT_BASE_URL: server.origin, RESTAURANT_API_KEY: KEY, RESTAURANT_MAX_AGE: '0' };
const run = (...words: string[]) => runCli(words, { env: { ...own, ...given } });

afterAll(server.close);

/** Runs the same command with a JSON and an SSE response. */
async function both(...words: string[]) {
  form = 'json';
  const json = await run(...words);
  form = 'sse';
  expect(await run(...words)).toEqual(json);
  expect(json).toMatchObject({ exit: 0, stderr: '' });
  return json.stdout;
}

describe('an independent implementation of the documented service', () => {
  it.each(['json', 'tsv', 'csv', 'ndjson', 'geojson', 'table'])('works with find as %s', async (format) => {
    const stdout = await both('find', 'Ladurée', '--city', 'Paris', '--format', format);
    expect(stdout).toContain('Chez Ladurée');
    if (format === 'json') {
      expect(JSON.parse(stdout)).toEqual({ status: 'ok', results: [RESTAURANT], total_matches: 1 });
    }
  });

  it.each(['json', 'tsv', 'csv', 'ndjson', 'table'])('works with lookup as %s', async (format) => {
    const { service_id: id } = RESTAURANT;
    const basic = await both('lookup', id, '--format', format);
    expect(basic).toContain('Macarons.');
    expect(basic).not.toContain('Ispahan');
    const premium = await both('lookup', id, '--fields', 'premium', '--format', format);
    expect(premium).toContain('Ispahan');
    if (format === 'json') expect([basic, premium].map((text) => JSON.parse(text))).toEqual([DETAILS, RICH]);
  });

  it('works with call, raw and the check of login', async () => {
    const called = await both('call', 'find_restaurant', 'name=x', 'city=y', '--json');
    expect(JSON.parse(called).total_matches).toBe(1);
    const params = '{"name":"lookup_restaurant","arguments":{"restaurant_id":"x"}}';
    expect(JSON.parse(await both('raw', 'tools/call', params)).result.content).toHaveLength(1);
    expect(JSON.parse(await both('raw', 'tools/call', params, '--unwrap'))).toEqual(DETAILS);
    form = 'json';
    expect(JSON.parse((await run('status', '--check', '--json')).stdout).check.ok).toBe(true);
  });

  it('receives one documented request per command and no others', async () => {
    for (const each of ['json', 'sse'] as const) {
      form = each;
      seen.length = 0;
      await run('find', 'Ladurée', '--city', 'Paris');
      await run('lookup', RESTAURANT.service_id);
      await run('lookup', RESTAURANT.service_id, '--fields', 'standard');
      const call = (name: string, args: object) => ({
        jsonrpc: '2.0',
        id: 0,
        method: 'tools/call',
        params: { name, arguments: args },
      });
      const { service_id: id } = RESTAURANT;
      expect(seen.map(({ body }) => ({ ...body, id: 0 }))).toEqual([
        call('find_restaurant', { name: 'Ladurée', city: 'Paris' }),
        call('lookup_restaurant', { restaurant_id: id }),
        call('lookup_restaurant', { restaurant_id: id, fields: 'standard' }),
      ]);
      for (const { headers, body } of seen) {
        expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' });
        expect(headers.accept).toMatch(/application\/json.*text\/event-stream/);
        expect(Number.isSafeInteger(body.id)).toBe(true);
      }
    }
  });

  it('makes the program report a rejected key as unauthorized', async () => {
    const env = { ...own, RESTAURANT_API_KEY: 'sk_service_wrong_one' };
    const words = ['find', 'x', '--city', 'y', '--base-url', server.origin, '--json'];
    const { exit, stderr } = await runCli(words, { env });
    expect([exit, JSON.parse(stderr).error.code]).toEqual([4, 'unauthorized']);
  });
});

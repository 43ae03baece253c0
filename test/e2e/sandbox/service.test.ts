import { describe, expect, it } from 'vitest';
import { outputOf, post, sandboxes, toolCall, useTool } from './http.ts';

const start = sandboxes();
const NOPA = 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53';

describe('the response envelope', () => {
  it('is JSON-RPC with one text block of JSON, and repeats the id', async () => {
    const sandbox = await start();
    const reply = await post(
      sandbox,
      toolCall('find_restaurant', { name: 'Nopa', city: 'San Francisco' }, 4711),
    );
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('application/json');
    const envelope = JSON.parse(reply.text);
    expect(Object.keys(envelope)).toEqual(['jsonrpc', 'id', 'result']);
    expect(envelope).toMatchObject({ jsonrpc: '2.0', id: 4711 });
    expect(Object.keys(envelope.result)).toEqual(['content']);
    expect(envelope.result.content).toHaveLength(1);
    expect(envelope.result.content[0].type).toBe('text');
    expect(JSON.parse(envelope.result.content[0].text).status).toBe('ok');
  });

  it('is one server-sent event with --reply sse', async () => {
    const json = await post(await start(), toolCall('find_restaurant', { name: 'Nopa', city: 'SF' }));
    const sse = await post(
      await start({ reply: 'sse' }),
      toolCall('find_restaurant', { name: 'Nopa', city: 'SF' }),
    );
    expect(sse.headers['content-type']).toBe('text/event-stream');
    expect(sse.text).toBe(`event: message\ndata: ${json.text}\n\n`);
  });
});

describe('find_restaurant', () => {
  it('returns the documented example with every documented field', async () => {
    const { output, isError } = await useTool(await start(), 'find_restaurant', {
      name: 'Nopa',
      city: 'San Francisco',
    });
    expect(isError).toBe(false);
    expect(Object.keys(output)).toEqual(['status', 'results', 'total_matches']);
    const results = output.results as Record<string, unknown>[];
    expect(results[0]).toEqual({
      service_id: NOPA,
      name: 'Nopa',
      address: '560 Divisadero St, San Francisco, CA 94117',
      coordinates: { lat: 37.7749, lng: -122.4376 },
      city: 'San Francisco',
      neighborhood: 'NoPa',
      cuisine_tags: ['californian'],
      grade: 'A',
      coverage_level: 'full',
    });
    expect(results.map((restaurant) => restaurant.name)).toEqual(['Nopa', 'Nopa Corner', 'Nopalina Kitchen']);
    expect(output.total_matches).toBe(3);
  });

  it.each([
    ['an unknown city', { name: 'Nopa', city: 'Atlantis' }],
    ['an unknown name', { name: 'zzzzz', city: 'SF' }],
    ['a name of another city', { name: 'Nopa', city: 'Tokyo' }],
  ])('succeeds without results for %s', async (_, args) => {
    const { output, isError } = await useTool(await start(), 'find_restaurant', args);
    expect(output).toEqual({ status: 'ok', results: [], total_matches: 0 });
    expect(isError).toBe(false);
  });

  it('returns at most 50 results and counts them all', async () => {
    const restaurants = Array.from({ length: 60 }, (_, index) => ({
      service_id: `id-${index}`,
      name: `Diner ${index}`,
      city: 'Springfield',
    }));
    const { output } = await useTool(await start({ restaurants }), 'find_restaurant', {
      name: 'diner',
      city: 'springfield',
    });
    expect(output.results).toHaveLength(50);
    expect(output.total_matches).toBe(60);
  });
});

describe('lookup_restaurant', () => {
  it('returns the basic level without fields', async () => {
    const { output } = await useTool(await start(), 'lookup_restaurant', { restaurant_id: NOPA });
    expect(Object.keys(output)).toEqual([
      'status',
      'service_id',
      'name',
      'grade',
      'tldr',
      'cuisine',
      'price_level',
    ]);
    expect(output).toMatchObject({ status: 'ok', service_id: NOPA, name: 'Nopa', grade: 'A' });
  });

  it('returns richer levels for the paid key, each with the fields of the one below', async () => {
    const sandbox = await start();
    const at = async (fields?: string) => {
      const args = { restaurant_id: NOPA, ...(fields === undefined ? {} : { fields }) };
      return (await useTool(sandbox, 'lookup_restaurant', args, sandbox.keys.paid)).output;
    };
    const [basic, standard, premium] = [await at(), await at('standard'), await at('premium')];
    expect(standard).toMatchObject(basic);
    expect(premium).toMatchObject(standard);
    expect(Object.keys(standard).length).toBeGreaterThan(Object.keys(basic).length);
    expect(Object.keys(premium).length).toBeGreaterThan(Object.keys(standard).length);
    expect(await at('premium')).toEqual(premium);
  });

  it.each(['standard', 'premium'])('rejects %s for the free key, as a tool error', async (fields) => {
    const { output, isError } = await useTool(await start(), 'lookup_restaurant', {
      restaurant_id: NOPA,
      fields,
    });
    expect(isError).toBe(true);
    expect(output.status).toBe('plan_required');
  });

  it('allows every level when no key is required', async () => {
    const sandbox = await start({ auth: false });
    const reply = await post(
      sandbox,
      toolCall('lookup_restaurant', { restaurant_id: NOPA, fields: 'premium' }),
      {
        authorization: '',
      },
    );
    expect(outputOf(reply).output.status).toBe('ok');
  });

  it('returns not_found for an unknown id, as a tool error', async () => {
    const { output, isError } = await useTool(await start(), 'lookup_restaurant', { restaurant_id: 'nope' });
    expect(isError).toBe(true);
    expect(output.status).toBe('not_found');
  });
});

describe('invalid requests', () => {
  it.each([
    ['find_restaurant', { city: 'SF' }, 'name'],
    ['find_restaurant', { name: 'Nopa' }, 'city'],
    ['find_restaurant', { name: 7, city: 'SF' }, 'name'],
    ['find_restaurant', { name: 'Nopa', city: null }, 'city'],
    ['find_restaurant', { name: ' ', city: 'SF' }, 'name'],
    ['find_restaurant', { name: 'Nopa', city: '' }, 'city'],
    ['find_restaurant', undefined, 'arguments'],
    ['find_restaurant', ['Nopa', 'SF'], 'arguments'],
    ['lookup_restaurant', {}, 'restaurant_id'],
    ['lookup_restaurant', { restaurant_id: NOPA, fields: 'basic' }, 'fields'],
    ['lookup_restaurant', { restaurant_id: NOPA, fields: 'PREMIUM' }, 'fields'],
    ['lookup_restaurant', { restaurant_id: NOPA, fields: null }, 'fields'],
  ])('%s with %j names the argument %s', async (tool, args, argument) => {
    const sandbox = await start();
    const reply = await post(sandbox, toolCall(tool, args), { authorization: `Bearer ${sandbox.keys.paid}` });
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text)).toMatchObject({ id: 1, error: { code: -32602, data: { argument } } });
  });

  it.each([
    ['an unknown tool', { name: 'cook_dinner', arguments: {} }],
    ['no tool', { arguments: {} }],
    ['no params', undefined],
    ['a list of params', ['find_restaurant', {}]],
  ])('%s is -32602 with data', async (_, params) => {
    const reply = await post(await start(), { jsonrpc: '2.0', id: 3, method: 'tools/call', params });
    const { error, id } = JSON.parse(reply.text);
    expect([reply.status, id, error.code]).toEqual([200, 3, -32602]);
    expect(error.data).toBeTypeOf('object');
  });

  it.each(['initialize', 'ping', 'tools/list', 'server/discover'])('%s is -32601', async (method) => {
    const reply = await post(await start(), { jsonrpc: '2.0', id: 3, method, params: {} });
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text)).toMatchObject({ id: 3, error: { code: -32601 } });
  });

  it('a notification gets no response', async () => {
    const reply = await post(await start(), { jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([reply.status, reply.text]).toEqual([202, '']);
  });

  it.each(['', '{', 'null x', '{"jsonrpc":"2.0",}', '[1,2'])('%j is not JSON', async (body) => {
    const reply = await post(await start(), body);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text)).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32700 } });
  });

  it.each([
    [null],
    [[toolCall('find_restaurant', { name: 'Nopa', city: 'SF' })]],
    [{ id: 1, method: 'tools/call' }],
    [{ jsonrpc: '1.0', id: 1, method: 'tools/call' }],
    [{ jsonrpc: '2.0', id: 1 }],
    [{ jsonrpc: '2.0', id: 1, method: 7 }],
    [{ jsonrpc: '2.0', id: null, method: 'tools/call' }],
    [{ jsonrpc: '2.0', id: 1.5, method: 'tools/call' }],
    [{ jsonrpc: '2.0', id: '1', method: 'tools/call' }],
    [{ jsonrpc: '2.0', method: 'tools/call', params: {} }],
    [{ jsonrpc: '2.0', id: 1, method: 'tools/call', params: 'x' }],
    [{ jsonrpc: '2.0', id: 1, result: {} }],
  ])('%j is not a request', async (body) => {
    const reply = await post(await start(), body);
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.text).error.code).toBe(-32600);
  });

  it('continues after a body with 200,000 levels', async () => {
    const sandbox = await start();
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    const reply = await post(
      sandbox,
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_restaurant","arguments":${deep}}}`,
    );
    expect(JSON.parse(reply.text).error.code).toBe(-32602);
  });
});

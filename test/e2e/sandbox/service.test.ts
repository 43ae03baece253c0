import { describe, expect, it } from 'vitest';
import { NOPA as FIND, NOPA_ID, outputOf, post, start, toolCall, useTool } from './http.ts';

const SEARCH = { name: 'Nopa', city: 'San Francisco' };

describe('the response envelope', () => {
  it('is JSON-RPC with one text block of JSON, and repeats the id', async () => {
    const reply = await post(await start(), toolCall('find_restaurant', SEARCH, 4711));
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json']);
    const { result, ...envelope } = JSON.parse(reply.text);
    expect(envelope).toEqual({ jsonrpc: '2.0', id: 4711 });
    expect(result).toEqual({ content: [{ type: 'text', text: expect.any(String) }] });
    expect(JSON.parse(result.content[0].text).status).toBe('ok');
  });

  it('is one server-sent event with --reply sse', async () => {
    const json = await post(await start(), FIND);
    const sse = await post(await start({ reply: 'sse' }), FIND);
    expect(sse.headers['content-type']).toBe('text/event-stream');
    expect(sse.text).toBe(`event: message\ndata: ${json.text}\n\n`);
  });
});

describe('find_restaurant', () => {
  it('returns the documented example with every documented field', async () => {
    const { output, isError } = await useTool(await start(), 'find_restaurant', SEARCH);
    expect(isError).toBe(false);
    expect(Object.keys(output)).toEqual(['status', 'results', 'total_matches']);
    const results = output.results as Record<string, unknown>[];
    expect(results[0]).toEqual({
      service_id: NOPA_ID,
      name: 'Nopa',
      address: '560 Divisadero St, San Francisco, CA 94117',
      coordinates: { lat: 37.7749, lng: -122.4376 },
      city: 'San Francisco',
      neighborhood: 'NoPa',
      cuisine_tags: ['californian'],
      grade: 'A',
      coverage_level: 'full',
    });
    expect(results.map(({ name }) => name)).toEqual(['Nopa', 'Nopa Corner', 'Nopalina Kitchen']);
    expect(output.total_matches).toBe(3);
  });

  it.each([
    ['an unknown city', { name: 'Nopa', city: 'Atlantis' }],
    ['an unknown name', { name: 'zzzzz', city: 'SF' }],
    ['a name of another city', { name: 'Nopa', city: 'Tokyo' }],
  ])('succeeds without results for %s', async (_, args) => {
    expect(await useTool(await start(), 'find_restaurant', args)).toEqual({
      output: { status: 'ok', results: [], total_matches: 0 },
      isError: false,
    });
  });

  it('returns at most 50 results and counts them all', async () => {
    const restaurants = Array.from({ length: 60 }, (_, index) => ({
      service_id: `id-${index}`,
      name: `Diner ${index}`,
      city: 'Springfield',
    }));
    const args = { name: 'diner', city: 'springfield' };
    const { output } = await useTool(await start({ restaurants }), 'find_restaurant', args);
    expect(output.results).toHaveLength(50);
    expect(output.total_matches).toBe(60);
  });
});

describe('lookup_restaurant', () => {
  it('returns richer levels for the paid key, each with the fields of the one below', async () => {
    const sandbox = await start();
    const at = async (fields?: string) => {
      const args = { restaurant_id: NOPA_ID, ...(fields === undefined ? {} : { fields }) };
      return (await useTool(sandbox, 'lookup_restaurant', args, sandbox.keys.paid)).output;
    };
    const [basic, standard, premium] = [await at(), await at('standard'), await at('premium')];
    const fields = ['status', 'service_id', 'name', 'grade', 'tldr', 'cuisine', 'price_level'];
    expect(Object.keys(basic)).toEqual(fields);
    expect(basic).toMatchObject({ status: 'ok', service_id: NOPA_ID, name: 'Nopa', grade: 'A' });
    expect(standard).toMatchObject(basic);
    expect(premium).toMatchObject(standard);
    expect(Object.keys(standard).length).toBeGreaterThan(fields.length);
    expect(Object.keys(premium).length).toBeGreaterThan(Object.keys(standard).length);
    expect(await at('premium')).toEqual(premium);
  });

  it.each([
    ['plan_required', 'standard fields with the free key', { restaurant_id: NOPA_ID, fields: 'standard' }],
    ['plan_required', 'premium fields with the free key', { restaurant_id: NOPA_ID, fields: 'premium' }],
    ['not_found', 'an unknown id', { restaurant_id: 'nope' }],
  ])('returns the tool error %s for %s', async (status, _, args) => {
    expect(await useTool(await start(), 'lookup_restaurant', args)).toMatchObject({
      output: { status },
      isError: true,
    });
  });

  it('allows every level when no key is required', async () => {
    const call = toolCall('lookup_restaurant', { restaurant_id: NOPA_ID, fields: 'premium' });
    const reply = await post(await start({ auth: false }), call, { authorization: '' });
    expect(outputOf(reply).output.status).toBe('ok');
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
    ['lookup_restaurant', { restaurant_id: NOPA_ID, fields: 'basic' }, 'fields'],
    ['lookup_restaurant', { restaurant_id: NOPA_ID, fields: 'PREMIUM' }, 'fields'],
    ['lookup_restaurant', { restaurant_id: NOPA_ID, fields: null }, 'fields'],
  ])('%s with %j names the argument %s', async (tool, args, argument) => {
    const sandbox = await start();
    const reply = await post(sandbox, toolCall(tool, args), { authorization: `Bearer ${sandbox.keys.paid}` });
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.text)).toMatchObject({ id: 1, error: { code: -32602, data: { argument } } });
  });

  // Status, code of the error, and body; CALL is the beginning of a call, FIND a whole one.
  const rejected = `
200 -32602 CALL,"params":{"name":"cook_dinner","arguments":{}}}
200 -32602 CALL,"params":{"arguments":{}}}
200 -32602 CALL}
200 -32602 CALL,"params":["find_restaurant",{}]}
200 -32602 CALL,"params":{"name":"find_restaurant","arguments":DEEP}}
200 -32601 {"jsonrpc":"2.0","id":3,"method":"initialize","params":{}}
200 -32601 {"jsonrpc":"2.0","id":3,"method":"ping","params":{}}
200 -32601 {"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}
200 -32601 {"jsonrpc":"2.0","id":3,"method":"server/discover","params":{}}
400 -32700 NOTHING
400 -32700 {
400 -32700 null x
400 -32700 {"jsonrpc":"2.0",}
400 -32700 [1,2
400 -32600 null
400 -32600 [FIND]
400 -32600 {"id":1,"method":"tools/call"}
400 -32600 {"jsonrpc":"1.0","id":1,"method":"tools/call"}
400 -32600 {"jsonrpc":"2.0","id":1}
400 -32600 {"jsonrpc":"2.0","id":1,"method":7}
400 -32600 {"jsonrpc":"2.0","id":null,"method":"tools/call"}
400 -32600 {"jsonrpc":"2.0","id":1.5,"method":"tools/call"}
400 -32600 {"jsonrpc":"2.0","id":"1","method":"tools/call"}
400 -32600 {"jsonrpc":"2.0","method":"tools/call","params":{}}
400 -32600 CALL,"params":"x"}
400 -32600 {"jsonrpc":"2.0","id":1,"result":{}}`;
  const parts: Readonly<Record<string, string>> = {
    CALL: '{"jsonrpc":"2.0","id":3,"method":"tools/call"',
    DEEP: '['.repeat(200_000) + ']'.repeat(200_000),
    FIND: JSON.stringify(FIND),
    NOTHING: '',
  };
  const rows = rejected.trim().split('\n');
  it.each(rows.map((row) => /^(\d+) (\S+) (.*)$/.exec(row)?.slice(1) ?? []))(
    'get %s with %s: %s',
    async (status, code, text = '') => {
      const body = text.replace(/[A-Z]{4,}/g, (name) => parts[name] ?? name);
      const reply = await post(await start(), body);
      const { jsonrpc, id, error } = JSON.parse(reply.text);
      expect([reply.status, jsonrpc, error.code]).toEqual([Number(status), '2.0', Number(code)]);
      if (status === '200') expect(id).toBe(3);
      if (code === '-32700') expect(id).toBeNull();
      if (code === '-32602') expect(error.data).toBeTypeOf('object');
    },
  );

  it('get nothing if they are notifications', async () => {
    const reply = await post(await start(), { jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([reply.status, reply.text]).toEqual([202, '']);
  });
});

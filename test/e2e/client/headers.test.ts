import { describe, expect, it } from 'vitest';
import { parseHeaders } from '../../../src/client/http/headers.ts';
import { createClient } from '../../../src/client/restaurant.ts';
import { failure } from '../../helpers/client.ts';
import { FIND, scripted, status } from '../../helpers/script.ts';

const QUERY = { name: 'Nopa', city: 'SF' };
const SECRET = 'abcdefgh-secret';
const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
  baggage: 'user=7',
};

describe('parseHeaders', () => {
  it('parses names and values', () => {
    expect(parseHeaders(['X-Api-Key: a:b', 'x-empty:', '__proto__: y'])).toEqual(
      Object.fromEntries([
        ['X-Api-Key', 'a:b'],
        ['x-empty', ''],
        ['__proto__', 'y'],
      ]),
    );
  });

  it.each([
    '',
    'secret',
    ': secret',
    'a b: secret',
    'Authorization: secret',
    'Host: secret',
    'x: secret\nb: c',
    'x: secret\u2014',
  ])('rejects %j without repeating the value', (line) => {
    expect(() => parseHeaders([line])).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.not.stringContaining('secret') }),
    );
  });
});

describe('additional headers', () => {
  it('are sent with every request and hidden in traces and errors', async () => {
    const traced: string[] = [];
    const sent = { 'x-api-key': SECRET, 'x-request-id': 'visible' };
    const { client } = await scripted([['tools/call', status(403, {}, `bad key ${SECRET}`), sent]], {
      headers: JSON.parse(`{"X-Api-Key":"${SECRET}","X-Request-Id":"visible","__proto__":"own"}`),
      trace: (event) => traced.push(JSON.stringify(event)),
    });
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'forbidden' });
    expect(error.message + traced).not.toContain(SECRET);
    expect(traced.join()).toContain('visible');
  });

  it('replace headers of the program in any case', async () => {
    const { client } = await scripted([['tools/call', FIND[1], { 'user-agent': 'mine' }]], {
      headers: { 'user-agent': 'mine' },
    });
    await client.find(QUERY);
  });

  it('cannot have a value that HTTP cannot carry, such as half of a surrogate pair', () => {
    const options = { endpoint: 'http://127.0.0.1', headers: { 'x-api-key': '\ud800abcdefgh' } };
    const refusal = { code: 'usage', details: { reason: 'invalid_header' } };
    expect(() => createClient(options)).toThrow(expect.objectContaining(refusal));
  });

  it('are not sent over plain HTTP to a remote host', () => {
    const options = { endpoint: 'http://service.example/', headers: { 'x-api-key': 'k' } };
    expect(() => createClient(options)).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(() => createClient({ ...options, headers: { 'X-Request-Id': '1' } })).not.toThrow();
    expect(() => createClient({ ...options, headers: {} })).not.toThrow();
  });
});

describe('a trace context', () => {
  it.each(['bare', '2026-07-28'] as const)('is sent as headers and as _meta (%s)', async (protocol) => {
    const options = { protocol, traceContext: TRACE };
    const { client, requests } = await scripted([['tools/call', FIND[1], TRACE]], options);
    await client.find(QUERY);
    expect(requests[0]?.params._meta).toMatchObject(TRACE);
  });

  it('of a request takes precedence', async () => {
    const own = { traceparent: TRACE.traceparent.replace('0af7', '1bf7'), other: 1 };
    const sent = { traceparent: own.traceparent, baggage: undefined };
    const { client, requests } = await scripted([['tools/call', FIND[1], sent]], { traceContext: TRACE });
    await client.request('tools/call', { name: 't', _meta: own });
    expect(requests[0]?.params._meta).toEqual(own);
  });

  it('in headers replaces that of the environment as a whole', async () => {
    const Traceparent = TRACE.traceparent.replace('0af7', '1bf7');
    const sent = { traceparent: Traceparent, tracestate: undefined, baggage: undefined };
    const options = { headers: { Traceparent }, traceContext: TRACE };
    const { client, requests } = await scripted([['tools/call', FIND[1], sent]], options);
    await client.find(QUERY);
    expect(requests[0]?.params._meta).toEqual({ traceparent: Traceparent });
  });

  it.each([
    { traceparent: 'x' },
    { traceparent: `ff${TRACE.traceparent.slice(2)}` },
    { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, tracestate: 'a=b' },
    { tracestate: 'a=b' },
    { baggage: 'a\r\nb' },
    {},
  ])('that is not valid is left out: %j', async (traceContext) => {
    const none = { traceparent: undefined, tracestate: undefined, baggage: undefined };
    const { client, requests } = await scripted([['tools/call', FIND[1], none]], { traceContext });
    await client.find(QUERY);
    expect(requests[0]?.params).not.toHaveProperty('_meta');
  });
});

import { describe, expect, it } from 'vitest';
import { parseHeaders } from '../../../src/client/http/headers.ts';
import type { TraceEvent } from '../../../src/client/http/transport.ts';
import { createClient } from '../../../src/client/restaurant.ts';
import { clientFor, FOUND, failure, idOf, sendJson, serve, toolReply } from '../../helpers/client.ts';

const QUERY = { name: 'Nopa', city: 'SF' };
const SECRET = 'abcdefgh-secret';
const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
  baggage: 'user=7',
};
const found = () => serve((request, response) => sendJson(response, toolReply(idOf(request.body), FOUND)));

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
    const { url, requests } = await serve((request, response, count) =>
      count === 0
        ? sendJson(response, toolReply(idOf(request.body), FOUND))
        : response.writeHead(403).end(`bad key ${SECRET}`),
    );
    const events: TraceEvent[] = [];
    const headers = { 'X-Api-Key': SECRET, 'X-Request-Id': 'visible', __proto__: 'own' };
    const { client } = clientFor(url, {
      headers: Object.fromEntries(Object.entries(headers)),
      trace: (event) => events.push(event),
    });
    await client.find(QUERY);
    expect(requests[0]?.headers).toMatchObject({ 'x-api-key': SECRET, 'x-request-id': 'visible' });
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'forbidden' });
    expect(error.message + JSON.stringify(events)).not.toContain(SECRET);
    expect(JSON.stringify(events)).toContain('visible');
  });

  it('replace headers of the program in any case', async () => {
    const { url, requests } = await found();
    await clientFor(url, { headers: { 'user-agent': 'mine' } }).client.find(QUERY);
    expect(requests[0]?.headers['user-agent']).toBe('mine');
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
    const { url, requests } = await found();
    await clientFor(url, { protocol, traceContext: TRACE }).client.find(QUERY);
    expect(requests[0]?.headers).toMatchObject(TRACE);
    expect(JSON.parse(requests[0]?.body ?? '').params._meta).toMatchObject(TRACE);
  });

  it('of a request takes precedence', async () => {
    const { url, requests } = await found();
    const own = { traceparent: TRACE.traceparent.replace('0af7', '1bf7'), other: 1 };
    await clientFor(url, { traceContext: TRACE }).client.request('tools/call', { name: 't', _meta: own });
    expect(JSON.parse(requests[0]?.body ?? '').params._meta).toEqual(own);
    expect(requests[0]?.headers).toMatchObject({ traceparent: own.traceparent });
    expect(requests[0]?.headers).not.toHaveProperty('baggage');
  });

  it.each([
    { traceparent: 'x' },
    { traceparent: `ff${TRACE.traceparent.slice(2)}` },
    { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, tracestate: 'a=b' },
    { tracestate: 'a=b' },
    { baggage: 'a\r\nb' },
    {},
  ])('that is not valid is left out: %j', async (traceContext) => {
    const { url, requests } = await found();
    await clientFor(url, { traceContext }).client.find(QUERY);
    expect(JSON.parse(requests[0]?.body ?? '').params).not.toHaveProperty('_meta');
    for (const name of Object.keys(TRACE)) expect(requests[0]?.headers).not.toHaveProperty(name);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { curlCommand, previewRequest } from '../../../src/client/preview.ts';
import { KEY } from '../../helpers/client.ts';
import { FIND, scripted } from '../../helpers/script.ts';

const TRACE = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'vendor=1',
};
const PARAMS = {
  name: 'find_restaurant',
  arguments: { name: 'L\'Ami "Jean" $HOME `x` \\n', city: 'Zürich\n' },
};

describe('previewRequest', () => {
  it.each([
    ['bare', { 'X-Request-Id': 'b', 'X-Api-Key': 'secret' }],
    ['2026-07-28', {}],
    ['bare', { Traceparent: TRACE.traceparent.replace('0af7', '1bf7') }],
    ['bare', { traceparent: 'mine' }],
    ['2026-07-28', { tracestate: 'own', 'mcp-method': 'own', 'user-agent': 'own' }],
  ] as const)(
    'equals the request that the client sends (%s, %j), except for secrets',
    async (protocol, headers) => {
      const options = { protocol, headers, traceContext: TRACE };
      const { client, requests, url } = await scripted([FIND], options);
      await client.request('tools/call', PARAMS);
      const request = { endpoint: url, key: KEY, method: 'tools/call', params: PARAMS, ...options };
      const { body, headers: shown, ...preview } = previewRequest(request);
      expect(JSON.stringify(body)).toBe(requests[0]?.text);
      expect(preview).toEqual({ method: 'POST', url: url.href });
      const sent = Object.keys(shown).map((name) => [name, requests[0]?.headers[name.toLowerCase()]]);
      const secrets = {
        Authorization: 'Bearer sk_service_…cdef',
        ...('X-Api-Key' in headers && { 'X-Api-Key': '…' }),
      };
      expect(shown).toEqual({ ...Object.fromEntries(sent), ...secrets });
    },
  );

  it('has no Authorization without a key', () => {
    const preview = previewRequest({ endpoint: new URL('http://h'), method: 'x' });
    expect(preview.headers).not.toHaveProperty('Authorization');
    expect(preview.body).toEqual({ jsonrpc: '2.0', id: 1, method: 'x' });
  });

  it.each([
    ['acme-9f8a7b6c5d4e3f2a', '…3f2a'],
    ['sk_service_ab', 'sk_service_…'],
  ])('shows %s as %s', (key, shown) => {
    const { headers } = previewRequest({ endpoint: new URL('http://h'), key, method: 'x' });
    expect(headers.Authorization).toBe(`Bearer ${shown}`);
  });
});

describe('curlCommand', () => {
  it('prints control characters as JSON escapes', () => {
    const params = { id: '\u009b31m\u009d\u202e\u200b' };
    const command = curlCommand(previewRequest({ endpoint: new URL('http://h'), method: 'x', params }));
    expect(command).toContain(String.raw`"\u009b31m\u009d\u202e\u200b"`);
    expect(command).toMatch(/^[ -~…]*$/);
  });

  it('quotes everything for the shell', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        const preview = previewRequest({ endpoint: new URL('http://h'), method: name });
        const command = curlCommand(preview);
        // Nothing outside of quotes is special to a shell.
        expect(command.replace(/'(?:[^']|'\\'')*'/g, '')).toMatch(/^[\w .-]*$/);
      }),
    );
  });
});

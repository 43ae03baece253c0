import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { curlCommand, previewRequest } from '../../../src/client/preview.ts';
import { clientFor, FOUND, idOf, KEY, sendJson, serve, toolReply } from '../../helpers/client.ts';

const PARAMS = {
  name: 'find_restaurant',
  arguments: { name: 'L\'Ami "Jean" $HOME `x` \\n', city: 'Zürich\n' },
};

describe('previewRequest', () => {
  it('equals the request that the client sends, except for the key', async () => {
    const { url, requests } = await serve((request, response) =>
      sendJson(response, toolReply(idOf(request.body), FOUND)),
    );
    await clientFor(url).client.request('tools/call', PARAMS, {
      headers: { 'X-Request-Id': 'b', 'X-Api-Key': 'secret' },
    });
    const preview = previewRequest({
      endpoint: url,
      key: KEY,
      method: 'tools/call',
      params: PARAMS,
      headers: { 'X-Request-Id': 'b', 'X-Api-Key': 'secret' },
    });
    expect(JSON.stringify(preview.body)).toBe(requests[0]?.body);
    expect(preview).toMatchObject({ method: 'POST', url: url.href });
    for (const [name, value] of Object.entries(preview.headers)) {
      if (name === 'X-Api-Key') expect(value).toBe('…');
      else if (name !== 'Authorization') expect(requests[0]?.headers[name.toLowerCase()]).toBe(value);
    }
    expect(preview.headers.Authorization).toBe('Bearer sk_service_…cdef');
  });

  it('equals the request of 2026-07-28 with that protocol', async () => {
    const { url, requests } = await serve((request, response) =>
      sendJson(response, toolReply(idOf(request.body), FOUND)),
    );
    const protocol = '2026-07-28';
    await clientFor(url, { protocol }).client.request('tools/call', PARAMS);
    const preview = previewRequest({
      endpoint: url,
      method: 'tools/call',
      params: PARAMS,
      protocol,
    });
    expect(JSON.stringify(preview.body)).toBe(requests[0]?.body);
    for (const [name, value] of Object.entries(preview.headers)) {
      expect(requests[0]?.headers[name.toLowerCase()]).toBe(value);
    }
  });

  it('has no Authorization without a key', () => {
    const preview = previewRequest({ endpoint: new URL('http://h'), method: 'x' });
    expect(preview.headers).not.toHaveProperty('Authorization');
    expect(preview.body).toEqual({ jsonrpc: '2.0', id: 1, method: 'x' });
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

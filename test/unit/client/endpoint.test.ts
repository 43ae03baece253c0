import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import {
  assertMayCarryKey,
  endpointFromBase,
  isLoopback,
  parseEndpoint,
} from '../../../src/client/endpoint.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { errorOf } from '../../helpers/files.ts';

describe('endpointFromBase', () => {
  it.each([
    ['https://h', 'https://h/api/mcp'],
    [' https://h/ ', 'https://h/api/mcp'],
    ['https://h//', 'https://h/api/mcp'],
    ['https://h/v1/', 'https://h/v1/api/mcp'],
    ['https://h/api/mcp', 'https://h/api/mcp'],
    ['https://h/api/mcp/', 'https://h/api/mcp'],
    ['https://h/api', 'https://h/api/api/mcp'],
    ['HTTP://LOCALHOST:80', 'http://localhost/api/mcp'],
    ['http://[::1]:8080', 'http://[::1]:8080/api/mcp'],
    ['https://bücher.example', 'https://xn--bcher-kva.example/api/mcp'],
    ['localhost:8080', 'http://localhost:8080/api/mcp'],
    ['127.0.0.1:1/x', 'http://127.0.0.1:1/x/api/mcp'],
    ['//h', 'https://h/api/mcp'],
    ['h', 'https://h/api/mcp'],
    ['api.example.com:8443', 'https://api.example.com:8443/api/mcp'],
  ])('%s is %s', (base, endpoint) => {
    expect(endpointFromBase(base).href).toBe(endpoint);
  });

  it.each([
    ['https://h/#x', 'https://h/'],
    ['https://user:secret@h', 'https://h'],
  ])('rejects %s and suggests %s', (base, proposal) => {
    expect(() => endpointFromBase(base)).toThrow(
      expect.objectContaining({
        code: 'usage',
        details: { reason: 'invalid_url', option: 'baseUrl', url: proposal },
      }),
    );
  });

  it.each([
    '',
    ' ',
    'ftp://h',
    'file:///x',
    'javascript:alert(1)',
    'https://h:99999',
    'https://',
    'https://a b',
    'http://h\t/',
    'https://h?x=1',
    'https://h?',
    'https://h#',
  ])('rejects %j', (base) => {
    expect(() => endpointFromBase(base)).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it('repeats neither a password nor a key', () => {
    for (const url of ['ftp://user:secret1@h', 'h/sk_service_secret12345', 'https://user:secret1@h']) {
      const error = errorOf(() => endpointFromBase(url));
      expect(`${error.message} ${hintText(hintFor(error))}`).not.toMatch(/secret1/);
    }
  });
});

it('accepts an exact endpoint with a query and any path', () => {
  expect(parseEndpoint('https://h/x?a=b').href).toBe('https://h/x?a=b');
  expect(parseEndpoint('h/x').href).toBe('https://h/x');
});

describe('the key', () => {
  it.each([
    ['http://localhost', true],
    ['http://127.8.9.1:80', true],
    ['http://127.1', true],
    ['http://[::1]', true],
    ['http://localhost.evil.example', false],
    ['http://127.0.0.1.evil.example', false],
    ['http://10.0.0.1', false],
    ['http://0.0.0.0', false],
  ])('%s is this machine: %s', (text, here) => {
    const url = new URL(text);
    expect(isLoopback(url)).toBe(here);
    if (here) expect(() => assertMayCarryKey(url, false)).not.toThrow();
    else expect(() => assertMayCarryKey(url, false)).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(() => assertMayCarryKey(url, true)).not.toThrow();
  });

  it('is sent over https', () => {
    expect(() => assertMayCarryKey(new URL('https://example.com'), false)).not.toThrow();
  });
});

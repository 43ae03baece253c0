import { describe, expect, it } from 'vitest';
import { headerValue } from '../../../src/client/http/headers.ts';
import { headersOf, paramHeaders } from '../../../src/client/mcp/param-headers.ts';

const read = (inputSchema: Record<string, unknown>) => paramHeaders({ name: 't', inputSchema });
const at = (name: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': name });

describe('paramHeaders', () => {
  it('finds annotations reached through properties', () => {
    const schema = {
      type: 'object',
      properties: {
        region: at('Region'),
        limit: at('Limit', 'integer'),
        flags: { properties: { dry: at('Dry', ['boolean', 'null']) } },
        'x-mcp-header': { type: 'string' },
        plain: { type: 'string', default: { 'x-mcp-header': 'data' } },
      },
    };
    expect(read(schema)).toEqual([
      { path: ['region'], name: 'Region' },
      { path: ['limit'], name: 'Limit' },
      { path: ['flags', 'dry'], name: 'Dry' },
    ]);
  });

  it.each([
    [{ properties: { a: at('') } }],
    [{ properties: { a: at('a b') } }],
    [{ properties: { a: at('a\r\nb') } }],
    [{ properties: { a: at(3) } }],
    [{ properties: { a: at('A'), b: at('a') } }],
    [{ properties: { a: at('A', 'number') } }],
    [{ properties: { a: at('A', 'object') } }],
    [{ properties: { a: at('A', ['string', 'integer']) } }],
    [{ properties: { a: { 'x-mcp-header': 'A' } } }],
    [{ properties: { a: { type: 'array', items: at('A') } } }],
    [{ properties: { a: { items: { properties: { b: at('B') } } } } }],
    [{ anyOf: [{ properties: { a: at('A') } }] }],
    [{ $defs: { a: at('A') } }],
    [{ additionalProperties: at('A') }],
    [at('Root')],
  ])('rejects %j', (schema) => {
    expect(read(schema)).toBeUndefined();
  });

  it('works without a schema', () => {
    expect(paramHeaders({ name: 't' })).toEqual([]);
  });
});

it('formats values for headers', () => {
  const headers = ['s', 'i', 'b', 'n', 'none', 'f', 'big'].map((name) => ({ path: ['p', name], name }));
  const p = { s: ' x', i: 42, b: false, n: null, f: 1.5, big: 1e21 };
  expect(headersOf(headers, { p })).toEqual({
    'Mcp-Param-s': '=?base64?IHg=?=',
    'Mcp-Param-i': '42',
    'Mcp-Param-b': 'false',
    'Mcp-Param-big': '1000000000000000000000',
  });
  expect(headersOf(headers, undefined)).toEqual({});
});

it.each([
  ['plain text', 'plain text'],
  ['', ''],
  ['x ', '=?base64?eCA=?='],
  ['é', '=?base64?w6k=?='],
  ['a\nb', '=?base64?YQpi?='],
  ['=?base64?eA==?=', `=?base64?${Buffer.from('=?base64?eA==?=').toString('base64')}?=`],
])('%j as a header value', (text, value) => {
  expect(headerValue(text)).toBe(value);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import type { Inputs } from '../../../src/commands/call/arguments.ts';
import { coerceArguments } from '../../../src/commands/call/validate.ts';
import type { Message } from '../../../src/hint.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { failure } from '../../helpers/client.ts';

type Schema = Record<string, unknown>;
const OF = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });

/** Fits texts (and, under `json`, values) to a schema. */
async function fitted(
  inputSchema: Schema,
  texts: Record<string, string>,
  json: Record<string, unknown> = {},
) {
  const inputs: Inputs = new Map<string, { text: string } | { value: unknown }>([
    ...Object.entries(texts).map(([key, text]) => [key, { text }] as const),
    ...Object.entries(json).map(([key, value]) => [key, { value }] as const),
  ]);
  const warnings: string[] = [];
  const warn = async (text: Message) => void warnings.push(String(text));
  const args = await coerceArguments({ notes: { warn } }, inputs, { name: 'tool', inputSchema });
  return { args, warnings };
}

/** One text fitted to the schema of one argument. */
const fitOne = async (schema: Schema, text: string) =>
  (await fitted(OF({ it: schema }), { it: text })).args.it;

const NODE = OF({ next: { $ref: '#/$defs/node' } }, { additionalProperties: false });
const LINKED = OF(
  { n: { $ref: '#/$defs/count' }, tree: { $ref: '#/$defs/node' } },
  { $defs: { count: { type: 'integer' }, node: NODE } },
);
const PAIR = { type: 'array', items: [{ type: 'integer' }, { type: 'string' }] };
const DRAFT_07 = { $schema: 'http://json-schema.org/draft-07/schema#', ...OF({ pair: PAIR }) };

const refusal = (...inputs: Parameters<typeof fitted>) => failure(fitted(...inputs));

describe('coercing texts', () => {
  it.each<[Schema, string, unknown]>([
    [{ type: 'string' }, '3', '3'],
    [{ type: 'integer' }, '3', 3],
    [{ type: 'integer' }, '-3', -3],
    [{ type: 'number' }, '2.5', 2.5],
    [{ type: 'number' }, '1e3', 1000],
    [{ type: 'boolean' }, 'true', true],
    [{ type: ['null', 'string'] }, 'null', null],
    [{ type: ['integer', 'string'] }, '3', 3],
    [{ type: ['integer', 'string'] }, 'x', 'x'],
    [{ type: ['string', 'integer'] }, '3', '3'],
    [{ type: 'array' }, 'a,b', ['a', 'b']],
    [{ type: 'array', items: { type: 'integer' } }, '1, 2,3', [1, 2, 3]],
    [{ type: 'array', items: { type: 'string' } }, '1,2', ['1', '2']],
    [{ type: 'array' }, '', []],
    [{ type: 'array' }, '["a,b",1]', ['a,b', 1]],
    [{ type: 'object' }, '{"a":1}', { a: 1 }],
    [{ type: 'array', items: { type: 'object' } }, '{"a":1}', [{ a: 1 }]],
    [{ type: ['array', 'object'] }, '{"a":1}', { a: 1 }],
    [{ type: 'array', items: { type: ['integer', 'null'] } }, '1,null', [1, null]],
    [{ anyOf: [{ type: 'integer' }, { type: 'null' }] }, '7', 7],
    [{ oneOf: [{ type: 'boolean' }, { type: 'number', minimum: 5 }] }, '7', 7],
    [{ anyOf: [{ type: 'integer', maximum: 5 }, { type: 'string' }] }, '7', '7'],
    [{ allOf: [{ type: 'integer' }, { minimum: 1 }] }, '7', 7],
    [{ enum: [1, 2] }, '2', 2],
    [{ const: true }, 'true', true],
    [{ enum: ['1', 1] }, '1', '1'],
    [{}, '7', '7'],
  ])('%j reads %j as %j', async (schema, text, value) => {
    expect(await fitOne(schema, text)).toEqual(value);
  });

  it.each<[string, Schema, Record<string, string>, Schema]>([
    [
      'references, circular ones too',
      LINKED,
      { n: '3', tree: '{"next":{"next":{}}}' },
      { n: 3, tree: { next: { next: {} } } },
    ],
    ['draft-07 by its own rules', DRAFT_07, { pair: '[1,"a"]' }, { pair: [1, 'a'] }],
    ['no schema', {}, { a: '1' }, { a: '1' }],
    ['no properties', { type: 'object' }, { a: '1' }, { a: '1' }],
    [
      'keywords that are not part of JSON Schema',
      OF({ a: { type: 'string', 'x-mcp-header': 'A', format: 'date', title: 'A' } }),
      { a: 'x' },
      { a: 'x' },
    ],
  ])('accepts %s', async (_what, schema, texts, args) => {
    expect(await fitted(schema, texts)).toEqual({ args, warnings: [] });
  });

  it.each(['19.99', '0.07', '1.13', '4.35', '8.20'])('accepts %s as a multiple of 0.01', async (text) => {
    expect(await fitOne({ type: 'number', multipleOf: 0.01 }, text)).toBe(Number(text));
    await expect(fitOne({ type: 'number', multipleOf: 0.01 }, '0.015')).rejects.toThrow('multiple of 0.01');
  });

  it.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty'])('allows an argument %s', async (name) => {
    const schema = OF({ [name]: { type: 'string' }, v: {} });
    expect((await fitted(schema, { v: 'x' })).args).toEqual({ v: 'x' });
    expect((await fitted(schema, { [name]: 'x' })).args).toEqual({ [name]: 'x' });
    await expect(fitted({ ...schema, required: [name] }, { v: 'x' })).rejects.toThrow(`needs ${name}`);
  });

  it('keeps the digits of a long integer, as text where that is allowed', async () => {
    for (const schema of [{ type: 'integer' }, { type: 'number' }, { anyOf: [{ type: 'integer' }] }])
      expect(await fitOne(schema, '175928847299117063')).toBe(175928847299117063n);
    expect(await fitOne({ type: 'array', items: { type: 'integer' } }, '1,175928847299117063')).toEqual([
      1,
      175928847299117063n,
    ]);
    await expect(fitOne({ type: 'integer', minimum: 1 }, '-175928847299117063')).rejects.toThrow(
      'must be >= 1',
    );
    expect(await fitOne({ type: ['integer', 'string'] }, '175928847299117063')).toBe('175928847299117063');
  });

  it('sends null for an optional argument', async () => {
    expect((await fitted(OF({ n: { type: 'string' } }), {}, { n: null })).args).toEqual({ n: null });
  });

  it('does not split a long text for an argument behind a reference', async () => {
    const it = { anyOf: [{ $ref: '#/$defs/text' }, { type: 'null' }] };
    const text = 'a, b '.repeat(400_000);
    const schema = OF({ it }, { $defs: { text: { type: 'string' } } });
    expect(await fitted(schema, { it: text })).toEqual({ args: { it: text }, warnings: [] });
  });

  it('keeps every number that JSON can represent and rejects others', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true })),
        async (number) => {
          const text = JSON.stringify(number);
          const safe = Number.isSafeInteger(number) || !Number.isInteger(number);
          expect(await fitOne({ type: ['number', 'string'] }, text)).toBe(safe ? Number(text) : text);
        },
      ),
      { numRuns: 50 },
    );
    for (const text of ['', ' 3', '0x10', '1_000', 'Infinity', 'NaN', '.', '007000000000000000000'])
      expect((await refusal(OF({ it: { type: 'number' } }), { it: text })).message).toMatch(
        /expected number|would lose digits/,
      );
  });
});

describe('invalid arguments', () => {
  const at = OF({ at: { type: 'object', required: ['lat'] } });
  const location = OF({ location: {} }, { additionalProperties: false });
  const items = OF({ list: { type: 'array', items: OF({ 'a/b': { type: 'integer' } }) } });
  const city = (schema: Schema) => OF({ city: schema });
  const n = (schema: Schema) => OF({ n: schema });
  const isOneOf = { oneOf: [{ const: 'ny', title: 'New York' }, { const: 'chi' }] };

  it.each<[Schema, string, unknown, string, suggested?: string]>([
    [OF({ a: {}, b: {} }, { required: ['a', 'b'] }), 'c', 1, 'tool needs a and b'],
    [OF({ city: {} }, { required: ['city'] }), 'citty', 'x', 'tool needs city', 'city'],
    [at, 'at', {}, 'tool needs at.lat'],
    [location, 'loaction', 'x', "tool has no argument 'loaction'", 'location'],
    [
      city({ enum: ['New York', 'Chicago'] }),
      'city',
      'Chicgo',
      'city "Chicgo": expected one of New York, Chicago',
      'Chicago',
    ],
    [city(isOneOf), 'city', 'sf', 'city "sf": expected one of ny, chi'],
    [n({ type: 'number' }), 'n', 'x', 'n "x": expected number'],
    // JSON of another type stays as it was typed.
    [n({ type: 'string' }), 'n', 3, 'n 3: expected string'],
    [
      n({ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }),
      'n',
      'x',
      'n "x": expected integer or boolean',
    ],
    [n({ type: 'integer', maximum: 3 }), 'n', '9', 'n 9: must be <= 3'],
    [n({ minLength: 1 }), 'n', '', 'n "": must NOT have fewer than 1 characters'],
    [n({ pattern: '^a+$' }), 'n', 'b', 'n "b": must match pattern "^a+$"'],
    [items, 'list', [{}, { 'a/b': 'x' }], 'list.1.a/b "x": expected integer'],
    [n({ uniqueItems: true }), 'n', [1, 1], 'must NOT have duplicate items'],
    [LINKED, 'tree', '{"next":{"last":1}}', "tool has no argument 'tree.next.last'"],
    [DRAFT_07, 'pair', '["a",1]', 'pair.0 "a": expected integer'],
    [{ ...n({ type: 'string' }), required: ['n'] }, 'n', null, 'n null'],
    // Like any other schema.
    [{ $async: true, ...n({ type: 'integer' }) }, 'n', 'x', 'n "x": expected integer'],
  ])('are rejected by %j: %s=%j', async (schema, name, value, message, suggested) => {
    const isText = typeof value === 'string';
    const error = await refusal(schema, isText ? { [name]: value } : {}, isText ? {} : { [name]: value });
    expect(error.code).toBe('usage');
    expect(error.message).toContain(message);
    const suggestion = suggested === undefined ? '' : `did you mean ${suggested}? `;
    expect(hintText(hintFor(error))).toContain(`${suggestion}restaurant tools tool`);
  });

  it('sends unlisted arguments and suggests the nearest name', async () => {
    const schema = OF({ neighborhood: {}, city: {} });
    const { args, warnings } = await fitted(schema, { neighbourhood: 'x', limit: '3' });
    expect(args).toEqual({ neighbourhood: 'x', limit: '3' });
    expect(warnings).toEqual([
      "'neighbourhood' is not a listed argument of tool; did you mean neighborhood?",
    ]);
  });

  it('reports the position of a JSON error', async () => {
    expect((await refusal(OF({ o: { type: 'object' } }), { o: '{"a":' })).message).toMatch(
      /^o is not valid JSON: line 1/,
    );
  });
});

it.each<[string, Schema]>([
  ['another document', OF({ n: { type: 'integer' }, far: { $ref: 'https://example.com/far.json' } })],
  ['an unknown type', OF({ n: { type: 'integer' }, odd: { type: 'strnig' } })],
  ['a broken pattern', OF({ n: { type: 'integer' }, odd: { pattern: '(' } })],
])(
  'a schema with %s is reported; the arguments are sent, and known ones still coerced',
  async (_name, schema) => {
    const { args, warnings } = await fitted(schema, { n: '3', odd: 'x' });
    expect(args).toEqual({ n: 3, odd: 'x' });
    expect(warnings).toEqual([expect.stringContaining('cannot use the JSON Schema of tool')]);
  },
);

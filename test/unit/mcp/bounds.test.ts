import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bounds, boundError, boundResult } from '../../../src/mcp/bridge/bounds.ts';
import { ProtocolError } from '../../../src/mcp/bridge/protocol.ts';
import { isObject, type JsonObject } from '../../../src/util/json.ts';

const results = Array.from({ length: 10 }, (_, index) => ({
  service_id: `id-${index}`,
  name: 'Nopa',
  grade: 'A',
}));
const found = { status: 'ok', results, total_matches: 10 };

function textsOf(output: unknown, bounds: Bounds): string[] {
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  const result = { content: [{ type: 'text', text }], structuredContent: {} };
  const { content } = boundResult(result, bounds) as { content: { text: string }[] };
  return content.map((block) => block.text);
}

describe('a bounded result', () => {
  it('has the chosen columns of every record', () => {
    const [text = '', ...notes] = textsOf(found, { columns: ['name', 'grade'] });
    expect(JSON.parse(text)).toEqual({
      ...found,
      results: results.map(() => ({ name: 'Nopa', grade: 'A' })),
    });
    expect(notes).toEqual([]);
    expect(textsOf({ name: 'Nopa', hours: 'x', tldr: 'y' }, { columns: ['hours', 'grade'] })).toEqual([
      '{"hours":"x"}',
    ]);
    // A result with none of the columns is another kind of result.
    expect(textsOf({ ok: true }, { columns: ['hours'] })).toEqual(['{"ok":true}']);
  });

  it('is cut after a record, and says so', () => {
    const [text = '', note] = textsOf(found, { maxResults: 3 });
    expect(JSON.parse(text)).toEqual({ ...found, results: results.slice(0, 3) });
    expect(note).toBe('Cut: 3 of 10 records.');
    const [short = '', cut] = textsOf(found, { maxChars: 200 });
    expect(short.length).toBeLessThanOrEqual(200);
    expect(cut).toBe(`Cut: ${JSON.parse(short).results.length} of 10 records.`);
  });

  it('is cut after a line if it is plain text', () => {
    expect(textsOf(`${'a'.repeat(60)}\n${'b'.repeat(60)}`, { maxChars: 100 })).toEqual([
      'a'.repeat(60),
      'Cut: 60 of 121 characters.',
    ]);
  });

  it('is unchanged without bounds, and if it requests input', () => {
    const asking = { resultType: 'input_required', requestState: 'x'.repeat(500) };
    expect(boundResult(asking, { maxChars: 100 })).toBe(asking);
    const whole = { content: [{ type: 'text', text: '{}' }], structuredContent: {} };
    expect(boundResult(whole, {})).toBe(whole);
    expect(boundResult(whole, { maxResults: 1 })).not.toHaveProperty('structuredContent');
  });

  it('keeps every digit if nothing is cut', () => {
    const text = '{"results":[{"id":175928847299117063}]}';
    expect(textsOf(text, { maxChars: 100, maxResults: 1 })).toEqual([text]);
  });

  it('says what one record needs when none fits', () => {
    const long = { results: [{ name: 'x'.repeat(300) }] };
    expect(textsOf(long, { maxChars: 100 })).toEqual([
      '{"results":[]}',
      `Cut: 0 of 1 records. One record needs ${JSON.stringify(long).length + 25} characters: the server needs a higher --max-chars or fewer --columns.`,
    ]);
  });

  it('has whole records if none has the columns, and says so', () => {
    expect(textsOf(found, { columns: ['nix', 'nada'] })).toEqual([
      JSON.stringify(found),
      'No record has nix, nada, so all columns are shown.',
    ]);
  });

  it.each<[string, unknown, object, string]>([
    [
      'a long member beside the records',
      { junk: 'x'.repeat(1e6), ...found },
      { ...found, results: results.slice(0, 2) },
      'Cut: 2 of 10 records. Left out: junk.',
    ],
    [
      'a list before the records',
      { warnings: [{}], results },
      { warnings: [{}], results: results.slice(0, 3) },
      'Cut: 3 of 10 records.',
    ],
    [
      'records in an object',
      { data: { results } },
      { data: { results: results.slice(0, 3) } },
      'Cut: 3 of 10 records.',
    ],
    ['a long member', { tldr: 'x'.repeat(500), name: 'Nopa' }, { name: 'Nopa' }, 'Left out: tldr.'],
  ])('is still JSON with %s', (_name, output, expected, note) => {
    const [text = '', ...notes] = textsOf(output, { maxChars: 200 });
    expect(JSON.parse(text)).toEqual(expected);
    expect(notes).toEqual([note]);
  });

  it('has the columns of details, and of the records of another list', () => {
    const details = { name: 'Nopa', hours: 'x', dishes: [{ name: 'Burger', price: 1 }] };
    expect(textsOf(details, { columns: ['name', 'hours'] })).toEqual(['{"name":"Nopa","hours":"x"}']);
    expect(textsOf({ dishes: details.dishes }, { columns: ['price'] })).toEqual(['{"dishes":[{"price":1}]}']);
  });
});

/** The characters of a result as the bounds count them, without the note. */
function charsOf({ content, isError: _, ...others }: JsonObject): number {
  const blocks = content as JsonObject[];
  const costs = blocks.map((block) => {
    if (!isObject(block)) return JSON.stringify(block).length;
    const { type, text, ...more } = block;
    if (type !== 'text' || typeof text !== 'string') return JSON.stringify({ type, text, ...more }).length;
    return 25 + text.length + (Object.keys(more).length === 0 ? 0 : JSON.stringify(more).length);
  });
  const own = Object.keys(others).length === 0 ? 0 : JSON.stringify(others).length;
  return costs.reduce((sum, cost) => sum + cost, own);
}

const isNote = (block: unknown): boolean =>
  isObject(block) && /^(?:Cut: |Left out: |One record needs |No record has )/.test(String(block.text));

const anyMembers = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
const records = fc.array(fc.dictionary(fc.constantFrom('name', 'hours', '__proto__', 'x'), fc.string()));
const anyOutput = fc.oneof(
  fc.string({ maxLength: 2000 }),
  fc.array(fc.string()).map((lines) => lines.join('\n')),
  fc.jsonValue().map((value) => JSON.stringify(value)),
  fc
    .tuple(anyMembers, records, fc.constantFrom('results', 'items'))
    .map(([members, list, key]) => JSON.stringify({ ...members, [key]: list })),
  records.map((list) => JSON.stringify({ data: { list } })),
);
const anyBlock = fc.oneof(
  fc.tuple(anyOutput, anyMembers).map(([text, more]) => ({ ...more, type: 'text', text })),
  anyOutput.map((text) => ({ type: 'text', text })),
  fc.tuple(fc.constantFrom('image', 'resource', 7), anyMembers).map(([type, more]) => ({ ...more, type })),
  fc.jsonValue(),
);
const anyResult = fc.record(
  {
    content: fc.oneof(fc.array(anyBlock, { maxLength: 8 }), fc.jsonValue()),
    structuredContent: fc.jsonValue(),
    isError: fc.oneof(fc.boolean(), fc.constantFrom('true', 1, null)),
    _meta: anyMembers,
    resultType: fc.constant('complete'),
    other: fc.string({ maxLength: 500 }),
  },
  { requiredKeys: [] },
);
const anyBounds = fc.record(
  {
    columns: fc.subarray(['name', 'hours', 'nix', '__proto__.x'], { minLength: 1 }),
    maxResults: fc.integer({ min: 1, max: 5 }),
    maxChars: fc.integer({ min: 100, max: 1500 }),
  },
  { requiredKeys: ['maxChars'] },
);

describe('any result', () => {
  it('has at most the characters that are allowed, and says when it was cut', () => {
    fc.assert(
      fc.property(anyResult, anyBounds, (result, bounds) => {
        const before = JSON.stringify(result);
        const bounded = boundResult(result as JsonObject, bounds);
        const blocks = bounded.content as unknown[];
        const note = isNote(blocks.at(-1)) ? (blocks.at(-1) as { text: string }).text : '';
        const kept = note === '' ? blocks : blocks.slice(0, -1);
        expect(charsOf({ ...bounded, content: kept })).toBeLessThanOrEqual(bounds.maxChars);
        expect(note.length).toBeLessThanOrEqual(600);
        expect(JSON.stringify(result)).toBe(before);
        const { structuredContent: _, ...whole } = result;
        const fits = Array.isArray(whole.content) && charsOf(whole as JsonObject) <= bounds.maxChars;
        const isText = fits && (whole.content as JsonObject[]).some((block) => block?.type === 'text');
        if (isText && bounds.columns === undefined && bounds.maxResults === undefined) {
          expect(blocks).toEqual(whole.content);
          expect(note).toBe('');
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('has at most the records that are allowed, from the start', () => {
    fc.assert(
      fc.property(records, anyBounds, (list, { maxResults, maxChars }) => {
        const text = JSON.stringify({ status: 'ok', results: list });
        const [first] = boundResult({ content: [{ type: 'text', text }] }, { maxResults, maxChars })
          .content as {
          text: string;
        }[];
        const { results: kept } = JSON.parse(first?.text ?? '');
        expect(kept.length).toBeLessThanOrEqual(maxResults ?? list.length);
        expect(kept).toEqual(JSON.parse(text).results.slice(0, kept.length));
      }),
    );
  });

  it('ends quickly if it is large', () => {
    const junk = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`key ${index}`, 'x'.repeat(50)]),
    );
    const output = { ...junk, results: Array.from({ length: 20_000 }, () => ({ name: 'x'.repeat(50) })) };
    const deep = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    const texts = [JSON.stringify(output), deep, ...Array(5000).fill('x'.repeat(100))];
    const content = [
      ...texts.map((text) => ({ type: 'text', text })),
      { type: 'resource', resource: { uri: 'a:', text: 'x'.repeat(1e6) } },
    ];
    const bounded = boundResult(
      { content, _meta: junk, more: 'x'.repeat(1e6) },
      { maxChars: 1000, maxResults: 5 },
    );
    expect(JSON.stringify(bounded).length).toBeLessThan(2500);
  });
});

it('an error has at most the characters that are allowed', () => {
  const error = new ProtocolError(-32000, 'x'.repeat(1e6), { long: 'y'.repeat(1e6) });
  expect(boundError(error, { maxChars: 100 })).toMatchObject({ code: -32000, message: 'x'.repeat(75) });
  expect(boundError(error, { maxChars: 100 }).data).toBeUndefined();
  const short = new ProtocolError(-32000, 'no', { why: 1 });
  expect(boundError(short, { maxChars: 100 })).toMatchObject({ message: 'no', data: { why: 1 } });
  const failed = { isError: true, content: [{ type: 'text', text: 'x'.repeat(500) }] };
  expect(boundResult(failed, { maxChars: 100 })).toEqual({
    isError: true,
    content: [
      { type: 'text', text: 'x'.repeat(75) },
      { type: 'text', text: 'Cut: 75 of 500 characters.' },
    ],
  });
});

it('one record fits in the characters that the note asks for', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 100, maxLength: 500 }), (name) => {
      const content = [
        { type: 'text', text: JSON.stringify({ status: 'ok', results: [{ name }, { name }] }) },
      ];
      const noteOf = (maxChars: number) =>
        (boundResult({ content }, { maxChars }).content as { text: string }[]).at(-1)?.text ?? '';
      const [, needed = ''] = / needs (\d+) /.exec(noteOf(110)) ?? [];
      expect(noteOf(Number(needed) - 1)).toContain(`needs ${needed}`);
      expect(noteOf(Number(needed))).toBe('Cut: 1 of 2 records.');
    }),
  );
});

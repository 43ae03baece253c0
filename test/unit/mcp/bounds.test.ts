import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bounds, boundResult } from '../../../src/mcp/bridge/bounds.ts';

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

  it('is unchanged without bounds, and for an error', () => {
    const failed = { isError: true, content: [{ type: 'text', text: 'x'.repeat(500) }] };
    expect(boundResult(failed, { maxChars: 100 })).toBe(failed);
    const whole = { content: [{ type: 'text', text: '{}' }], structuredContent: {} };
    expect(boundResult(whole, {})).toBe(whole);
    expect(boundResult(whole, { maxResults: 1 })).not.toHaveProperty('structuredContent');
  });

  it('never has more characters or records than allowed', () => {
    const record = fc.dictionary(fc.string(), fc.string(), { maxKeys: 4 });
    fc.assert(
      fc.property(
        fc.array(record),
        fc.integer({ min: 100, max: 500 }),
        fc.nat(9),
        (list, maxChars, extra) => {
          const [text = ''] = textsOf({ results: list }, { maxChars, maxResults: 1 + extra });
          expect(text.length).toBeLessThanOrEqual(maxChars);
          expect(JSON.parse(text).results.length).toBeLessThanOrEqual(1 + extra);
        },
      ),
    );
  });
});

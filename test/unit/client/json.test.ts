import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../src/util/json.ts';
import { errorOf } from '../../helpers/files.ts';

const fault = (text: string) => errorOf(() => parseJson(text));

describe('parseJson', () => {
  it('parses the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        expect(parseJson(text)).toEqual(JSON.parse(text));
        expect(parseJson(`\uFEFF${text}`)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('throws only bad_response', () => {
    const pieces = fc.constantFrom(...'{ } [ ] , : " \\ u00 1 - e true a'.split(' '), ' ', '\n', '\0');
    fc.assert(
      fc.property(fc.array(pieces), (parts) => {
        const text = parts.join('');
        try {
          expect(parseJson(text)).toEqual(JSON.parse(text));
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad_response' });
          expect(() => JSON.parse(text)).toThrow();
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['{"a":1,}', 7],
    ['{"a" 1}', 5],
    ['[1 2]', 3],
    ['{"a":tru}', 5],
    ['01', 1],
    ['{} {}', 3],
    ['"a\nb"', 0],
    ['["\\x"]', 1],
    ["{'a':1}", 1],
    ['NaN', 0],
    ['}', 0],
  ])('%j is invalid at offset %d', (text, offset) => {
    expect(fault(text).message).toBe(`the response is not valid JSON (offset ${offset})`);
  });

  it('distinguishes text that ends early from invalid text', () => {
    const text = '{"a":[1,"x\\u00e9",true,null,{"b":-1.5e3}]}';
    for (let length = 0; length < text.length; length++) {
      expect(fault(text.slice(0, length)).details.reason).toBe('incomplete');
    }
  });

  it.each(['Here it is: {not JSON', '{not', '[1,x', '{"a":1 "b"'])('%j is invalid, not cut', (text) => {
    expect(fault(text).details.reason).toBeUndefined();
  });

  it('accepts 200 levels and no more', () => {
    expect(parseJson('['.repeat(200) + ']'.repeat(200))).toHaveLength(1);
    expect(fault('['.repeat(201) + ']'.repeat(201)).message).toContain('offset 200');
    expect(parseJson(JSON.stringify('['.repeat(300)))).toBe('['.repeat(300));
  });
});

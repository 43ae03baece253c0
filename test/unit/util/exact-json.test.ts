import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  copyRawNumbers,
  isInexact,
  mergeExact,
  parseExact,
  rawNumber,
  setRawNumber,
  stringifyExact,
  stringifyRawNumbers,
} from '../../../src/util/exact-json.ts';

const digits = (min: number, max: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: min, maxLength: max });

/** Generates JSON numbers of any length. */
const number = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(
      fc.constant('0'),
      fc.tuple(fc.constantFrom(...'123456789'), digits(0, 25)).map((parts) => parts.join('')),
    ),
    fc.oneof(
      fc.constant(''),
      digits(1, 25).map((text) => `.${text}`),
    ),
    fc.oneof(
      fc.constant(''),
      fc.tuple(fc.constantFrom('e', 'E-', 'e+'), digits(1, 3)).map((parts) => parts.join('')),
    ),
  )
  .map((parts) => parts.join(''));

/** Returns sign, digits and exponent, which are the same for all notations of a number. */
function decimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  const significant = all.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + all.length - significant.length}`;
}

const json: fc.Arbitrary<string> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    fc.constantFrom('null', 'true', '"x, 1e400 "', '": 12345678901234567890"'),
    fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
    fc
      .array(
        fc.tuple(
          fc.constantFrom('a', 'b', '__proto__', 'constructor', '0', ''),
          tie('value') as fc.Arbitrary<string>,
        ),
        { maxLength: 4 },
      )
      .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(' ,')}}`),
  ),
})).value as fc.Arbitrary<string>;

/** Returns the data without the raw texts of numbers. */
const plain = (value: unknown): unknown => structuredClone(value);

describe('parseExact', () => {
  it('returns the same data as JSON.parse, also with duplicate keys and __proto__', () => {
    fc.assert(
      fc.property(json, (text) => {
        expect(plain(parseExact(text))).toEqual(plain(JSON.parse(text)));
        expect(Object.keys(Object.prototype)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the value of every number, as does stringifyExact', () => {
    fc.assert(
      fc.property(fc.array(number, { maxLength: 6 }), (numbers) => {
        const text = stringifyExact(parseExact(`{"n":[${numbers.join(',')}]}`)) ?? '';
        expect(text.slice(6, -2).split(',').filter(Boolean).map(decimal)).toEqual(numbers.map(decimal));
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the text of numbers that would change, and writes others as JavaScript does', () => {
    const text =
      '{"a":9007199254740993,"b":1.50,"c":[1e400,-1E-400,0.1000000000000000055],"__proto__":1e999}';
    expect(stringifyExact(parseExact(text))).toBe(text.replace('1.50', '1.5'));
    expect(stringifyExact(parseExact(text), 2)).toContain('  "__proto__": 1e999\n');
    expect(isInexact('9007199254740992')).toBe(false);
  });

  it('uses the last of duplicate keys', () => {
    expect(stringifyExact(parseExact('{"a":1,"b":1e400,"a":9007199254740993}'))).toBe(
      '{"a":9007199254740993,"b":1e400}',
    );
    expect(stringifyExact(parseExact('{"a":9007199254740993,"a":2}'))).toBe('{"a":2}');
  });

  it('throws a SyntaxError like JSON.parse', () => {
    for (const text of ['', '{"a":1e400', '[1e400,]', '01e400', '{"a":12345678901234567890 1}']) {
      expect(() => parseExact(text)).toThrow(SyntaxError);
    }
  });

  it('takes linear time', () => {
    for (const part of [' ', '1', ',', '[', ':1', ',1e', '-', ',1.', ',12345678901234567890']) {
      const text = `"${part.repeat(300_000 / part.length)}"`;
      const start = performance.now();
      expect(parseExact(text)).toBe(text.slice(1, -1));
      // A generous limit: quadratic time would take minutes.
      expect([part, performance.now() - start < 40_000]).toEqual([part, true]);
    }
  });
});

describe('the raw text of a number', () => {
  const data = parseExact('{"a":9007199254740993,"in":{"b":1e400},"list":[1,12345678901234567890]}') as {
    a: number;
    in: { b: number };
    list: number[];
  };

  it('is not part of the data', () => {
    expect(typeof data.a).toBe('number');
    expect(Object.keys(data)).toEqual(['a', 'in', 'list']);
    expect(JSON.stringify(data)).toBe(
      '{"a":9007199254740992,"in":{"b":null},"list":[1,12345678901234567000]}',
    );
  });

  it('is copied by a spread, unless the value is replaced', () => {
    expect(stringifyExact({ ...data, in: 1, list: 2 })).toBe('{"a":9007199254740993,"in":1,"list":2}');
    expect(stringifyExact({ ...data, a: 5, in: 1, list: 2 })).toBe('{"a":5,"in":1,"list":2}');
    expect(rawNumber(data.list, 0)).toBeUndefined();
    expect(rawNumber(data.list, 1)).toBe('12345678901234567890');
  });

  it('can be copied to another object', () => {
    const copy = { a: data.a, z: 1 };
    copyRawNumbers(data, copy);
    setRawNumber(copy, 'z', '1.0');
    expect(stringifyExact(copy)).toBe('{"a":9007199254740993,"z":1.0}');
    expect(stringifyExact(data)).toContain('"a":9007199254740993');
  });

  it('is merged from two objects', () => {
    const other = parseExact('{"b":1e999,"c":1}') as object;
    expect(stringifyExact(mergeExact({ ...data, in: 1, list: 2 }, other))).toBe(
      '{"a":9007199254740993,"in":1,"list":2,"b":1e999,"c":1}',
    );
    expect(stringifyExact(mergeExact(data, { a: 1, in: 1, list: 2 }))).toBe('{"a":1,"in":1,"list":2}');
  });

  it('can replace the number', () => {
    expect(stringifyRawNumbers(data)).toEqual({
      a: '9007199254740993',
      in: { b: '1e400' },
      list: [1, '12345678901234567890'],
    });
    const usual = { a: 1 };
    expect(stringifyRawNumbers(usual)).toBe(usual);
  });

  it.each([
    ['with', '12345678901234567890'],
    ['without', '1'],
  ])('is not searched in a value that nests too deep, %s an inexact number', (_what, number) => {
    const nested = (depth: number) => parseExact('['.repeat(depth) + number + ']'.repeat(depth));
    expect(() => stringifyRawNumbers(nested(200))).not.toThrow();
    for (const depth of [201, 20_000, 200_000]) {
      expect(() => stringifyRawNumbers(nested(depth))).toThrow('the data nests deeper than 200 levels');
    }
  });
});

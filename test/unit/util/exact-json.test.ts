import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from '../../../src/util/exact-json.ts';
import { exactJson } from '../../../src/util/json.ts';
import { hostileJson } from '../../helpers/hostile.ts';

describe('parseExactJson', () => {
  const number = fc.oneof(fc.bigInt(), fc.integer().map(BigInt));
  const { value: anyValue } = fc.letrec((tie) => ({
    value: fc.oneof(number, hostileJson, fc.array(tie('value')), fc.dictionary(fc.string(), tie('value'))),
  }));

  it('keeps the digits of integers', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const json = exactJson(value);
        expect(exactJson(parseExactJson(json))).toBe(exactJson(parseExactJson(`\uFEFF ${json}`)));
        const numbers = (text: string) =>
          text.replace(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d{17,}(?![.e\d])/g);
        expect(numbers(exactJson(parseExactJson(json)))).toEqual(numbers(json));
      }),
    );
  });

  it.each([
    ['[9007199254740991,-9007199254740992]', [9007199254740991, -9007199254740992n]],
    ['{"9007199254740993":"9007199254740993"}', { '9007199254740993': '9007199254740993' }],
    ['[0.90071992547409931,1e-9007199254740993,1E9007199254740993]', [0.9007199254740993, 0, Infinity]],
    ['[90071992547409931.5,9007199254740993e1]', [90071992547409940, 90071992547409940]],
    ['[09007199254740993]', undefined],
    ['9007199254740993', 9007199254740993n],
  ])('reads %s', (json, value) => {
    expect(parseExactJson(json)).toEqual(value);
  });
});

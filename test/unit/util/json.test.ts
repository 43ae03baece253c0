import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { formatJson, mapStrings, memberText, readJson, toJson } from '../../../src/util/json.ts';
import { FORBIDDEN, hostileJson } from '../../helpers/hostile.ts';

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

describe('toJson', () => {
  it('is compact or pretty', () => {
    expect(toJson({ a: [1, 'x'] }, false)).toBe('{"a":[1,"x"]}');
    expect(toJson({ a: 1 }, true)).toBe('{\n  "a": 1\n}');
    expect(toJson(undefined, false)).toBe('null');
  });

  it.each([
    ['ESC', '\u001b', '"\\u001b"'],
    ['DEL', '\u007f', '"\\u007f"'],
    ['C1', '\u009b', '"\\u009b"'],
    ['line separators', '\u2028\u2029', '"\\u2028\\u2029"'],
    ['bidi controls', '\u202e\u2066\u061c', '"\\u202e\\u2066\\u061c"'],
    ['zero-width characters', '\u200b\u200d\ufeff', '"\\u200b\\u200d\\ufeff"'],
    ['tag characters', '\u{e0041}', '"\\udb40\\udc41"'],
    ['lone surrogates', '\ud800', '"\\ud800"'],
  ])('escapes %s', (_, text, json) => {
    expect(toJson(text, false)).toBe(json);
  });

  it('leaves letters and emoji readable', () => {
    expect(toJson('Café 鮨 ❤️', false)).toBe('"Café 鮨 ❤️"');
  });

  it('can be parsed to the same value and contains no characters that a terminal interprets', () => {
    fc.assert(
      fc.property(hostileJson, fc.boolean(), (value, pretty) => {
        const json = toJson(value, pretty);
        expect(json).not.toMatch(FORBIDDEN);
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('writes 200 levels and rejects more', () => {
    expect(JSON.parse(toJson(nested(200), false))).toEqual(nested(200));
    expect(() => toJson(nested(201), false)).toThrow(AppError);
    expect(() => toJson(nested(100_000), false)).toThrow(/deeper than 200/);
  });
});

describe('formatJson', () => {
  it('lays out text as toJson does', () => {
    fc.assert(
      fc.property(hostileJson, fc.boolean(), fc.boolean(), (value, spaced, pretty) => {
        const text = JSON.stringify(value, null, spaced ? ' ' : '') ?? 'null';
        expect(formatJson(text, pretty)).toBe(toJson(JSON.parse(text), pretty));
      }),
    );
  });

  it('keeps the numbers and decodes the letters', () => {
    const text = '{"a" :\t9007199254740993, "b": { }, "c": "\\u0043 : 1"}';
    const compact = '{"a":9007199254740993,"b":{},"c":"C : 1"}';
    expect(formatJson(text, false)).toBe(compact);
    expect(formatJson(formatJson(text, true), false)).toBe(compact);
  });
});

it('memberText finds the last member of a name at the top of an object', () => {
  const json = '{"a":{"b":1},"\\u0062" : [1.50, "}"] ,"c":1e400,"d":"b"}';
  expect(memberText(json, 'b')?.trim()).toBe('[1.50, "}"]');
  expect(memberText(json, 'c')).toBe('1e400');
  expect(memberText('{"a":1,"a":2}', 'a')).toBe('2');
  for (const other of [json, '[{"x":1}]', '"x"', '1', '']) expect(memberText(other, 'x')).toBeUndefined();
});

describe('mapStrings', () => {
  const mask = (text: string): string => text.replace('key', '…');

  it('changes strings, but no keys', () => {
    const json = '{"__proto__":["key",1],"key":"a key"}';
    expect(JSON.stringify(mapStrings(JSON.parse(json), mask))).toBe('{"__proto__":["…",1],"key":"a …"}');
  });

  it('shares the parts without a change', () => {
    const value = { list: ['a'], text: 'key' };
    expect(mapStrings(value, mask)).toEqual({ list: ['a'], text: '…' });
    expect(mapStrings(value, mask).list).toBe(value.list);
    expect(mapStrings(value.list, mask)).toBe(value.list);
  });
});

const fault = (text: string) => readJson(text);

describe('readJson', () => {
  it('parses the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        expect(readJson(text)).toEqual({ value: JSON.parse(text) });
        expect(readJson(`\uFEFF${text}`)).toEqual({ value: JSON.parse(text) });
      }),
    );
  });

  it('has a fault for what JSON.parse refuses', () => {
    const pieces = fc.constantFrom(...'{ } [ ] , : " \\ u00 1 - e true a'.split(' '), ' ', '\n', '\0');
    fc.assert(
      fc.property(fc.array(pieces), (parts) => {
        const text = parts.join('');
        const { value, fault } = readJson(text);
        if (fault === undefined) expect(value).toEqual(JSON.parse(text));
        else expect(() => JSON.parse(text)).toThrow();
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
    expect(fault(text)).toEqual({ fault: `is not valid JSON (offset ${offset})` });
  });

  it('distinguishes text that ends early from invalid text', () => {
    const text = '{"a":[1,"x\\u00e9",true,null,{"b":-1.5e3}]}';
    for (let length = 0; length < text.length; length++) {
      expect(fault(text.slice(0, length)).isCut).toBe(true);
    }
  });

  it.each(['Here it is: {not JSON', '{not', '[1,x', '{"a":1 "b"'])('%j is invalid, not cut', (text) => {
    expect(fault(text)).toMatchObject({ fault: expect.any(String) });
    expect(fault(text).isCut).toBeUndefined();
  });

  it('accepts 200 levels and no more', () => {
    expect(readJson('['.repeat(200) + ']'.repeat(200)).value).toHaveLength(1);
    expect(fault('['.repeat(201) + ']'.repeat(201)).fault).toContain('offset 200');
    expect(readJson(JSON.stringify('['.repeat(300))).value).toBe('['.repeat(300));
  });
});

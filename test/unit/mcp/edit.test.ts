import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editText } from '../../../src/mcp/client-config/edit.ts';
import { mergeEntry } from '../../../src/mcp/client-config/entry.ts';
import type { JsonObject } from '../../../src/util/json.ts';

const ENTRY = { url: 'x' };
const INPUT = { id: 'key' };

const json = (text: string, input?: JsonObject) =>
  editText({ servers: 's' }, text, input, (existing) => mergeEntry(existing, ENTRY));
const toml = (text: string) =>
  editText({ format: 'toml', servers: 's' }, text, undefined, (existing) => mergeEntry(existing, ENTRY));

describe('editText, with JSON', () => {
  const NEW = '{\n  "s": {\n    "restaurant": {\n      "url": "x"\n    }\n  }';
  it.each([
    ['an empty file', '', `${NEW}\n}\n`],
    ['a blank file', '  \n', `${NEW}\n}\n`],
    ['one line', '{"a":1}', `${NEW},\n  "a": 1\n}`],
    ['an empty object', '{}', `${NEW}\n}`],
    ['a comment in an empty object', '{ // none yet\n}\n', `${NEW} // none yet\n}\n`],
    ['a comment after a value', '{\n  "a": 1 // one\n}\n', `${NEW},\n  "a": 1 // one\n}\n`],
    [
      'comments on lines of their own, and a trailing comma',
      '{\n  // one\n  "a": 1,\n  // two\n}\n',
      `${NEW},\n  // one\n  "a": 1,\n  // two\n}\n`,
    ],
    ['a comment between', '{ /* a */ "a": 1 }\n', `${NEW}, /* a */\n  "a": 1\n}\n`],
    ['servers on one line', '{"s": {}, "b": 2}', `${NEW},\n  "b": 2\n}`],
    [
      'another server, an indentation of three, and comments around it',
      '// my servers\n{\n   "s": {\n      /* the other one */\n      "a": { "command": "x", },\n   },\n}',
      '// my servers\n{\n   "s": {\n      "restaurant": {\n         "url": "x"\n      },\n      /* the other one */\n      "a": { "command": "x", },\n   },\n}',
    ],
    [
      'tabs, CRLF and a byte order mark',
      '\uFEFF{\r\n\t"s": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n',
      '\uFEFF{\r\n\t"s": {\r\n\t\t"restaurant": {\r\n\t\t\t"url": "x"\r\n\t\t},\r\n\t\t"a": {}\r\n\t}\r\n}\r\n',
    ],
    [
      'an entry with the keys of the user',
      '{\n  "s": {\n    "restaurant": {\n      // mine\n      "command": "y",\n      "own": ["a"] // not to be asked\n    }\n  }\n}\n',
      '{\n  "s": {\n    "restaurant": {\n      "url": "x",\n      "own": [\n        "a"\n      ] // not to be asked\n    }\n  }\n}\n',
    ],
    [
      'an entry that is not an object',
      '{"s":{"restaurant":null}}',
      '{"s":{"restaurant":{\n      "url": "x"\n    }}}',
    ],
    [
      'members named __proto__',
      '{"__proto__":{"a":1},"s":{"__proto__":{}}}',
      '{\n  "__proto__": {\n    "a": 1\n  },\n  "s": {\n    "restaurant": {\n      "url": "x"\n    },\n    "__proto__": {}\n  }\n}',
    ],
  ])('changes nothing else in %s, and nothing the second time', (_what, text, expected) => {
    expect(json(text)).toBe(expected);
    expect(json(expected)).toBe(expected);
  });

  it.each([
    [
      '{\n  // asks\n  "inputs": [\n    { "id": "other" }\n  ]\n}\n',
      `${NEW},\n  // asks\n  "inputs": [\n    {\n      "id": "key"\n    },\n    { "id": "other" }\n  ]\n}\n`,
    ],
    [
      '{ "inputs": [\n  // none yet\n] }',
      `${NEW},\n  "inputs": [\n    {\n      "id": "key"\n    }\n  // none yet\n] }`,
    ],
  ])('adds an input once: %j', (text, expected) => {
    expect(json(text, INPUT)).toBe(expected);
    expect(json(expected, INPUT)).toBe(expected);
  });

  it.each([
    ['cut off', '{"s": {'],
    ['not JSON', 'hello'],
    ['an array', '[]'],
    ['a number', '7'],
    ['two documents', '{} {}'],
    ['single quotes', "{'a': 1}"],
    ['servers that are an array', '{"s": []}'],
    ['servers that are null', '{"s": null}'],
    ['a duplicate key', '{"s": {"a": 1}, "s": {"b": 1}}'],
  ])('rejects an invalid file: %s', (_what, text) => {
    expect(() => json(text)).toThrow(SyntaxError);
  });

  it('names the line of the error', () => {
    expect(() => json('{\n  "a": 1\n  "b": 2\n}')).toThrow('line 3');
  });

  it('changes nothing else in any JSON, and nothing the second time', () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, '\t', 2, 4), fc.boolean(), (root, indent, crlf) => {
        const servers = root.s;
        fc.pre(
          servers === undefined ||
            (typeof servers === 'object' && servers !== null && !Array.isArray(servers)),
        );
        const plain = JSON.stringify(root, null, indent);
        const text = crlf ? plain.replaceAll('\n', '\r\n') : plain;
        const after = json(text);
        const own = Object.getOwnPropertyDescriptor(servers ?? {}, 'restaurant')?.value;
        fc.pre(typeof own !== 'object');
        expect(JSON.parse(after)).toEqual({
          ...JSON.parse(text),
          s: { ...(JSON.parse(text).s ?? {}), restaurant: ENTRY },
        });
        expect(json(after)).toBe(after);
      }),
      { numRuns: 200, examples: [[JSON.parse('{"__proto__":{}}'), undefined, false]] },
    );
  });
});

describe('editText, with TOML', () => {
  const TABLE = '[s.restaurant]\nurl = "x"\n';
  it.each([
    ['a missing file', '', TABLE],
    [
      'comments and tables',
      '# mine\nmodel = "o3" # which\n\n[s.a]\ncommand = "x" # keep\n\n[tui]\nb = 1\n',
      `# mine\nmodel = "o3" # which\n\n[s.a]\ncommand = "x" # keep\n\n[tui]\nb = 1\n\n${TABLE}`,
    ],
    ['no line break at the end', 'model = "o3"', `model = "o3"\n\n${TABLE}`],
    ['CRLF', '# mine\r\nmodel = "o3"\r\n', '# mine\r\nmodel = "o3"\r\n\r\n[s.restaurant]\r\nurl = "x"\r\n'],
    ['dotted keys', 's.a.command = "x"\n[tui]\nb = 1\n', `s.a.command = "x"\n[tui]\nb = 1\n\n${TABLE}`],
    [
      'an array of tables at the end',
      '[[x]]\na = 1\n[[x]]\na = 2\n',
      `[[x]]\na = 1\n[[x]]\na = 2\n\n${TABLE}`,
    ],
    [
      'dates and large numbers',
      'at = 1979-05-27T07:32:00-08:00\nbig = 9223372036854775807\n',
      `at = 1979-05-27T07:32:00-08:00\nbig = 9223372036854775807\n\n${TABLE}`,
    ],
    [
      'an inline table',
      's = { a = { command = "x" } } # all of them\nmodel = "o3"\n',
      's = { a = { command = "x" }, restaurant = { url = "x" } } # all of them\nmodel = "o3"\n',
    ],
    [
      'the keys that the user added',
      '# top\n[s.restaurant]\ncommand = "y"\nown = 20 # slow machine\n\n[s.restaurant.tools.a]\nb = "c"\n\n[tui]\nb = 1 # last\n',
      '# top\n[s.restaurant]\nown = 20 # slow machine\nurl = "x"\n\n[s.restaurant.tools.a]\nb = "c"\n\n[tui]\nb = 1 # last\n',
    ],
  ])('changes nothing else in %s, and nothing the second time', (_what, text, expected) => {
    expect(toml(text)).toBe(expected);
    expect(toml(expected)).toBe(expected);
  });

  it.each([
    ['not TOML', 'hello'],
    ['a duplicate key', 'a = 1\na = 2\n'],
    ['servers that are not a table', 's = 7\n'],
  ])('rejects an invalid file: %s', (_what, text) => {
    expect(() => toml(text)).toThrow(SyntaxError);
  });

  it('reports the line of the error without quoting the file', () => {
    const edit = () => toml('ok = 1\nkey = sk_service_secret_secret\n');
    expect(edit).toThrow('line 2');
    expect(edit).not.toThrow('secret');
  });
});

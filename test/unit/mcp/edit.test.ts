import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editText, entryIn } from '../../../src/mcp/client-config/edit.ts';
import type { JsonObject } from '../../../src/util/json.ts';

const ENTRY = { command: 'x' };
const JSON_FILE = { servers: 's' };
const TOML_FILE = { format: 'toml', servers: 's' } as const;

const keepOwn = (existing: unknown): JsonObject => {
  const { own, tools }: JsonObject = Object(existing);
  return { ...ENTRY, ...(own !== undefined && { own }), ...(tools !== undefined && { tools }) };
};
const json = (text: string) => editText(JSON_FILE, text, keepOwn(entryIn(JSON_FILE, text)));
const withoutJson = (text: string) => editText(JSON_FILE, text, undefined);
const toml = (text: string) => editText(TOML_FILE, text, keepOwn(entryIn(TOML_FILE, text)));

describe('editText, with JSON', () => {
  const NEW = '{\n  "s": {\n    "restaurant": {\n      "command": "x"\n    }\n  }';
  const ONE = '"restaurant": {\n      "command": "x"\n    }';
  it.each([
    ['one line', '{"a":1}', `${NEW},"a":1}`],
    ['a comment in an empty object', '{ // none yet\n}\n', `${NEW} // none yet\n}\n`],
    ['a comment after a value', '{\n  "a": 1 // one\n}\n', `${NEW},\n  "a": 1 // one\n}\n`],
    [
      'comments on lines of their own, and a trailing comma',
      '{\n  // one\n  "a": 1,\n  // two\n}\n',
      `${NEW},\n  // one\n  "a": 1,\n  // two\n}\n`,
    ],
    ['a comment between', '{ /* a */ "a": 1 }\n', `${NEW}, /* a */ "a": 1 }\n`],
    [
      'another server, an indentation of three, and comments around it',
      '// my servers\n{\n   "s": {\n      /* the other one */\n      "a": { "command": "x", },\n   },\n}',
      '// my servers\n{\n   "s": {\n      "restaurant": {\n         "command": "x"\n      },\n      /* the other one */\n      "a": { "command": "x", },\n   },\n}',
    ],
    [
      'comments of another server on the lines of the brackets',
      '{\n  "s": { /* first */\n    "a": { "command": "a", "args": ["x"] }, // about a\n  }\n}\n',
      `{\n  "s": {\n    ${ONE}, /* first */\n    "a": { "command": "a", "args": ["x"] }, // about a\n  }\n}\n`,
    ],
    [
      'tabs, CRLF and a byte order mark',
      '\uFEFF{\r\n\t"s": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n',
      '\uFEFF{\r\n\t"s": {\r\n\t\t"restaurant": {\r\n\t\t\t"command": "x"\r\n\t\t},\r\n\t\t"a": {}\r\n\t}\r\n}\r\n',
    ],
    [
      'members named __proto__',
      '{"__proto__":{"a":1},"s":{"__proto__":{}}}',
      '{"__proto__":{"a":1},"s":{\n  "restaurant": {\n    "command": "x"\n  },"__proto__":{}}}',
    ],
  ])('changes nothing else in %s, nothing the second time, and restores it', (_what, text, expected) => {
    expect(json(text)).toBe(expected);
    expect(json(expected)).toBe(expected);
    expect(withoutJson(expected)).toBe(text);
    expect(withoutJson(text)).toBe(text);
  });

  it.each([
    ['an empty file', '', `${NEW}\n}\n`],
    ['a blank file', '  \n', `${NEW}\n}\n`],
    ['an empty object', '{}', `${NEW}\n}`],
    [
      'an empty group',
      '{"s": {}, "b": 2}',
      '{"s": {\n  "restaurant": {\n    "command": "x"\n  }\n}, "b": 2}',
    ],
    [
      'an entry with keys and comments of the user',
      '{\n  "s": {\n    "restaurant": {\n      // mine\n      "command": "y",\n      "own": ["a"] // not to be asked\n    }\n  }\n}\n',
      '{\n  "s": {\n    "restaurant": {\n      // mine\n      "command": "x",\n      "own": ["a"] // not to be asked\n    }\n  }\n}\n',
    ],
    [
      'an entry with keys that are not wanted',
      '{"s": {"restaurant": {"url": "y", "command": "x", "args": []}}}',
      '{"s": {"restaurant": { "command": "x"}}}',
    ],
    [
      'an entry that is not an object',
      '{"s":{"restaurant":null}}',
      '{"s":{"restaurant":{\n  "command": "x"\n}}}',
    ],
  ])('writes the entry into %s', (_what, text, expected) => {
    expect(json(text)).toBe(expected);
    expect(json(expected)).toBe(expected);
  });

  it.each([
    [
      'after another one with a comment',
      `{\n  "s": {\n    "other": { "command": "x" }, // keep\n    ${ONE}\n  }\n}\n`,
      '{\n  "s": {\n    "other": { "command": "x" } // keep\n  }\n}\n',
    ],
    [
      'between two, after a comment on a line of its own',
      `{\n  "s": {\n    "a": {},\n    // ours\n    ${ONE}, // too\n    "b": {}\n  }\n}\n`,
      '{\n  "s": {\n    "a": {},\n    // ours // too\n    "b": {}\n  }\n}\n',
    ],
    ['on a line with others', `{"s": {"a": 1, ${ONE}, "b": 2}}`, '{"s": {"a": 1, "b": 2}}'],
    ['after a comment, on a line with others', `{"s": { // a\n${ONE}, "b": 2}}`, '{"s": { // a\n "b": 2}}'],
    ['with a comment before its comma', `{"s": {${ONE} /* ours */, "b": 2}}`, '{"s": { /* ours */ "b": 2}}'],
    ['with a trailing comma', `{\n  "s": {\n    ${ONE},\n  },\n  "b": 2\n}\n`, '{\n  "b": 2\n}\n'],
    ['that is alone, with a comment', `{\n  "s": { // mine\n    ${ONE}\n  }\n}\n`, '{}\n'],
  ])('cuts an entry %s', (_what, text, expected) => {
    expect(withoutJson(text)).toBe(expected);
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

  const anyObject = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
  const anyText = fc
    .tuple(
      fc.record({ before: anyObject, servers: fc.option(anyObject), after: anyObject }),
      fc.constantFrom(undefined, '\t', 2, 4),
      fc.boolean(),
    )
    .map(([{ before, servers, after }, indent, crlf]) => {
      const group = servers === null || Object.keys(servers).length === 0 ? {} : { s: servers };
      const text = JSON.stringify({ ...before, ...group, ...after }, null, indent);
      return crlf ? text.replaceAll('\n', '\r\n') : text;
    })
    .filter((text) => {
      const { s } = JSON.parse(text);
      return (
        s === undefined ||
        (s !== null && typeof s === 'object' && !Array.isArray(s) && s.restaurant === undefined)
      );
    });

  it('adds one member to any JSON, and --remove restores every byte', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        fc.pre(text !== '{}' && !/"s":\s*\{\}/.test(text));
        const after = json(text);
        const before = JSON.parse(text);
        expect(JSON.parse(after)).toEqual({ ...before, s: { ...before.s, restaurant: ENTRY } });
        expect(json(after)).toBe(after);
        expect(withoutJson(after)).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps every comment of other entries', () => {
    const comment = fc.constantFrom('', ' ', '\n', '// c\n', '/* c */', '\n  // c\n  ', ' /* c */ // d\n');
    const gaps = fc.tuple(comment, comment, comment, comment, comment, comment);
    fc.assert(
      fc.property(gaps, fc.nat(2), fc.boolean(), ([a, b, c, d, e, f], at, trailing) => {
        const members = ['"x": {}', '"y": [1]'];
        members.splice(at, 0, '"restaurant": {"command": "z"}');
        const [one, two, three] = members;
        const text = `{"s": {${a}${one}${b},${c}${two}${d},${e}${three}${f}${trailing ? ',' : ''}}}`;
        const edited = withoutJson(text);
        expect(edited.match(/\/\/ ?[cd]|\/\* c \*\//g)).toEqual(text.match(/\/\/ ?[cd]|\/\* c \*\//g));
        expect(edited).toContain('"x": {}');
        expect(edited).toContain('"y": [1]');
        expect(edited).not.toContain('restaurant');
      }),
      { numRuns: 500 },
    );
  });
});

describe('editText, with TOML', () => {
  const TABLE = '[s.restaurant]\ncommand = "x"\n';
  it.each([
    ['a missing file', '', TABLE],
    [
      'comments and tables',
      '# mine\nmodel = "o3" # which\n\n[s.a]\ncommand = "x" # keep\n\n[tui]\nb = 1\n',
      `# mine\nmodel = "o3" # which\n\n[s.a]\ncommand = "x" # keep\n\n[tui]\nb = 1\n\n${TABLE}`,
    ],
    ['no line break at the end', 'model = "o3"', `model = "o3"\n\n${TABLE}`],
    [
      'CRLF',
      '# mine\r\nmodel = "o3"\r\n',
      '# mine\r\nmodel = "o3"\r\n\r\n[s.restaurant]\r\ncommand = "x"\r\n',
    ],
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
      's = { a = { command = "x" }, restaurant = { command = "x" } } # all of them\nmodel = "o3"\n',
    ],
    [
      'the keys that the user added',
      '# top\n[s.restaurant]\nurl = "y"\nown = 20 # slow machine\n\n[s.restaurant.tools.a]\nb = "c"\n\n[tui]\nb = 1 # last\n',
      '# top\n[s.restaurant]\nown = 20 # slow machine\ncommand = "x"\n\n[s.restaurant.tools.a]\nb = "c"\n\n[tui]\nb = 1 # last\n',
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

import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { cannedClient } from './stub.ts';
import { countFault } from './tally.ts';

const VALID = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '-0',
    '-1',
    '1.5',
    '1e5',
    '1E+5',
    '1e-5',
    '-0.0e-0',
    '123456789012345678901234567890',
  ],
  ...[
    '1e400',
    '-1e400',
    '5e-324',
    '0.1e1',
    '""',
    '"a"',
    '"\\u0000"',
    '"\\ud83d\\ude00"',
    '"\\ud83d"',
    '"\\ude00\\ud83d"',
  ],
  ...[
    '"\\/\\b\\f\\n\\r\\t\\"\\\\"',
    '"\u007f"',
    '"\u2028\u2029"',
    '"\uFEFF"',
    '"\u{10FFFF}"',
    '"\uFFFE"',
    '"😀"',
    '"\\uDBFF\\uDFFF"',
  ],
  ...[
    '[]',
    '[ ]',
    '[[]]',
    '[1,2]',
    '[1 , 2]\r\n',
    '\t{}',
    '{ }',
    '{"":0}',
    '{"a":{}}',
    '{"a":1,"a":2}',
    '{"a":null}',
  ],
  ...[
    '{"__proto__":null}',
    '{"__proto__":{"a":1}}',
    '{"constructor":1}',
    '{"\\u0061":1,"a":2}',
    '["a\\u0000b"]',
    '[1,[2,[3]]]',
  ],
  `${'['.repeat(100)}${']'.repeat(100)}`,
  `"${'x'.repeat(100_000)}"`,
];

const INVALID = [
  ...[
    '',
    ' ',
    'n',
    'nul',
    'nulll',
    'True',
    'NULL',
    'undefined',
    'NaN',
    '-NaN',
    'Infinity',
    '-Infinity',
    '-',
    '+1',
    '--1',
  ],
  ...[
    '01',
    '-01',
    '1.',
    '.1',
    '-.1',
    '1.e1',
    '1e',
    '1e+',
    '1e1.5',
    '0x10',
    '1_000',
    '1,000',
    '１',
    '1 2',
    '0b1',
    '1n',
  ],
  ...[
    '"',
    '"a',
    "'a'",
    '`a`',
    '"\n"',
    '"\t"',
    '"\u0000"',
    '"\u001f"',
    '"\\x41"',
    '"\\u00g0"',
    '"\\u123"',
    '"\\',
    '"\\"',
    '"a" "b"',
    '"\\a"',
  ],
  ...[
    '[',
    ']',
    '[1',
    '[1,',
    '[1,]',
    '[,1]',
    '[,]',
    '[1 2]',
    '[1;2]',
    '[1}',
    '[1]]',
    '[[]',
    '[1:2]',
    '["a":1]',
    '[...1]',
  ],
  ...[
    '{',
    '}',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,',
    '{"a":1,}',
    '{,"a":1}',
    '{a:1}',
    "{'a':1}",
    '{"a" 1}',
    '{"a"::1}',
    '{1:2}',
  ],
  ...[
    '{"a":1]',
    '{"a":1 "b":2}',
    '{"a","b"}',
    '{"a":1}}',
    '{null:1}',
    '{"a":1;}',
    '{"a"=1}',
    '//x\n1',
    '/* */1',
    '1#',
    '\\n',
    '\u00a01',
    '\u20281',
  ],
  ...[
    '<a/>',
    '&quot;',
    'function(){}',
    'new Date()',
    '[undefined]',
    '[NaN]',
    '{"a":undefined}',
    '\u0000',
    '1\u0000',
    '\u000b1',
    '\u000c1',
    '\uFEFF\uFEFF1',
  ],
  '['.repeat(100_000),
  '{"a":'.repeat(10_000),
];

/** Sends one request that gets these bytes as its response. */
async function findWith(bytes: Uint8Array): Promise<unknown> {
  const { client } = cannedClient(() => ({ status: 200, type: 'application/json', bytes, piece: 1000 }));
  return client.find({ name: 'Nopa', city: 'SF' }).then(
    ({ output }) => output,
    (error: unknown) => error,
  );
}

/** Sends the text as a field of a restaurant inside valid JSON. */
const asField = (text: string) =>
  findWith(
    Buffer.from(
      `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"status":"ok","results":[{"service_id":"r","name":"Nopa","x":${text}}],"total_matches":1}}}`,
    ),
  );
const named = (texts: readonly string[]) =>
  texts.map((text) => [JSON.stringify(text).slice(0, 60), text] as const);

describe('a JSON text', () => {
  it.each(named(VALID))('%s is accepted as a field', (_name, text) =>
    countFault('JSON texts', async () => {
      expect(await asField(text)).toMatchObject({ results: [{ name: 'Nopa', x: JSON.parse(text) }] });
      expect(({} as { a?: unknown }).a).toBeUndefined();
    }),
  );

  it.each(named(INVALID))('%s is rejected as a field', (_name, text) =>
    countFault('JSON texts', async () => {
      expect(() => JSON.parse(text)).toThrow();
      expect(await asField(text)).toMatchObject({ code: 'bad_response' });
    }),
  );

  it.each(named([...VALID, ...INVALID]))('%s is rejected as the whole response', (_name, text) =>
    countFault('JSON texts', async () => {
      const error = await findWith(Buffer.from(text));
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: 'bad_response' });
    }),
  );
});

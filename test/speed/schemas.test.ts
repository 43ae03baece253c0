import { expect, it } from 'vitest';
import { coerceArguments } from '../../src/commands/call/validate.ts';
import type { Message } from '../../src/hint.ts';

type Schema = Record<string, unknown>;

/** Coerces one text by a schema. @returns the arguments, the warnings, and the time in milliseconds */
async function coerce(inputSchema: Schema, text: string) {
  const warnings: string[] = [];
  const warn = async (warning: Message) => void warnings.push(String(warning));
  const start = Date.now();
  const args = await coerceArguments({ notes: { warn } }, new Map([['q', { text }]]), {
    name: 'tool',
    inputSchema,
  });
  return { args, warnings, time: Date.now() - start };
}

/** Returns a schema whose references double at each level. */
const doubled = (levels: number): Schema => ({
  $ref: '#/$defs/d0',
  $defs: Object.fromEntries(
    Array.from({ length: levels }, (_each, level) => [
      `d${level}`,
      level === levels - 1
        ? { properties: { q: { minLength: 1 } } }
        : { allOf: [{ $ref: `#/$defs/d${level + 1}` }, { $ref: `#/$defs/d${level + 1}` }] },
    ]),
  ),
});

it.each<[string, Schema, string]>([
  [
    'a catastrophic pattern',
    { type: 'object', properties: { q: { pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' } } },
    'a'.repeat(40),
  ],
  ['an exponential number of references', doubled(40), 'x'],
  [
    'references in a circle',
    {
      $ref: '#/$defs/a',
      $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { allOf: [{ $ref: '#/$defs/a' }] } },
    },
    'x',
  ],
])('a schema with %s: stops validating after a second, warns and sends', async (_name, schema, text) => {
  const { args, warnings, time } = await coerce(schema, text);
  expect(args).toEqual({ q: text });
  expect(warnings).toEqual([expect.stringContaining('sending the arguments without validation')]);
  expect(time).toBeLessThan(20_000);
});

it('spends at most the time limit on a schema of any size', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 20_000 }, (_each, index) => [`p${index}`, { type: ['integer', 'string'] }]),
  );
  const schema = { type: 'object', properties: { q: { anyOf: Object.values(properties) }, ...properties } };
  expect((await coerce(schema, '3')).time).toBeLessThan(20_000);
});

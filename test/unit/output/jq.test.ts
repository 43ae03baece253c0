import { expect, it } from 'vitest';
import { JqFilter } from '../../../src/output/jq/filter.ts';

function filtered(filter: string, json: string): Promise<string> {
  const jq = new JqFilter(filter, 60_000, { signal: new AbortController().signal });
  return jq.apply(json, false).finally(() => jq.close());
}

const FIND = '{"results":[{"name":" Nopa ","grade":"A"},{"name":"Café \u6b63xyz","grade":"B"}]}';

it.each([
  ['.results[0].name | trim', 'Nopa\n'],
  ['.results[0].name | ltrimstr(" ") | trimstr(" ")', 'Nopa\n'],
  ['.results[1].name | index("y")', '7\n'],
  ['.results[1].name[5:6]', '\u6b63\n'],
  ['.results[1].name | @uri | ., @urid', 'Caf%C3%A9%20%E6%AD%A3xyz\nCafé \u6b63xyz\n'],
  ['1 + 2 as $x | -$x', '-3\n'],
  ['"true" | toboolean', 'true\n'],
  ['add(.results[].grade)', 'AB\n'],
  ['[skip(1; .results[].grade)]', '["B"]\n'],
  ['-1, (.results | length)', '-1\n2\n'],
])('runs the filter of jq 1.8 as its manual says: %s', async (filter, output) => {
  expect(await filtered(filter, FIND)).toBe(output);
});

it('reports where a filter is wrong on one line', async () => {
  await expect(filtered('.results[', FIND)).rejects.toThrow(
    "--jq '.results[': syntax error, unexpected end of file at <top-level>, line 1, column 9",
  );
});

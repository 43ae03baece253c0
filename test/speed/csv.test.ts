import { it } from 'vitest';
import { CsvReader } from '../../src/util/csv.ts';
import { expectLinearTime } from '../helpers/linear-time.ts';

it.each([
  ['a header of many columns', (size: number) => `${'column,'.repeat(size)}\n`],
  ['blank lines', (size: number) => '\n'.repeat(size * 8)],
  ['one long line', (size: number) => 'a'.repeat(size * 8)],
  ['one long quoted cell', (size: number) => `"${'a""\n'.repeat(size * 2)}"`],
])('reads %s in linear time', (_name, make) => {
  expectLinearTime((size) => {
    const text = make(size);
    const reader = new CsvReader(',');
    for (let at = 0; at < text.length; at += 65_536)
      for (const _ of reader.push(text.slice(at, at + 65_536)));
    for (const _ of reader.end());
  }, 10_000);
});

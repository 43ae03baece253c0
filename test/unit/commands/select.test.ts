import { expect, it } from 'vitest';
import { matching } from '../../../src/commands/lookup/select.ts';

const CAFE = { id: 'cafe-2', name: 'Blue Door Cafe' };
const HYPHEN = { id: 'h-1', name: 'Coca-Cola Bar' };

it.each([
  ['blue door', [CAFE]],
  ['Blue Door Cafe', [CAFE]],
  ['blue-door', []],
  ['blue_door', []],
  ['coca-cola', [HYPHEN]],
  ['coca cola', [HYPHEN]],
  ['cafe-2', [CAFE]],
] as const)('%s means names that begin so; a hyphen does not mean a blank', (word, found) => {
  expect(matching(word, [CAFE, HYPHEN])).toEqual(found);
});

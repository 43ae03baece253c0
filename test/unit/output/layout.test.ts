import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { flowColumns, joinHorizontal } from '../../../src/output/render/data.ts';
import { allocateWidths } from '../../../src/output/table.ts';
import { width } from '../../../src/util/text.ts';

describe('flowColumns', () => {
  it('places blocks side by side if they fit', () => {
    expect(flowColumns([['aa', 'a'], ['鮨'], ['cccc']], 12)).toEqual(['aa    鮨', 'a', '', 'cccc']);
  });

  it('keeps every line within the width', () => {
    const block = fc.array(fc.stringMatching(/^[a-z鮨]{0,10}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(block, { maxLength: 6 }), fc.integer({ min: 20, max: 140 }), (blocks, columns) => {
        const lines = flowColumns(blocks, columns);
        for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
        const words = (texts: readonly string[]): string[] => texts.join(' ').match(/\S+/g)?.sort() ?? [];
        expect(words(lines)).toEqual(words(blocks.flat()));
      }),
      { numRuns: 50 },
    );
  });
});

describe('joinHorizontal', () => {
  it('aligns columns without trailing blanks', () => {
    const columns = [
      { lines: ['a', '', 'c'], width: 3 },
      { lines: ['x', 'y'], width: 1 },
    ];
    expect(joinHorizontal(columns, 1)).toEqual(['a   x', '    y', 'c']);
  });
});

describe('allocateWidths', () => {
  it('gives the room of a wide column that does not fit to those dropped before it', () => {
    const columns = [
      { priority: 3, min: 10 },
      { priority: 1, min: 8 },
      { priority: 2, min: 20 },
    ];
    expect(allocateWidths(columns, [10, 8, 30], 50)).toEqual([10, 8, 28]);
    expect(allocateWidths(columns, [10, 8, 30], 25)).toEqual([10, 8, 0]);
    expect(allocateWidths(columns, [10, 8, 30], 12)).toEqual([10, 0, 0]);
  });
});

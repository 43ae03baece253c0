import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderPairs } from '../../../../src/output/pairs.ts';
import { width } from '../../../../src/util/text.ts';
import { FORBIDDEN, hostileText, viewOf } from '../../../helpers/hostile.ts';

const SECTIONS = [
  {
    pairs: [
      ['profile', 'default'],
      ['endpoint', 'https://restaurants.example/api/mcp'],
      ['key', ''],
    ],
  },
  { title: 'Empty', pairs: [] },
  { title: 'Budget', pairs: [['per minute', '12 of 100 used; all free again at 2025-06-01T12:00:40Z']] },
] as const;

describe('renderPairs', () => {
  it('aligns each group', () => {
    expect(renderPairs(SECTIONS, viewOf(80))).toMatchInlineSnapshot(`
      "profile   default
      endpoint  https://restaurants.example/api/mcp
      key       -

      Budget
      per minute  12 of 100 used; all free again at 2025-06-01T12:00:40Z
      "
    `);
  });

  it('wraps at 40 columns without cutting a word', () => {
    expect(renderPairs(SECTIONS, viewOf(40))).toMatchInlineSnapshot(`
      "profile   default
      endpoint
        https://restaurants.example/api/mcp
      key       -

      Budget
      per minute  12 of 100 used; all free
                  again at
                  2025-06-01T12:00:40Z
      "
    `);
  });

  it('stays readable at 24 columns', () => {
    expect(renderPairs(SECTIONS, viewOf(24))).toMatchInlineSnapshot(`
      "profile   default
      endpoint  https://restau
                rants.example/
                api/mcp
      key       -

      Budget
      per minute
        12 of 100 used; all
        free again at
        2025-06-01T12:00:40Z
      "
    `);
  });

  it('keeps its width and contains nothing harmful', () => {
    const pairs = fc.array(fc.tuple(hostileText, hostileText), { maxLength: 5 });
    fc.assert(
      fc.property(hostileText, pairs, fc.integer({ min: 10, max: 160 }), (title, list, columns) => {
        const text = renderPairs([{ title, pairs: list }], viewOf(columns));
        expect(text).not.toMatch(FORBIDDEN);
        for (const line of text.split('\n')) expect(width(line)).toBeLessThanOrEqual(columns);
      }),
    );
  });
});

import { expect, it } from 'vitest';
import { renderPairs } from '../../../../src/output/pairs.ts';
import { viewOf } from '../../../helpers/hostile.ts';

const SECTIONS = [
  {
    pairs: [
      ['profile', 'default'],
      ['endpoint', 'https://restaurants.example/api/mcp'],
      ['key', ''],
    ],
  },
  { title: 'Empty', pairs: [] },
  {
    title: 'Budget',
    pairs: [['per minute', '12 of 100 used; all free again at 2025-06-01T12:00:40Z', 'env']],
  },
] as const;

it('renderPairs aligns each group, and wraps it without cutting a word if there is room for one', () => {
  const texts = [40, 24].map((columns) => renderPairs(SECTIONS, viewOf(columns)));
  expect(`\n${texts.join('\n')}`).toMatchInlineSnapshot(`
    "
    profile   default
    endpoint
      https://restaurants.example/api/mcp
    key       -

    Budget
    per minute  12 of 100 used; all free
                again at
                2025-06-01T12:00:40Z  env

    profile   default
    endpoint  https://restau
              rants.example/
              api/mcp
    key       -

    Budget
    per minute
      12 of 100 used; all
      free again at
      2025-06-01T12:00:40Z
      env
    "
  `);
});

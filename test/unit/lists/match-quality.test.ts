import { expect, it } from 'vitest';
import { makeDirtyList } from '../../../bench/dirty-list.js';
import { createSearch } from '../../../bench/likeness-service.js';
import { GOALS, MODES, type Mode, scoreOf } from '../../../bench/match-scores.js';
import { resolveColumns } from '../../../src/lists/match/columns.ts';
import { resolveRow, type Searchable } from '../../../src/lists/match/query.ts';

const ROWS = 600;

it.each([1, 2, 3])(
  'matches of a list with errors reach the goals of npm run match-quality with seed %d',
  async (seed) => {
    const { restaurants, rows } = makeDirtyList(seed, ROWS);
    const search = createSearch(restaurants, 'likeness');
    const scoreIn = async (mode: Mode) => {
      const { options, columns } = MODES[mode];
      const { query } = resolveColumns(columns, {});
      const results = rows.map(async ({ row }) => {
        const cells = columns.map((column) => String(row[column]));
        const searchable = query({ kind: 'cells', line: 1, cells, text: '', end: '' }) as Searchable;
        const { status, restaurant } = await resolveRow(searchable, {
          find: async (wanted) => ({ results: search(wanted).results, total: 0 }),
          lookup: async () => ({}),
          details: false,
          loose: options.includes('--loose'),
        });
        return { status, id: restaurant?.service_id };
      });
      return scoreOf(rows, await Promise.all(results), mode);
    };
    const scores = {
      name: await scoreIn('name'),
      loose: await scoreIn('loose'),
      place: await scoreIn('place'),
    };
    const missed = GOALS.filter(({ mode, what, least }) => scores[mode][what] < least);
    expect([missed, Object.values(scores).flatMap(({ wrong }) => wrong)]).toEqual([[], []]);
  },
);

import { expect, it } from 'vitest';
import { makeDirtyList } from '../../../bench/dirty-list.js';
import { createSearch } from '../../../bench/likeness-service.js';
import { GOALS, MODES, type Mode, scoreOf } from '../../../bench/match-scores.js';
import { matchAgain, matchName, NOT_FOUND, type RowResult } from '../../../src/lists/match/match.ts';
import { placeOfRow } from '../../../src/lists/match/place.ts';
import { searchesFor } from '../../../src/lists/match/searches.ts';
import { rowKeyOf } from '../../../src/lists/row-key.ts';

const ROWS = 600;

it.each([
  [1, 'parts'],
  [2, 'parts'],
  [1, 'likeness'],
  [2, 'likeness'],
] as const)(
  'matches of a list with errors reach the goals of npm run match-quality: seed %d, a service that searches by %s',
  (seed, service) => {
    const { restaurants, rows } = makeDirtyList(seed, ROWS);
    const search = createSearch(restaurants, service);
    const scoreIn = (mode: Mode) => {
      const isLoose = MODES[mode].options.includes('--loose');
      const hasPlace = MODES[mode].columns.includes('lat');
      const results = rows.map(({ row: { name, city, lat, lng, address } }) => {
        const place = hasPlace ? placeOfRow(rowKeyOf({ lat, lng, address })) : undefined;
        const query = { name: String(name).trim(), city: String(city).trim(), place };
        let result: RowResult = NOT_FOUND;
        for (const [index, words] of searchesFor(query).entries()) {
          const found = { results: search(words).results, total: 0 };
          result = index === 0 ? matchName(query, found, isLoose) : matchAgain(query, found);
          if (result.status !== 'not_found' || !isLoose) break;
        }
        return { status: result.status, id: result.restaurant?.service_id };
      });
      return scoreOf(rows, results, mode);
    };
    const scores = { name: scoreIn('name'), loose: scoreIn('loose'), place: scoreIn('place') };
    const missed = GOALS.filter(
      (goal) => goal.service === service && scores[goal.mode][goal.what] < goal.least,
    );
    expect([missed, Object.values(scores).flatMap(({ wrong }) => wrong)]).toEqual([[], []]);
  },
);

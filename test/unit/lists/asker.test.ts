import { expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { Asker, addSearch } from '../../../src/lists/asker.ts';
import type { Lack, Question } from '../../../src/lists/resolve.ts';

const LOOKUP: Lack = { request: { kind: 'lookup', id: 'nopa', level: 'basic' }, reason: 'older' };
const QUESTION: Question = { key: { name: 'Nopa', city: 'SF' } };
const FAILURE = new AppError('network', 'the connection was reset');

/** Asks about rows at the same time. @param lackNow what each still lacks, after a number of lookups, which all fail */
async function finishAll(rows: number, lackNow: (lookups: number) => Lack | undefined) {
  let lookups = 0;
  const asker = new Asker({
    service: {
      find: () => Promise.reject(new Error('no search is due')),
      lookup: () => {
        lookups += 1;
        return Promise.reject(FAILURE);
      },
    },
    state: {
      answers: { addFind: () => '', addLookup: () => '' },
      resolve: () => ({ result: { status: 'matched' }, lack: lackNow(lookups) }),
    },
    stop: new AbortController(),
  });
  const failures = await Promise.all(Array.from({ length: rows }, () => asker.finish(QUESTION)));
  return { failures, lookups };
}

it('sends a request that fails once, and returns its failure for every row', async () => {
  expect(await finishAll(3, () => LOOKUP)).toEqual({ failures: [FAILURE, FAILURE, FAILURE], lookups: 1 });
});

it('returns the failure of a row that an answer to another row has brought up to date', async () => {
  const lackNow = (lookups: number) => (lookups === 0 ? LOOKUP : undefined);
  expect(await finishAll(1, lackNow)).toEqual({ failures: [FAILURE], lookups: 1 });
});

it('rejects results without any restaurant', async () => {
  const service = { find: async () => ({ results: [null, 3, [], { name: 'Nopa' }], total: 4 }) };
  const added = addSearch({ name: 'Nopa', city: 'SF' }, { addFind: () => '' }, service);
  await expect(added).rejects.toThrow('none of 4 results can be read');
});

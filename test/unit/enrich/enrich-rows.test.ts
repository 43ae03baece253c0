import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../src/errors.ts';
import { RateLimitError } from '../../../src/storage/pacer.ts';
import { cellRows, found, foundAfter, pause, runEngine } from './engine.ts';

const names = (count: number): string[] => Array.from({ length: count }, (_each, index) => `r${index}`);
const namesOf = (rows: readonly string[]): string[] => rows.map((row) => row.slice(0, row.indexOf(',')));
const statusOf = (rows: readonly string[]): (string | undefined)[] => rows.map((row) => row.split(',')[2]);

describe('enrichRows', () => {
  it('writes every row once, in order, and never has too many requests in flight', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(...names(6)), { maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        fc.infiniteStream(fc.integer({ min: 0, max: 3 })),
        async (list, concurrency, delays) => {
          const { rows, requests, maxInFlight } = await runEngine(
            list,
            { find: (name, signal) => foundAfter(delays.next().value ?? 0, name, signal) },
            { concurrency },
          );
          expect(namesOf(rows)).toEqual(list);
          expect([...requests].sort()).toEqual([...new Set(list)].sort());
          expect(maxInFlight).toBeLessThanOrEqual(concurrency);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('keeps the service busy when equal rows follow each other', async () => {
    const list = names(4).flatMap((name) => [name, name, name, name, name]);
    const { maxInFlight } = await runEngine(list, {
      find: (name, signal) => foundAfter(5, name, signal),
    });
    expect(maxInFlight).toBe(4);
  });

  it('writes a row as soon as all earlier rows are done, also while the input pauses', async () => {
    const written: number[] = [];
    async function* slowRows() {
      yield* cellRows(['a', 'b']);
      await new Promise((resolve) => setTimeout(resolve, 20));
      written.push(run.rows.length);
    }
    const run: { rows: string[] } = { rows: [] };
    await runEngine(slowRows(), {}, { onRow: () => run.rows.push('') });
    expect(written).toEqual([2]);
  });

  it('looks up each matched restaurant once, and no ambiguous one', async () => {
    const { rows, requests } = await runEngine(
      ['Nopa', 'nopa', 'bar'],
      {
        find: (name) => ({
          results:
            name === 'bar'
              ? [
                  { service_id: 'x', name: 'A' },
                  { service_id: 'y', name: 'B' },
                ]
              : [{ service_id: 'n', name: 'Nopa' }],
          total: 1,
        }),
      },
      { fields: 'standard' },
    );
    expect(requests.filter((what) => what === 'n')).toHaveLength(1);
    expect(requests).not.toContain('x');
    expect(rows.map((row) => row.includes('""id"":""n""'))).toEqual([true, true, false]);
  });

  it('keeps the result of a search whose lookup fails', async () => {
    const { rows } = await runEngine(
      ['Nopa'],
      {
        lookup: () => {
          throw new AppError('not_found', 'gone');
        },
      },
      { fields: 'basic' },
    );
    expect(rows).toEqual(['Nopa,SF,error,exact,1,id-Nopa,Nopa,,,,,,,,,,not_found: gone,1,']);
  });

  it('limits a failure to its row, and sends the request of an equal row again', async () => {
    let times = 0;
    const { rows, requests, error } = await runEngine(
      ['a', 'b', 'a'],
      {
        find: (name) => {
          times += 1;
          if (times === 1) throw new AppError('timeout', 'no answer');
          return found(name);
        },
      },
      { concurrency: 1 },
    );
    expect(error).toBeUndefined();
    expect(statusOf(rows)).toEqual(['error', 'matched', 'matched']);
    expect(requests).toEqual(['a', 'b', 'a']);
  });

  it('treats unreadable results as a failure', async () => {
    const { rows } = await runEngine(['a'], { find: () => ({ results: [null, 3], total: 2 }) });
    expect(rows[0]).toContain('error,,,');
    expect(rows[0]).toContain('bad_response: none of 2 results can be read');
  });

  it('finishes the requests in flight when the quota is used up', async () => {
    const { rows, requests, error } = await runEngine(names(50), {
      find: async (name, signal) => {
        if (Number(name.slice(1)) >= 6) throw new RateLimitError(new AppError('budget_spent', 'spent'), 1000);
        await pause(5, signal);
        return found(name);
      },
    });
    expect(error).toBeInstanceOf(RateLimitError);
    expect(namesOf(rows)).toEqual(names(6));
    expect(requests.length).toBeLessThanOrEqual(10);
  });

  it('ends although the input never ends', async () => {
    const interruption = new AbortController();
    async function* endless() {
      yield* cellRows(['a']);
      await new Promise(() => {});
    }
    setTimeout(() => interruption.abort(new AppError('interrupted', 'stop')), 20);
    const { error, rows } = await runEngine(endless(), {}, { stop: interruption });
    expect(error).toMatchObject({ code: 'interrupted' });
    expect(rows).toHaveLength(1);
  });

  it('continues while failures are not consecutive', async () => {
    const { rows, error } = await runEngine(names(100), {
      find: (name) => {
        if (Number(name.slice(1)) % 15 !== 0) throw new AppError('network', 'cannot connect');
        return found(name);
      },
    });
    expect(error).toBeUndefined();
    expect(rows).toHaveLength(100);
  });
});

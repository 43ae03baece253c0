import { setTimeout as sleep } from 'node:timers/promises';
import type { LookupOutput } from '../../../src/client/types.ts';
import { resolveColumns } from '../../../src/enrich/match/columns.ts';
import type { Found } from '../../../src/enrich/match/match.ts';
import type { RestaurantService } from '../../../src/enrich/match/query.ts';
import type { RowDone } from '../../../src/enrich/progress/summary.ts';
import type { CellRow } from '../../../src/enrich/row.ts';
import { enrichRows, type Job } from '../../../src/enrich/run/enrich-rows.ts';
import { noFinishedRows } from '../../../src/enrich/write/checkpoint.ts';
import { openRowCodec, type RowCodecOptions } from '../../../src/enrich/write/row-codec.ts';

/** Options of a CSV of names and cities. */
export const CODEC_OPTIONS: RowCodecOptions = {
  format: 'csv',
  delimiter: ',',
  bom: false,
  lineEnd: '\n',
  columns: ['name', 'city'],
  prefix: 'restaurant_',
  details: true,
  added: [],
  guard: true,
};

export interface FakeService {
  find?(name: string, signal: AbortSignal): Promise<Found> | Found;
  lookup?(id: string, signal: AbortSignal): Promise<LookupOutput> | LookupOutput;
}

/** Returns one restaurant of that name. */
export const found = (name: string): Found => ({ results: [{ service_id: `id-${name}`, name }], total: 1 });

/** Runs the engine on names, with functions as the service. */
export async function runEngine(
  names: readonly string[] | AsyncIterable<CellRow>,
  service: FakeService,
  more: Partial<Job> = {},
) {
  const codec = openRowCodec(CODEC_OPTIONS);
  const stop = more.stop ?? new AbortController();
  const responses = new Map<string, unknown>();
  const requests: string[] = [];
  const rows: string[] = [];
  const done: RowDone[] = [];
  let maxInFlight = 0;
  let inFlight = 0;
  const track = async <T>(what: string, send: () => Promise<T> | T): Promise<T> => {
    const cached = responses.get(what);
    if (cached !== undefined) return cached as T;
    requests.push(what);
    inFlight += 1;
    maxInFlight = Math.max(maxInFlight, inFlight);
    try {
      await Promise.resolve();
      const response = await send();
      responses.set(what, response);
      return response;
    } finally {
      inFlight -= 1;
    }
  };
  const tracked: RestaurantService = {
    find: ({ name }) => track(name, () => (service.find ?? found)(name, stop.signal)),
    lookup: (id) => track(id, () => (service.lookup ?? (() => ({ id })))(id, stop.signal)),
  };
  let error: unknown;
  try {
    await enrichRows({
      rows: () => (Array.isArray(names) ? cellRows(names) : (names as AsyncIterable<CellRow>)),
      columns: resolveColumns(['name', 'city'], {}),
      codec,
      finished: noFinishedRows,
      service: tracked,
      fields: undefined,
      loose: false,
      concurrency: 4,
      append: (text) => {
        rows.push(text.trimEnd());
      },
      stop,
      onRow: (row) => done.push(row),
      ...more,
    });
  } catch (thrown) {
    error = thrown;
  }
  return { rows, requests, done, error, maxInFlight, stop };
}

export async function* cellRows(names: readonly string[]): AsyncGenerator<CellRow> {
  for (const [index, name] of names.entries())
    yield { kind: 'cells', line: index + 2, cells: [name, 'SF'], text: `${name},SF`, end: '\n' };
}

/** Waits, or fails with the signal's reason. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw signal.reason;
  });
}

/** Returns one restaurant of that name, after a while. */
export async function foundAfter(ms: number, name: string, signal: AbortSignal): Promise<Found> {
  await pause(ms, signal);
  return found(name);
}

import type { App } from '../app/app.ts';
import { type Document, openOutput, outputFormat, selectedColumns, writeResult } from '../app/output.ts';
import { openService, type Service } from '../app/service.ts';
import type { Level, LookupOutput } from '../client/types.ts';
import { AppError } from '../errors.ts';
import type { Presentation } from '../output/present.ts';
import { pick } from '../output/records.ts';
import type { LookupItem } from '../output/render/lookup.ts';
import { RateLimitError } from '../storage/pacer.ts';
import { toJson } from '../util/json.ts';
import { mapOrdered } from '../util/ordered.ts';

/** How many lookups are under way at a time. */
const CONCURRENCY = 4;
/** How many ids of a kind of failure are named. */
const SHOWN = 3;

type Outcome =
  | { restaurantId: string; output: LookupOutput; error?: undefined }
  | { restaurantId: string; output?: undefined; error: AppError };

/** Looks up one restaurant and shows it. Its failure is the run's. */
export async function lookupOne(app: App, id: string, level: Level): Promise<void> {
  const service = await openService(app);
  const { output, cachedAt } = await app.withSpinner(`looking up ${id}`, () => service.lookup(id, level));
  const items = [{ restaurantId: id, output }];
  await writeResult(app, document(app, items, output, cachedAt));
  if (cachedAt !== undefined) await app.note('answered from the cache (--max-age 0 asks again)');
}

/**
 * Looks up many, some at a time, in order. A failed one does not stop the others, but for a refused key.
 * @throws {AppError} `partial` after the output, when some failed
 */
export async function lookupAll(app: App, ids: readonly string[], level: Level): Promise<void> {
  if (ids.length === 0) await app.note('no ids came in, so there is nothing to look up');
  const service = ids.length === 0 ? undefined : await openService(app, { paced: true });
  const outcomes = mapOrdered(ids, CONCURRENCY, (id) => outcomeOf(service, id, level));
  const all = outputFormat(app) === 'ndjson' ? await stream(app, outcomes) : await gather(app, outcomes);
  const failed = all.filter((outcome) => outcome.error !== undefined);
  if (failed.length === 0) return;
  throw new AppError('partial', `${failed.length} of ${all.length} lookups failed: ${causesOf(failed)}`, {
    hint: hintFor(failed, level),
    retryable: failed.some(({ error }) => error?.retryable === true),
  });
}

function document(app: App, items: readonly LookupItem[], json: unknown, cachedAt?: number): Document {
  return {
    json,
    present: async () => {
      const { lookupPresentation } = await import('../output/render/lookup.ts');
      return { ...lookupPresentation(items, json), page: pageOf(app, items, cachedAt) };
    },
  };
}

/** What to do about them: ask again what may work then; an id that does not exist never will. */
function hintFor(failed: readonly Outcome[], level: Level): string {
  const again = failed
    .filter(({ error }) => error?.retryable === true)
    .map(({ restaurantId }) => restaurantId);
  if (again.length === 0)
    return 'those cannot be had; restaurant find <name> --city <city> gives ids that can';
  const fields = level === 'basic' ? '' : ` --fields ${level}`;
  const more = again.length > SHOWN ? ' …' : '';
  return `ask those again: restaurant lookup ${again.slice(0, SHOWN).join(' ')}${more}${fields}`;
}

/** The failures by their code, with the first ids of each: one line, however many they are. */
function causesOf(failed: readonly Outcome[]): string {
  const byCode = new Map<string, string[]>();
  for (const { restaurantId, error } of failed) {
    const code = error?.code ?? 'unexpected';
    byCode.set(code, [...(byCode.get(code) ?? []), restaurantId]);
  }
  const told = [...byCode].map(([code, ids]) => {
    const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : '';
    return `${code} (${ids.slice(0, SHOWN).join(', ')}${more})`;
  });
  return told.join('; ');
}

async function outcomeOf(service: Service | undefined, id: string, level: Level): Promise<Outcome> {
  try {
    const { output } = (await service?.lookup(id, level)) ?? { output: {} };
    return { restaurantId: id, output };
  } catch (error) {
    // A key that is refused once is refused for all, and so is a day that is spent, or a long wait that the service asks
    // for; an interruption ends all.
    if (!(error instanceof AppError) || error.kind === 'auth' || error.kind === 'interrupted') throw error;
    if (error instanceof RateLimitError) throw error;
    return { restaurantId: id, error };
  }
}

async function asRecord({ restaurantId, output, error }: Outcome): Promise<Record<string, unknown>> {
  if (error === undefined) return { restaurant_id: restaurantId, output };
  const { errorFields } = await import('../output/problem.ts');
  return { restaurant_id: restaurantId, error: errorFields(error) };
}

/** Writes each record as soon as it and those before it are there. */
async function stream(app: App, outcomes: AsyncIterable<Outcome>): Promise<Outcome[]> {
  const sink = openOutput(app);
  const columns = selectedColumns(app);
  const all: Outcome[] = [];
  for await (const outcome of outcomes) {
    const record = await asRecord(outcome);
    if (columns !== undefined && outcome.output !== undefined) record.output = pick(outcome.output, columns);
    await sink.write(`${toJson(record, false)}\n`);
    all.push(outcome);
  }
  await sink.finish();
  return all;
}

/** Makes the page of these lookups. */
const pageOf =
  (app: App, items: readonly LookupItem[], at = app.context.now()): Presentation['page'] =>
  async (columns) => {
    const { lookupPage } = await import('../output/html/rows.ts');
    return lookupPage(items, at, columns);
  };

async function gather(app: App, outcomes: AsyncIterable<Outcome>): Promise<Outcome[]> {
  const all: Outcome[] = [];
  await app.withSpinner('looking up', async () => {
    for await (const outcome of outcomes) all.push(outcome);
  });
  const items = all.map(({ restaurantId, output, error }) =>
    output === undefined
      ? { restaurantId, failure: { code: error.code, message: error.message } }
      : { restaurantId, output },
  );
  await writeResult(app, document(app, items, await Promise.all(all.map(asRecord))));
  return all;
}

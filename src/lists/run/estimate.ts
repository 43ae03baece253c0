import { hash } from 'node:crypto';
import type { App } from '../../app/app.ts';
import { openLedgerFor } from '../../app/quota.ts';
import { configuredTarget } from '../../app/target.ts';
import { type ServiceTool, TOOLS } from '../../client/tools.ts';
import type { FindQuery } from '../../client/types.ts';
import { formatNumber, plural } from '../../util/format.ts';
import { toJson } from '../../util/json.ts';
import {
  type DecidedQuery,
  furtherSearches,
  type RowQuery,
  resolveRow,
  type Searchable,
} from '../match/query.ts';
import { asLines } from '../progress/summary.ts';
import { type InputRow, placeText } from '../row.ts';
import { type FinishedRowReader, noFinishedRows, readFinishedRows } from '../write/checkpoint.ts';
import { needsDetails } from './enrich-rows.ts';
import type { Plan } from './plan.ts';
import { openCacheReader } from './service.ts';

/** Equal queries have equal keys. 96 bits distinguish them; a longer slice would keep the whole digest in memory. */
const keyOf = (...parts: readonly string[]): string =>
  hash('sha256', parts.join('\0'), 'binary').slice(0, 12);

function queryKey(query: Searchable | DecidedQuery): string {
  if (query.kind === 'search') return keyOf('search', query.name, query.city);
  return keyOf('row', query.kind === 'lookup' ? query.id : (query.result.restaurant?.service_id ?? ''));
}

const MAX_NAMED = 10;
const CHECK_EVERY = 256;

export async function printEstimate(app: App, plan: Plan): Promise<void> {
  const cost = await costOf(app, plan);
  const { input, places: _, ...json } = cost;
  const text = plan.options.json
    ? `${toJson(json, app.context.stdout.isTTY)}\n`
    : asLines(estimateLines(cost), app.context.stdout);
  await app.context.stdout.write(text);
}

/** The cached responses make a new start cheaper than the first run. */
export async function restartText(app: App, plan: Plan): Promise<string> {
  if (plan.input.file === undefined) return 'or start again';
  const { cached, requests } = await count(app, plan, noFinishedRows);
  return cached === 0
    ? 'or start again'
    : `or start again (${plural(cached, 'response')} cached, ${plural(requests, 'request')} to send)`;
}

type Cost = Awaited<ReturnType<typeof costOf>>;

async function costOf(app: App, plan: Plan) {
  const { outputFile, options, codec, input } = plan;
  const { perMinute, perDay } = options;
  const isStarted = outputFile?.exists === true && options.resume === true;
  const finished = isStarted ? readFinishedRows(outputFile, { ...options, codec }) : noFinishedRows;
  const counts = await count(app, plan, finished);
  const target = configuredTarget(app);
  const usage =
    target === undefined || perDay === 0
      ? undefined
      : await (await openLedgerFor(app, target, options)).usage();
  /** Requests left in today's quota; null without a limit or a known service. */
  const leftToday = usage === undefined ? null : Math.max(0, perDay - usage.perDay.used);
  return {
    input: input.name,
    ...counts,
    per_minute: perMinute,
    per_day: perDay,
    left_today: leftToday,
    ...durationOf(counts.requests, perMinute, perDay, leftToday ?? perDay),
  };
}

export function durationOf(
  requests: number,
  perMinute: number,
  perDay: number,
  left: number,
): { readonly minutes: number | null; readonly days: number | null } {
  const today = requests > 0 && left > 0 ? 1 : 0;
  return {
    minutes: perMinute === 0 ? null : Math.ceil(requests / perMinute),
    days: perDay === 0 ? null : today + Math.ceil(Math.max(0, requests - left) / perDay),
  };
}

class NotStored extends Error {}

interface Counter {
  readonly plan: Plan;
  readonly read: Awaited<ReturnType<typeof openCacheReader>>;
  readonly seen: Set<string>;
  readonly counts: typeof ZERO;
}

const ZERO = {
  rows: 0,
  done: 0,
  /** Rows without a name, a city, or a usable id, and the lines of the first ones. */
  skipped: 0,
  skipped_lines: [] as readonly number[],
  /** The same lines, for people. */
  places: [] as readonly string[],
  distinct_queries: 0,
  cached: 0,
  requests: 0,
  /** Includes lookups and second searches, which depend on the results. */
  requests_at_most: 0,
};

async function count(app: App, plan: Plan, finished: FinishedRowReader) {
  const counts = { ...ZERO };
  const counter = { plan, read: await openCacheReader(app), seen: new Set<string>(), counts };
  for await (const row of plan.rows()) {
    counts.rows += 1;
    if (counts.rows % CHECK_EVERY === 0) app.context.signal.throwIfAborted();
    const query = plan.columns.query(row);
    const earlier = finished.take(row, plan.codec.input(row));
    if (earlier === undefined) await addRow(counter, query, row);
    else {
      counts.done += 1;
      if (query.kind !== 'none' && earlier.status !== 'error') counter.seen.add(queryKey(query));
    }
  }
  finished.end();
  return counts;
}

async function addRow(counter: Counter, query: RowQuery, row: InputRow): Promise<void> {
  const { plan, counts } = counter;
  const { fields } = plan.options;
  if (query.kind === 'decided' && !needsDetails(query, fields)) {
    counts.done += 1;
  } else if (query.kind === 'none') {
    counts.skipped += 1;
    if (counts.skipped > MAX_NAMED) return;
    counts.skipped_lines = [...counts.skipped_lines, row.line];
    counts.places = [...counts.places, placeText(row)];
  } else if (isNew(counter, queryKey(query))) {
    counts.distinct_queries += 1;
    await addQuery(counter, query);
  } else if (fields !== undefined && query.place !== undefined) {
    // The same name at another place may be another restaurant, with its own details.
    if (isNew(counter, keyOf('place', JSON.stringify(query)))) counts.requests_at_most += 1;
  }
}

async function addQuery(counter: Counter, query: Searchable | DecidedQuery): Promise<void> {
  const { fields, loose = false } = counter.plan.options;
  try {
    await resolveRow(query, {
      details: fields !== undefined,
      loose,
      find: (search) => findStored(counter, search, query),
      async lookup(id) {
        if (isNew(counter, keyOf('details', id)))
          await fetchStored(counter, TOOLS.lookup, { id, level: fields ?? 'basic' });
        return {};
      },
    });
  } catch (error) {
    if (!(error instanceof NotStored)) throw error;
  }
}

async function findStored(counter: Counter, { name, city }: FindQuery, query: Searchable | DecidedQuery) {
  const found = await fetchStored(counter, TOOLS.find, { name, city });
  if (found !== undefined) return { results: found.results, total: found.output.total_matches };
  const { fields, loose } = counter.plan.options;
  const isFirst = query.kind === 'search' && name === query.name && city === query.city;
  const further = loose && isFirst ? furtherSearches(query).length : 0;
  counter.counts.requests_at_most += (fields === undefined ? 0 : 1) + further;
  throw new NotStored();
}

async function fetchStored<Query, Result>(
  { read, counts }: Counter,
  tool: ServiceTool<Query, Result>,
  query: Query,
): Promise<Result | undefined> {
  const result = await read(tool, query);
  counts[result === undefined ? 'requests' : 'cached'] += 1;
  if (result === undefined) counts.requests_at_most += 1;
  return result;
}

const isNew = ({ seen }: Counter, key: string): boolean => seen.size < seen.add(key).size;

function estimateLines(cost: Cost): string[] {
  const { done, skipped, requests, requests_at_most, per_minute, per_day, left_today } = cost;
  const most =
    requests_at_most > requests ? `, up to ${formatNumber(requests_at_most)} depending on the results` : '';
  // More than the queries, because a row can need a second search, and details.
  const further = cost.cached > cost.distinct_queries ? ', second searches and details included' : '';
  const quota = [
    per_minute === 0 ? [] : `${formatNumber(per_minute)} a minute`,
    per_day === 0 ? [] : `${formatNumber(per_day)} a day`,
    left_today === null ? [] : `${formatNumber(left_today)} left today`,
  ].flat();
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['rows', `${formatNumber(cost.rows)} in ${cost.input}`],
    ['done', done > 0 ? `${formatNumber(done)} by an earlier run` : undefined],
    ['skipped', skipped > 0 ? skippedText(cost) : undefined],
    ['queries', `${formatNumber(cost.distinct_queries)} different`],
    ['cached', `${plural(cost.cached, 'response')}${further}`],
    ['requests', `${formatNumber(requests)}${most}`],
    ['quota', quota.length === 0 ? 'no limit' : quota.join(', ')],
    ['time', timeText(cost)],
  ];
  return lines.flatMap(([key, text]) => (text === undefined ? [] : [`${key.padEnd(10)}${text}`]));
}

function skippedText({ skipped, places }: Cost): string {
  const more = skipped - places.length;
  const lines = `${skipped === 1 ? 'line' : 'lines'} ${places.join(', ')}`;
  const all = more > 0 ? `${lines} and ${formatNumber(more)} more` : lines;
  return `${plural(skipped, 'row')} without a name, city or id: ${all}`;
}

function timeText({ minutes, days, requests, per_minute }: Cost): string {
  if (requests === 0) return 'none';
  if (days !== null && days > 1) return `${plural(days, 'day')}, because of the daily quota`;
  if (minutes === null) return 'as fast as the service responds';
  // The requests of the first minute are sent immediately.
  return requests <= per_minute ? 'less than a minute' : `about ${plural(minutes, 'minute')}`;
}

import type { App } from '../../app/app.ts';
import { ledgerOf, openStoredResponses, type StoredResponses } from '../../app/service.ts';
import { configuredEndpoint, configuredKey, type Target } from '../../app/target.ts';
import { decodeFind } from '../../client/results.ts';
import { toJson } from '../../util/json.ts';
import type { NameQuery } from '../match/columns.ts';
import { matchLoosely, matchName, simplifyName } from '../match/match.ts';
import { asLines, formatNumber, plural } from '../progress/summary.ts';
import { type FinishedRowReader, noFinishedRows, openCheckpoint } from '../write/checkpoint.ts';
import { openRowFile } from '../write/row-file.ts';
import { detailsKey, queryKey } from './memo.ts';
import type { Plan } from './plan.ts';

/** The cost of a run, before it is made. */
export interface Estimate {
  readonly rows: number;
  /** Rows that an earlier run finished. */
  readonly done: number;
  /** Rows without a name, a city or a usable id. */
  readonly skipped: number;
  /** Lines of the first of them. */
  readonly skippedLines: readonly number[];
  /** Different queries of the other rows. */
  readonly distinct: number;
  /** Responses that are in the cache. */
  readonly cached: number;
  readonly requests: number;
  /** With lookups and second searches that depend on what is found. */
  readonly requestsAtMost: number;
}

/** Most rows that are named by their line. */
const MAX_NAMED = 10;
const CHECK_EVERY = 256;

/** Prints the cost of a run. Sends nothing and writes no file. */
export async function printEstimate(app: App, plan: Plan): Promise<void> {
  const { input, options } = plan;
  const { perMinute, perDay } = options;
  const target = configuredTarget(app);
  const stored = target === undefined ? undefined : await openStoredResponses(app, target, { preview: true });
  const estimate = await estimateRun(plan, stored, app.context.signal);
  const used =
    target === undefined || perDay === 0 ? undefined : await ledgerOf(app, target, options).usage();
  const leftToday = used === undefined ? null : Math.max(0, perDay - used.perDay.used);
  const cost = {
    ...estimate,
    input: input.name,
    perMinute,
    perDay,
    leftToday,
    ...durationOf(estimate.requests, perMinute, perDay, leftToday ?? perDay),
  };
  const text = options.json
    ? `${toJson(estimateJson(cost), app.context.stdout.isTTY)}\n`
    : asLines(estimateLines(cost));
  await app.context.stdout.write(text);
}

/** The duration of requests under a quota. @param left requests that the quota still has today */
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

/** The service of this run, where it is configured. */
function configuredTarget(app: App): Target | undefined {
  if (app.globals.demo === true) return undefined;
  const url = configuredEndpoint(app)?.url;
  const key = url === undefined ? undefined : configuredKey(app, url)?.value;
  return url === undefined || key === undefined ? undefined : { url, key, demo: false };
}

/** The rows of earlier runs, without changing them. */
function finishedRows({ place, options, codec }: Plan): FinishedRowReader {
  if (place === undefined || !place.exists || options.resume !== true) return noFinishedRows;
  const opened = openRowFile(place.path, 'look', () => 0);
  if (opened.size <= Buffer.byteLength(codec.header)) return noFinishedRows;
  const file = { ...opened, cut: () => {}, append: () => 0 };
  const empty = { ...file, readBytes: () => 0 };
  const { name } = place;
  return options.retryErrors === true
    ? openCheckpoint({ file: empty, previous: file, codec, name, retryErrors: true })
    : openCheckpoint({ file, codec, name, retryErrors: false });
}

/** Goes over the rows as a run would, without sending anything. */
async function estimateRun(
  plan: Plan,
  stored: StoredResponses | undefined,
  signal: AbortSignal,
): Promise<Estimate> {
  const { codec, columns, options } = plan;
  const finished = finishedRows(plan);
  const seen = new Set<string>();
  const skippedLines: number[] = [];
  const counts = { rows: 0, done: 0, skipped: 0, distinct: 0, cached: 0, requests: 0, requestsAtMost: 0 };

  const isNew = (key: string): boolean => seen.size < seen.add(key).size;
  const count = (isStored: boolean): void => {
    if (isStored) counts.cached += 1;
    else {
      counts.requests += 1;
      counts.requestsAtMost += 1;
    }
  };
  const countLookup = async (id: string): Promise<void> => {
    const args = { restaurant_id: id, fields: options.fields ?? 'basic' };
    if (isNew(detailsKey(id))) count((await stored?.get('lookup_restaurant', args)) !== undefined);
  };
  const countSearch = async (query: NameQuery, loosely?: string): Promise<void> => {
    const { name, city } = query;
    const held = await stored?.get('find_restaurant', { name: loosely ?? name, city });
    const found = held === undefined ? undefined : decodeFind({ structuredContent: held.value });
    count(found !== undefined);
    const simple = options.loose && loosely === undefined ? simplifyName(name) : undefined;
    const lookups = options.fields === undefined ? 0 : 1;
    if (found === undefined) {
      counts.requestsAtMost += lookups + (simple === undefined ? 0 : 1);
      return;
    }
    const { results, output } = found;
    const match =
      loosely === undefined
        ? matchName(query, results, output.total_matches)
        : matchLoosely(query, loosely, results, output.total_matches);
    if (match.status === 'not_found') {
      if (simple !== undefined) await countSearch(query, simple);
    } else if (lookups > 0 && match.status !== 'ambiguous') await countLookup(match.restaurant.service_id);
  };

  for await (const row of plan.rows()) {
    counts.rows += 1;
    if (counts.rows % CHECK_EVERY === 0) signal.throwIfAborted();
    const query = columns.query(row);
    const earlier = finished.take(row, codec.input(row));
    const key = queryKey(query);
    if (earlier !== undefined) {
      counts.done += 1;
      if (key !== undefined && earlier.status !== 'error') seen.add(key);
    } else if (key === undefined) {
      counts.skipped += 1;
      if (skippedLines.length < MAX_NAMED) skippedLines.push(row.line);
    } else if (isNew(key)) {
      counts.distinct += 1;
      if (query.kind === 'lookup') await countLookup(query.id);
      else if (query.kind === 'search') await countSearch(query);
    }
  }
  finished.end();
  return { ...counts, skippedLines };
}

interface Cost extends Estimate {
  readonly input: string;
  readonly perMinute: number;
  readonly perDay: number;
  /** Requests that the day's quota still has; null without a limit or a known service. */
  readonly leftToday: number | null;
  /** Whole minutes by the quota of a minute; null without one. */
  readonly minutes: number | null;
  /** Days on which requests are sent, today included; null without a quota of a day. */
  readonly days: number | null;
}

/** The estimate for a program. */
function estimateJson(cost: Cost): Record<string, unknown> {
  return {
    rows: cost.rows,
    done: cost.done,
    unusable_rows: cost.skipped,
    unusable_lines: cost.skippedLines,
    distinct_queries: cost.distinct,
    cached: cost.cached,
    requests: cost.requests,
    requests_at_most: cost.requestsAtMost,
    per_minute: cost.perMinute,
    per_day: cost.perDay,
    left_today: cost.leftToday,
    minutes: cost.minutes,
    days: cost.days,
  };
}

/** The estimate for a person, as lines. */
function estimateLines(cost: Cost): string[] {
  const { rows, done, skipped, distinct, cached, requests, requestsAtMost, leftToday } = cost;
  const most = requestsAtMost > requests ? `, up to ${formatNumber(requestsAtMost)} with what is found` : '';
  const quota = [
    cost.perMinute === 0 ? '' : `${formatNumber(cost.perMinute)} a minute`,
    cost.perDay === 0 ? '' : `${formatNumber(cost.perDay)} a day`,
    leftToday === null ? '' : `${formatNumber(leftToday)} left today`,
  ].filter((part) => part !== '');
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['rows', `${formatNumber(rows)} in ${cost.input}`],
    ['done', done > 0 ? `${formatNumber(done)} by an earlier run` : undefined],
    ['skipped', skipped > 0 ? skippedText(cost) : undefined],
    ['queries', `${formatNumber(distinct)} different`],
    ['cached', plural(cached, 'response')],
    ['requests', `${formatNumber(requests)}${most}`],
    ['quota', quota.length === 0 ? 'no limit' : quota.join(', ')],
    ['time', timeText(cost)],
  ];
  return lines.flatMap(([key, text]) => (text === undefined ? [] : [`${key.padEnd(10)}${text}`]));
}

function skippedText({ skipped, skippedLines }: Cost): string {
  const more = skipped - skippedLines.length;
  const lines = `${skipped === 1 ? 'line' : 'lines'} ${skippedLines.join(', ')}`;
  const all = more > 0 ? `${lines} and ${formatNumber(more)} more` : lines;
  return `${plural(skipped, 'row')} without a name, city or id: ${all}`;
}

function timeText({ minutes, days, requests, perMinute }: Cost): string {
  if (requests === 0) return 'none';
  if (days !== null && days > 1) return `${plural(days, 'day')}, by the quota of a day`;
  if (minutes === null) return 'as fast as the service responds';
  // The quota of the first minute is used at once.
  return requests <= perMinute ? 'less than a minute' : `about ${plural(minutes, 'minute')}`;
}

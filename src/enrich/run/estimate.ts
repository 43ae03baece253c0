import { hash } from 'node:crypto';
import type { App } from '../../app/app.ts';
import { openLedgerFor } from '../../app/quota.ts';
import { openStoredResponses, type StoredResponses } from '../../app/responses.ts';
import { configuredTarget } from '../../app/target.ts';
import { decodeFind } from '../../client/results.ts';
import { toJson } from '../../util/json.ts';
import { formatNumber, plural } from '../../util/plural.ts';
import type { Searchable } from '../match/columns.ts';
import { simplifyName } from '../match/match.ts';
import { resolveRow } from '../match/resolve-row.ts';
import { asLines } from '../progress/summary.ts';
import { type FinishedRowReader, noFinishedRows, readFinishedRows } from '../write/checkpoint.ts';
import type { Plan } from './plan.ts';

/** Equal queries have equal keys. 96 bits distinguish them; a longer slice would keep the whole digest in memory. */
const keyOf = (...parts: readonly string[]): string =>
  hash('sha256', parts.join('\0'), 'binary').slice(0, 12);

const queryKey = (query: Searchable): string =>
  query.kind === 'search' ? keyOf('search', query.name, query.city) : keyOf('row', query.id);

/** Maximum number of skipped rows that are listed by line. */
const MAX_NAMED = 10;
const CHECK_EVERY = 256;

export async function printEstimate(app: App, plan: Plan): Promise<void> {
  const cost = await costOf(app, plan);
  const { input, ...json } = cost;
  const text = plan.options.json
    ? `${toJson(json, app.context.stdout.isTTY)}\n`
    : asLines(estimateLines(cost));
  await app.context.stdout.write(text);
}

type Cost = Awaited<ReturnType<typeof costOf>>;

async function costOf(app: App, plan: Plan) {
  const { perMinute, perDay } = plan.options;
  const target = configuredTarget(app);
  const stored = target === undefined ? undefined : await openStoredResponses(app, target, { preview: true });
  const counts = await countRequests(plan, stored, app.context.signal);
  const usage =
    target === undefined || perDay === 0
      ? undefined
      : await (await openLedgerFor(app, target, plan.options)).usage();
  /** Requests left in today's quota; null without a limit or a known service. */
  const leftToday = usage === undefined ? null : Math.max(0, perDay - usage.perDay.used);
  return {
    input: plan.input.name,
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

const finishedRows = ({ outputFile, options, codec }: Plan): FinishedRowReader =>
  outputFile?.exists && options.resume ? readFinishedRows(outputFile, { ...options, codec }) : noFinishedRows;

/** A response that is not in the cache. */
class NotStored extends Error {}

async function countRequests(plan: Plan, stored: StoredResponses | undefined, signal: AbortSignal) {
  const { codec, columns, options } = plan;
  const { fields, loose = false } = options;
  const finished = finishedRows(plan);
  const seen = new Set<string>();
  const counts = {
    rows: 0,
    /** Rows finished by an earlier run. */
    done: 0,
    /** Rows without a name, a city, or a usable id, and the lines of the first ones. */
    unusable_rows: 0,
    unusable_lines: [] as number[],
    /** Different queries of the other rows. */
    distinct_queries: 0,
    cached: 0,
    requests: 0,
    /** Includes lookups and second searches, which depend on the results. */
    requests_at_most: 0,
  };

  const isNew = (key: string): boolean => seen.size < seen.add(key).size;
  const fetch = async (tool: string, args: Record<string, unknown>): Promise<unknown> => {
    const response = await stored?.get(tool, args);
    counts[response === undefined ? 'requests' : 'cached'] += 1;
    if (response === undefined) counts.requests_at_most += 1;
    return response?.value;
  };
  const countQuery = (query: Searchable) =>
    resolveRow(query, {
      details: fields !== undefined,
      loose,
      async find({ name, city }) {
        const value = await fetch('find_restaurant', { name, city });
        if (value === undefined) {
          const mayRepeat =
            loose && query.kind === 'search' && name === query.name && simplifyName(name) !== undefined;
          counts.requests_at_most += (fields === undefined ? 0 : 1) + (mayRepeat ? 1 : 0);
          throw new NotStored();
        }
        const { results, output } = decodeFind({ structuredContent: value });
        return { results, total: output.total_matches };
      },
      async lookup(id) {
        if (isNew(keyOf('details', id)))
          await fetch('lookup_restaurant', { restaurant_id: id, fields: fields ?? 'basic' });
        return {};
      },
    }).catch((error: unknown) => {
      if (!(error instanceof NotStored)) throw error;
    });

  for await (const row of plan.rows()) {
    counts.rows += 1;
    if (counts.rows % CHECK_EVERY === 0) signal.throwIfAborted();
    const query = columns.query(row);
    const earlier = finished.take(row, codec.input(row));
    if (earlier !== undefined) {
      counts.done += 1;
      if (query.kind !== 'none' && earlier.status !== 'error') seen.add(queryKey(query));
    } else if (query.kind === 'none') {
      counts.unusable_rows += 1;
      if (counts.unusable_rows <= MAX_NAMED) counts.unusable_lines.push(row.line);
    } else if (isNew(queryKey(query))) {
      counts.distinct_queries += 1;
      await countQuery(query);
    }
  }
  finished.end();
  return counts;
}

function estimateLines(cost: Cost): string[] {
  const { done, unusable_rows, requests, requests_at_most, per_minute, per_day, left_today } = cost;
  const most =
    requests_at_most > requests ? `, up to ${formatNumber(requests_at_most)} depending on the results` : '';
  const quota = [
    per_minute === 0 ? [] : `${formatNumber(per_minute)} a minute`,
    per_day === 0 ? [] : `${formatNumber(per_day)} a day`,
    left_today === null ? [] : `${formatNumber(left_today)} left today`,
  ].flat();
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['rows', `${formatNumber(cost.rows)} in ${cost.input}`],
    ['done', done > 0 ? `${formatNumber(done)} by an earlier run` : undefined],
    ['skipped', unusable_rows > 0 ? skippedText(cost) : undefined],
    ['queries', `${formatNumber(cost.distinct_queries)} different`],
    ['cached', plural(cost.cached, 'response')],
    ['requests', `${formatNumber(requests)}${most}`],
    ['quota', quota.length === 0 ? 'no limit' : quota.join(', ')],
    ['time', timeText(cost)],
  ];
  return lines.flatMap(([key, text]) => (text === undefined ? [] : [`${key.padEnd(10)}${text}`]));
}

function skippedText({ unusable_rows, unusable_lines }: Cost): string {
  const more = unusable_rows - unusable_lines.length;
  const lines = `${unusable_rows === 1 ? 'line' : 'lines'} ${unusable_lines.join(', ')}`;
  const all = more > 0 ? `${lines} and ${formatNumber(more)} more` : lines;
  return `${plural(unusable_rows, 'row')} without a name, city or id: ${all}`;
}

function timeText({ minutes, days, requests, per_minute }: Cost): string {
  if (requests === 0) return 'none';
  if (days !== null && days > 1) return `${plural(days, 'day')}, because of the daily quota`;
  if (minutes === null) return 'as fast as the service responds';
  // The requests of the first minute are sent immediately.
  return requests <= per_minute ? 'less than a minute' : `about ${plural(minutes, 'minute')}`;
}

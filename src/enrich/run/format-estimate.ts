import { plural } from '../progress/counters.ts';
import type { Duration, Estimate } from './estimate.ts';

export interface EstimateTold extends Estimate, Duration {
  readonly input: string;
  readonly perMinute: number;
  readonly perDay: number;
  /** Requests that the day's budget still has; null without a limit or a known service. */
  readonly leftToday: number | null;
}

/** The estimate for a program. */
export function estimateFacts(told: EstimateTold): Record<string, unknown> {
  return {
    rows: told.rows,
    done: told.done,
    unusable_rows: told.unusable,
    unusable_lines: told.unusableLines,
    distinct_queries: told.distinct,
    cached: told.cached,
    requests: told.requests,
    requests_at_most: told.requestsAtMost,
    per_minute: told.perMinute,
    per_day: told.perDay,
    left_today: told.leftToday,
    minutes: told.minutes,
    days: told.days,
  };
}

/** The estimate for a person, as lines. */
export function estimateText(told: EstimateTold): string[] {
  const { rows, done, unusable, distinct, cached, requests, requestsAtMost, leftToday } = told;
  const number = (value: number): string => value.toLocaleString('en-US');
  const most =
    requestsAtMost > requests ? `, with lookups of what is found up to ${number(requestsAtMost)}` : '';
  const budget = [
    told.perMinute === 0 ? '' : `${number(told.perMinute)} a minute`,
    told.perDay === 0 ? '' : `${number(told.perDay)} a day`,
    leftToday === null ? '' : `${number(leftToday)} left today`,
  ].filter((part) => part !== '');
  const pairs: [string, string][] = [
    ['rows', `${number(rows)} in ${told.input}`],
    ...(done > 0 ? [['done', `${number(done)} by an earlier run`] satisfies [string, string]] : []),
    ...(unusable > 0 ? [['unusable', unusableText(told)] satisfies [string, string]] : []),
    ['queries', `${number(distinct)} different`],
    ['cached', plural(cached, 'answer')],
    ['requests', `${number(requests)}${most}`],
    ['budget', budget.length === 0 ? 'no limit' : budget.join(', ')],
    ['time', timeText(told)],
  ];
  return pairs.map(([key, text]) => `${key.padEnd(10)}${text}`);
}

function unusableText({ unusable, unusableLines }: EstimateTold): string {
  const more = unusable - unusableLines.length;
  const lines = `${unusable === 1 ? 'line' : 'lines'} ${unusableLines.join(', ')}`;
  const all = more > 0 ? `${lines} and ${more.toLocaleString('en-US')} more` : lines;
  return `${plural(unusable, 'row')} without a name, city or id: ${all}`;
}

function timeText({ minutes, days, requests, perMinute }: EstimateTold): string {
  if (requests === 0) return 'none';
  if (days !== null && days > 1) return `${plural(days, 'day')}, as the budget of a day allows`;
  if (minutes === null) return 'as fast as the service answers';
  // What the budget of a minute holds goes at once.
  return requests <= perMinute ? 'less than a minute' : `about ${plural(minutes, 'minute')}`;
}

import { configuredEndpoint } from '../app/address.ts';
import type { App } from '../app/app.ts';
import { openLedgerFor, quotaLimits } from '../app/quota.ts';
import { configuredTarget, DEMO } from '../app/target.ts';
import { formatNumber, plural } from '../util/format.ts';
import { toJson } from '../util/json.ts';
import { cleanLine } from '../util/text.ts';
import { type Due, reasonsOf } from './due.ts';
import { type EnrichFlags, ListState, recentSince, type Survey } from './list-state.ts';
import { columnsText } from './match/columns.ts';
import { MemoryAnswers } from './memory-answers.ts';
import { answersService, openListAnswers } from './open-answers.ts';
import { type Plan, warnOfFormulas } from './plan.ts';
import { asLines, wantsSummary } from './progress/summary.ts';
import { type InputRow, placeText } from './row.ts';
import type { Update } from './run.ts';
import { assertReplaceable } from './views/write.ts';

type Preview = Omit<Update, 'file'>;

/** Prints what a run would ask for, and how long that takes. Sends and writes nothing. */
export async function printEstimate(app: App, preview: Preview): Promise<void> {
  await warnOfFormulas(app, preview.plan);
  const { due, skipped } = await surveyOf(app, preview);
  const quota = await quotaOf(app, preview.flags, due);
  const { stdout } = app.context;
  const text = wantsSummary(app)
    ? `${toJson(jsonOf(due, skipped, quota), stdout.isTTY)}\n`
    : asLines(linesOf(preview, due, skipped, quota), stdout);
  await stdout.write(text);
}

async function surveyOf(app: App, { flags, views, plan, rows }: Preview): Promise<Survey> {
  const hasAnswers = views.length > 0 || flags.answers !== undefined;
  const endpoint = configuredEndpoint(app);
  const configured = endpoint && answersService({ url: endpoint.url, demo: false });
  const service = app.globals.demo === true ? DEMO : configured;
  const answers = hasAnswers ? openListAnswers(app, views, flags.answers, 'read', service) : undefined;
  try {
    assertReplaceable(app, views, answers);
    const known = answers ?? new MemoryAnswers(app.context.now);
    const state = new ListState(plan, rows, known, recentSince(flags.older, app.context.now()));
    return await state.survey(flags.first, app.context.signal);
  } finally {
    answers?.close();
  }
}

type Quota = Awaited<ReturnType<typeof quotaOf>>;

async function quotaOf(app: App, flags: EnrichFlags, { requests, requestsAtMost }: Due) {
  const limits = quotaLimits(app, flags);
  const { perMinute, perDay } = limits;
  const target = configuredTarget(app);
  const usage =
    target === undefined || perDay === 0
      ? undefined
      : await (await openLedgerFor(app, target, limits)).usage();
  /** Requests left in today's quota; null without a limit or a known service. */
  const leftToday = usage === undefined ? null : Math.max(0, perDay - usage.perDay.used);
  const durationFor = (count: number) => durationOf(count, perMinute, perDay, leftToday ?? perDay);
  return { perMinute, perDay, leftToday, least: durationFor(requests), most: durationFor(requestsAtMost) };
}

interface Duration {
  readonly minutes: number | null;
  readonly days: number | null;
}

export function durationOf(requests: number, perMinute: number, perDay: number, left: number): Duration {
  const today = requests > 0 && left > 0 ? 1 : 0;
  return {
    minutes: perMinute === 0 ? null : Math.ceil(requests / perMinute),
    days: perDay === 0 ? null : today + Math.ceil(Math.max(0, requests - left) / perDay),
  };
}

const MAX_NAMED = 10;

const jsonOf = (due: Due, skipped: readonly InputRow[], quota: Quota) => ({
  rows: due.total,
  due: due.rows.length,
  requests: due.requests,
  requests_at_most: due.requestsAtMost,
  reasons: due.reasons,
  skipped: skipped.length,
  skipped_lines: skipped.slice(0, MAX_NAMED).map(({ line }) => line),
  due_rows: due.rows.map(({ index, lack }) => ({ row: index + 1, reason: lack.reason })),
  per_minute: quota.perMinute,
  per_day: quota.perDay,
  left_today: quota.leftToday,
  ...quota.least,
  minutes_at_most: quota.most.minutes,
  days_at_most: quota.most.days,
});

function linesOf({ plan, flags }: Preview, due: Due, skipped: readonly InputRow[], quota: Quota): string[] {
  const { requests, requestsAtMost } = due;
  const most =
    requestsAtMost > requests ? `, up to ${formatNumber(requestsAtMost)} depending on the answers` : '';
  const limits = [
    quota.perMinute === 0 ? [] : `${formatNumber(quota.perMinute)} a minute`,
    quota.perDay === 0 ? [] : `${formatNumber(quota.perDay)} a day`,
    quota.leftToday === null ? [] : `${formatNumber(quota.leftToday)} left today`,
  ].flat();
  const lines: readonly (readonly [string, string | undefined])[] = [
    ['list', sheetText(plan)],
    ['columns', columnsText(plan.columns)],
    ['due', dueText(due, flags)],
    ['skipped', skipped.length > 0 ? skippedText(skipped) : undefined],
    ['requests', `${formatNumber(requests)}${most}`],
    ['quota', limits.length === 0 ? 'no limit' : limits.join(', ')],
    ['time', timeText(due, quota)],
  ];
  return lines.flatMap(([key, text]) => (text === undefined ? [] : [`${key.padEnd(10)}${text}`]));
}

function sheetText({ name, list: { sheets } }: Plan): string | undefined {
  const [others, sheet = ''] = [sheets?.sheets.length ?? 0, sheets?.sheet];
  return others > 1 ? `${name}, sheet '${cleanLine(sheet)}' of ${others}` : undefined;
}

function dueText(due: Due, { older }: EnrichFlags): string {
  const { rows, total } = due;
  if (rows.length === 0) return `none of ${plural(total, 'row')}`;
  return `${formatNumber(rows.length)} of ${plural(total, 'row')}: ${reasonsOf(due, older)}`;
}

function skippedText(skipped: readonly InputRow[]): string {
  const places = skipped.slice(0, MAX_NAMED).map(placeText);
  const more = skipped.length - places.length;
  const lines = `${skipped.length === 1 ? 'line' : 'lines'} ${places.join(', ')}`;
  const all = more > 0 ? `${lines} and ${formatNumber(more)} more` : lines;
  return `${plural(skipped.length, 'row')} without a name, city or id: ${all}`;
}

function timeText({ requests }: Due, { perMinute, least, most }: Quota): string {
  if (requests === 0) return 'none';
  if (most.days !== null && most.days > 1) {
    const days =
      least.days === most.days ? plural(most.days, 'day') : `${least.days} to ${plural(most.days, 'day')}`;
    return `${days}, because of the daily quota`;
  }
  if (least.minutes === null || most.minutes === null) return 'as fast as the service responds';
  // The requests of the first minute are sent immediately.
  if (requests <= perMinute && most.minutes <= 1) return 'less than a minute';
  return least.minutes === most.minutes
    ? `about ${plural(least.minutes, 'minute')}`
    : `${least.minutes} to ${plural(most.minutes, 'minute')}`;
}

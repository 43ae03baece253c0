import { statSync } from 'node:fs';
import type { App } from '../../app/app.ts';
import { ledgerOf } from '../../app/service.ts';
import { toJson } from '../../util/json.ts';
import { cleanLine } from '../../util/text.ts';
import { type FinishedRowReader, noFinishedRows, resume } from '../write/checkpoint.ts';
import { openReadOnly } from '../write/row-file.ts';
import { durationOf, estimate, roomIn } from './estimate.ts';
import { estimateFacts, estimateText } from './format-estimate.ts';
import { nothingKnown } from './known.ts';
import type { Plan } from './plan.ts';
import { knownOf, knownTarget } from './target.ts';

/** Prints what a run would take. Sends nothing and writes no file. */
export async function printEstimate(app: App, plan: Plan): Promise<void> {
  const { input, list, options } = plan;
  const { perMinute, perDay } = options;
  const target = knownTarget(app);
  const usage = target === undefined ? undefined : await ledgerOf(app, target, options).usage();
  const left = usage === undefined ? perDay : roomIn(usage.perDay);
  const counts = await estimate({
    rows: list.rows(),
    ask: plan.columns.ask,
    form: plan.form,
    earlier: earlierRows(plan),
    known:
      target === undefined
        ? nothingKnown
        : knownOf(app, target, { maxAgeMs: app.settings.need('max-age') }, false),
    level: options.level,
    signal: app.context.signal,
  });
  const told = {
    ...counts,
    ...durationOf(counts.requests, perMinute, perDay, left),
    input: input.name,
    perMinute,
    perDay,
    leftToday: usage === undefined || perDay === 0 ? null : left,
  };
  const text = options.json
    ? `${toJson(estimateFacts(told), app.context.stdout.isTTY)}\n`
    : estimateText(told)
        .map((line) => `${cleanLine(line)}\n`)
        .join('');
  await app.context.stdout.write(text);
}

/** The rows of earlier runs, looked at without touching them. */
function earlierRows({ place, options, form }: Plan): FinishedRowReader {
  if (place === undefined || !place.exists || !options.resume) return noFinishedRows;
  if (statSync(place.path).size === 0) return noFinishedRows;
  const { name, path } = place;
  const before = openReadOnly(path);
  const nothing = { ...before, size: 0, readBytes: () => 0 };
  return options.retryErrors
    ? resume({ file: nothing, previous: before, form, name, retryErrors: true })
    : resume({ file: before, form, name, retryErrors: false });
}

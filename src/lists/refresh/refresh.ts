import type { App } from '../../app/app.ts';
import { hintOf } from '../../app/hints.ts';
import { checkTarget, type Naming, outputPath } from '../../app/output-file.ts';
import { quotaLimits } from '../../app/quota.ts';
import { openTarget } from '../../app/target.ts';
import type { Level, LookupOutput } from '../../client/types.ts';
import { AppError, usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { valueAt } from '../../output/records.ts';
import { RateLimitError } from '../../storage/pacer.ts';
import { mapConcurrently } from '../../util/async.ts';
import { fieldChanges } from '../../util/changes.ts';
import { formatNumber, plural, timeText } from '../../util/format.ts';
import { canonicalJson } from '../../util/json.ts';
import { checkId } from '../../util/restaurant.ts';
import { detailsOf, type FinishedList, type ListRow, type Values } from '../finished/finished-list.ts';
import { changeList, type Journal, openChangesFile } from '../finished/journal.ts';
import { startProgress } from '../progress/progress.ts';
import { asLines, Counters, printJson } from '../progress/summary.ts';
import { FailureLimit } from '../run/enrich-rows.ts';
import type { EnrichFlags } from '../run/plan.ts';
import { PacedService } from '../run/service.ts';
import { NEVER_CHECKED, openCheckedTimes } from '../write/list-state.ts';
import { RESTAURANT_FIELDS } from '../write/row-codec.ts';

export interface RefreshFlags extends EnrichFlags {
  readonly refresh?: true;
  /** Minimum age of the last lookup, in milliseconds. */
  readonly older?: number;
  readonly changes?: string;
}

/** Number of restaurants whose rows are in memory at a time. */
const BATCH = 5000;

const CHANGES: Naming = { example: 'changes.csv', command: (file) => again({ '--changes': file }) };

/** Looks up the matched rows of a finished list again, and updates them. */
export async function runRefresh(app: App, file: string, flags: RefreshFlags): Promise<void> {
  assertAlone(app, flags);
  const changesFile =
    flags.changes === undefined ? undefined : checkTarget(app, flags.changes, true, CHANGES).path;
  // Before changes of an interrupted run are added to it.
  if (changesFile !== undefined && app.globals.dryRun !== true)
    openChangesFile(changesFile, flags.changes ?? '');
  await changeList(app, file, flags, async (list, journal) => {
    const due = await findDue(app, list, flags);
    if (app.globals.dryRun === true) return printCost(app, due, flags);
    await new Refresh({ app, list, journal, flags, due, changesFile }).run();
  });
}

/** Options of a run that a refresh would ignore. */
function assertAlone(app: App, flags: RefreshFlags): void {
  if (flags.refresh === undefined) {
    const option = flags.older === undefined ? '--changes' : '--older';
    throw usage(`${option} needs --refresh`, { command: again({ '--refresh': true }) });
  }
  if (outputPath(app) !== undefined)
    throw usage('--refresh updates the list itself, so it takes no --output', {
      command: again({}, { without: ['--output'] }),
    });
  const others: Readonly<Record<string, unknown>> = {
    '--resume': flags.resume,
    '--loose': flags.loose,
    '--first': flags.first,
    '--report': flags.report,
    '--export': flags.export[0],
    '--open': app.globals.open,
    '--progress': flags.progress,
  };
  const other = Object.keys(others).find((each) => others[each] !== undefined);
  if (other !== undefined)
    throw usage(`--refresh cannot be combined with ${other}`, { command: again({}, { without: [other] }) });
}

/** The restaurants to look up, and what is known about the rows. */
async function findDue(app: App, list: FinishedList, flags: RefreshFlags) {
  const times = openCheckedTimes(app.paths.stateDir, list.path).read() ?? NEVER_CHECKED;
  const startedAt = times.startedAt ?? Number.POSITIVE_INFINITY;
  const since = flags.older === undefined ? startedAt : app.context.now() - flags.older;
  const lastCheck = (id: string): number => times.ids[id] ?? Number.MIN_SAFE_INTEGER;
  const ids = new Set<string>();
  const fields = flags.fields ?? list.options.fields;
  let matched = 0;
  let hasDetails = false;
  for await (const { id, row } of matchedRows(list)) {
    matched += 1;
    const details = detailsOf(row);
    hasDetails ||= details !== undefined;
    const isNew = fields !== undefined && 'details' in row.values && details === undefined;
    if (isNew || lastCheck(id) < since) ids.add(id);
  }
  if (hasDetails) assertLevel(list, flags);
  return {
    // If the quota does not suffice, those that were never looked up come first.
    ids: [...ids].sort((one, other) => lastCheck(one) - lastCheck(other)),
    matched,
    level: (fields ?? 'basic') as Level,
    keepsDetails: fields !== undefined,
  };
}

type Due = Awaited<ReturnType<typeof findDue>>;

async function* matchedRows(list: FinishedList) {
  for await (const row of list.rows()) {
    const id = list.text(row.values, 'id');
    if (list.text(row.values, 'status') === 'matched' && id !== '') yield { id, row };
  }
}

async function rowsOf(list: FinishedList, ids: readonly string[]): Promise<Map<string, ListRow[]>> {
  const rows = new Map(ids.map((id): [string, ListRow[]] => [id, []]));
  for await (const { id, row } of matchedRows(list)) rows.get(id)?.push(row);
  return rows;
}

/** Details of another level would differ in fields that have not changed. */
function assertLevel({ name, options }: FinishedList, { fields }: RefreshFlags): void {
  const isKnown = Object.keys(options).length > 0;
  const level = isKnown ? (options.fields ?? 'basic') : fields;
  if (level === undefined)
    throw usage(`the level of the details in ${name} is not known on this machine`, {
      text: 'name it',
      command: again({ '--fields': 'standard' }),
    });
  if (fields === undefined || fields === level) return;
  throw usage(`${name} has ${level} details, not ${fields}`, { command: again({ '--fields': level }) });
}

interface Work {
  readonly app: App;
  readonly list: FinishedList;
  readonly journal: Journal;
  readonly flags: RefreshFlags;
  readonly due: Due;
  readonly changesFile: string | undefined;
}

class Refresh {
  readonly #work: Work;
  readonly #counters = new Counters();
  readonly #failures = new FailureLimit('lookups');
  #requests = 0;
  #changes = 0;
  #changedRows = 0;

  constructor(work: Work) {
    this.#work = work;
  }

  async run(): Promise<void> {
    const { app, list, due, flags } = this.#work;
    const stored = openCheckedTimes(app.paths.stateDir, list.path);
    const times = stored.read() ?? NEVER_CHECKED;
    const isWhole = flags.older === undefined;
    if (isWhole) stored.write({ ...times, startedAt: times.startedAt ?? app.context.now() });
    const failure = await this.#lookUpAll().then(
      () => undefined,
      (error: unknown) => error,
    );
    const failed = this.#counters.counts.errors;
    const isDone = failure === undefined && failed === 0;
    // The next refresh begins with the first row again.
    if (isDone && isWhole) stored.write({ ids: times.ids });
    await this.#report(isDone);
    if (failure !== undefined) throw withNext(app, failure);
    if (failed > 0)
      throw new AppError('partial', `${failed} of ${due.ids.length} lookups failed`, {
        hint: { text: 'look them up again', command: again() },
        retryable: true,
      });
  }

  async #lookUpAll(): Promise<void> {
    const { app, list, due, flags } = this.#work;
    if (due.ids.length === 0) return;
    const service = new PacedService(app, await openTarget(app), flags);
    const source = { counts: this.#counters.counts, total: due.ids.length, service };
    const reporter = startProgress(app, { json: app.terminal.wantsJson }, source);
    try {
      await service.open({ reporter, fresh: true });
      const lookUp = (id: string) => lookUpOne(service, id, due.level);
      for (let start = 0; start < due.ids.length; start += BATCH) {
        const ids = due.ids.slice(start, start + BATCH);
        const rows = await rowsOf(list, ids);
        for await (const outcome of mapConcurrently(ids, flags.concurrency, lookUp))
          this.#take(outcome, rows.get(outcome.id) ?? []);
      }
    } finally {
      this.#requests = service.requests;
      await reporter.stop();
    }
  }

  #take({ id, details, error }: Awaited<ReturnType<typeof lookUpOne>>, rows: readonly ListRow[]): void {
    const { list, journal, due, changesFile } = this.#work;
    const isGone = error?.code === 'not_found';
    const failure = isGone ? undefined : error;
    const found = isGone ? 'not_found' : 'matched';
    this.#counters.add({ status: failure === undefined ? found : 'error', earlier: false });
    this.#failures.add(failure);
    if (failure !== undefined) return;
    for (const row of rows) {
      const { set, changes } =
        details === undefined ? GONE : compareRow(list, row, details, due.keepsDetails);
      this.#changes += changes.length;
      if (changes.length > 0) this.#changedRows += 1;
      const name = list.text(row.values, 'name');
      const noted = changes.length === 0 ? {} : { name, changes, changesFile };
      journal.add(row, { set, id, ...noted });
    }
  }

  async #report(isDone: boolean): Promise<void> {
    const { app, list, due, flags } = this.#work;
    const { done, errors } = this.#counters.counts;
    const lookedUp = done - errors;
    const left = due.ids.length - done;
    if (app.terminal.wantsJson) {
      const summary = {
        rows: due.matched,
        restaurants: due.ids.length,
        looked_up: lookedUp,
        changed_rows: this.#changedRows,
        changes: this.#changes,
        errors,
        requests: this.#requests,
        finished: isDone,
        changes_file: flags.changes ?? null,
        next: isDone ? null : hintOf(app, { command: again() }),
      };
      await printJson(app, summary);
    } else if (app.globals.quiet !== true) {
      const rest = left > 0 ? `, ${formatNumber(left)} left` : '';
      const changed = `${plural(this.#changes, 'change')} in ${plural(this.#changedRows, 'row')}`;
      const text = `${plural(lookedUp, 'restaurant')} of ${list.name} looked up again${rest}: ${changed}`;
      await app.context.stderr.write(asLines([text], app.context.stderr));
    }
  }
}

/** The service does not know the restaurant any more. Its data in the row stays. */
const GONE = {
  set: { status: 'not_found', match: 'gone' },
  changes: [{ field: 'status', before: 'matched', after: 'not_found' }],
};

async function lookUpOne(
  service: PacedService,
  id: string,
  level: Level,
): Promise<{ id: string; details?: LookupOutput; error?: AppError }> {
  try {
    return { id, details: await service.lookup(checkId(id, id), level) };
  } catch (error) {
    const isFinal = !(error instanceof AppError) || ['auth', 'interrupted', 'local'].includes(error.kind);
    if (isFinal || error instanceof RateLimitError) throw error;
    return { id, error };
  }
}

function withNext(app: App, error: unknown): unknown {
  if (error instanceof RateLimitError)
    return error.add({ hint: { text: `from ${timeText(app, error.freeAt)} on`, command: again() } });
  if (!(error instanceof AppError) || error.kind !== 'interrupted') return error;
  return error.add({ hint: { text: 'continue', command: again() } });
}

async function printCost(app: App, due: Due, flags: RefreshFlags): Promise<void> {
  const { perMinute, perDay } = quotaLimits(app, flags);
  const { durationOf } = await import('../run/estimate.ts');
  const requests = due.ids.length;
  const { minutes, days } = durationOf(requests, perMinute, perDay, perDay);
  if (app.terminal.wantsJson) {
    const quota = { per_minute: perMinute, per_day: perDay, minutes, days };
    return printJson(app, { rows: due.matched, requests, ...quota });
  }
  const text = `${plural(due.matched, 'matched row')}, ${plural(requests, 'request')}, ${plural(days ?? 1, 'day')}`;
  await app.context.stdout.write(asLines([text], app.context.stdout));
}

/**
 * Compares a row with new details of its restaurant. With details in the row, these are compared, and columns follow
 * them. Without, the columns are compared. A field that the new details lack in a column is unknown, and stays.
 * @param keepsDetails whether the details are stored in the row
 * @returns the changes, and the values to set; null if none changes
 */
function compareRow(list: FinishedList, row: ListRow, details: LookupOutput, keepsDetails: boolean) {
  const next = list.valuesOf({ status: 'matched', restaurant: { ...details }, details });
  const before = detailsOf(row);
  const fields = RESTAURANT_FIELDS.filter(
    (field) => valueAt(details, field) !== undefined && field in row.values,
  );
  const differing = fields.filter((field) => !isSame(row.values[field], next[field]));
  if (before === undefined) {
    const changes = differing.map((field) => ({
      field,
      before: list.value(row.values, field) ?? null,
      after: list.value(next, field) ?? null,
    }));
    return { set: setOf(row, next, [...differing, ...(keepsDetails ? list.detailFields : [])]), changes };
  }
  const changes = fieldChanges(before, details);
  const paths = changes.map(({ field }) => field.replace(/^coordinates\./, ''));
  const columns = differing.filter((field) => paths.some((path) => path === field || path === 'coordinates'));
  return { set: changes.length === 0 ? null : setOf(row, next, [...columns, ...list.detailFields]), changes };
}

function setOf(row: ListRow, next: Values, fields: readonly string[]): Values | null {
  const changed = fields.filter((field) => field in row.values && !isSame(row.values[field], next[field]));
  return changed.length === 0 ? null : Object.fromEntries(changed.map((field) => [field, next[field]]));
}

const isSame = (one: unknown, other: unknown): boolean =>
  canonicalJson(one ?? null) === canonicalJson(other ?? null);

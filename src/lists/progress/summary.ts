import type { App } from '../../app/app.ts';
import { writesToTerminal } from '../../app/output-file.ts';
import type { LookupOutput } from '../../client/types.ts';
import type { OutputStream } from '../../context.ts';
import type { AppError } from '../../errors.ts';
import { valueAt } from '../../output/records.ts';
import { formatNumber, plural } from '../../util/format.ts';
import { toJson } from '../../util/json.ts';
import { cleanLine, width, wrap } from '../../util/text.ts';
import type { Status } from '../match/match.ts';

interface RowDone {
  readonly status: Status;
  readonly city?: string | undefined;
  /** Searches that --loose would send, if nothing was found. */
  readonly looseRequests?: number;
  readonly failure?: AppError | undefined;
}

export type Counts = Readonly<typeof ZERO>;

const ZERO = {
  rows: 0,
  matched: 0,
  likely: 0,
  ambiguous: 0,
  not_found: 0,
  skipped: 0,
  errors: 0,
  pending: 0,
};

const MAX_CITIES = 5000;
const MAX_NAMED = 5;
const MIN_ROWS = 5;
const MAX_REASONS = 100;

export class Counters {
  readonly #counts = { ...ZERO };
  /** Number of rows about which a person should decide. */
  doubtful = 0;
  /** Number of searched rows by city; `undefined` once a row of the city was found. */
  readonly #cities = new Map<string, number | undefined>();
  /** Paths of `--add` that have not occurred in any details yet. */
  #missingPaths: readonly string[];
  #hasDetails = false;
  #looseRequests = 0;
  readonly #reasons = new Map<string, number>();

  constructor(paths: readonly string[] = []) {
    this.#missingPaths = [...new Set(paths)];
  }

  add({ status, city, looseRequests = 0, failure }: RowDone): void {
    this.#counts.rows += 1;
    if (status !== 'error') this.#counts[status] += 1;
    if (status === 'error' || failure !== undefined) this.#counts.errors += 1;
    if (city) this.#addCity(city, status);
    this.#looseRequests += looseRequests;
    if (failure !== undefined) this.#addReason(`${failure.code}: ${failure.message}`);
  }

  #addReason(reason: string): void {
    const rows = this.#reasons.get(reason) ?? 0;
    if (rows > 0 || this.#reasons.size < MAX_REASONS) this.#reasons.set(reason, rows + 1);
  }

  get commonError(): { readonly text: string; readonly rows: number } | undefined {
    const [first, ...others] = [...this.#reasons].map(([text, rows]) => ({ text, rows }));
    return others.reduce((most, next) => (next.rows > (most?.rows ?? 0) ? next : most), first);
  }

  #addCity(city: string, status: Status): void {
    if (status === 'error' || status === 'skipped' || status === 'pending') return;
    if (!this.#cities.has(city) && this.#cities.size >= MAX_CITIES) return;
    const rows = this.#cities.has(city) ? this.#cities.get(city) : 0;
    this.#cities.set(city, status === 'not_found' && rows !== undefined ? rows + 1 : undefined);
  }

  addDetails(details: LookupOutput): void {
    this.#hasDetails = true;
    this.#missingPaths = this.#missingPaths.filter((path) => valueAt(details, path) === undefined);
  }

  get counts(): Counts {
    return this.#counts;
  }

  /** The first part of a summary. `errors` counts rows that failed, also those that keep the status of an older answer. */
  get results() {
    return {
      ...this.#counts,
      /** Cities with several rows, none of which was found; those with the most rows first. */
      unknown_cities: [...this.#cities]
        .flatMap(([city, rows]) => (rows !== undefined && rows >= MIN_ROWS ? [{ city, rows }] : []))
        .sort((one, other) => other.rows - one.rows),
      missing_paths: this.#hasDetails ? this.#missingPaths : [],
      /** Number of requests that --loose would send for rows that were not found; 0 with --loose. */
      loose_requests: this.#looseRequests,
    };
  }
}

/** `4,200 matched, 300 ambiguous, 480 not found, 20 errors`. @param isShort omits counts of zero */
export function formatCounts(counts: Counts, isShort = false): string {
  const names: readonly (readonly [count: number, name: string, isAlwaysShown: boolean])[] = [
    [counts.matched, 'matched', true],
    [counts.likely, 'likely', false],
    [counts.ambiguous, 'ambiguous', true],
    [counts.not_found, 'not found', true],
    [counts.skipped, 'skipped', false],
    [counts.pending, 'pending', false],
    [counts.errors, counts.errors === 1 ? 'error' : 'errors', true],
  ];
  return names
    .filter(([count, , isAlwaysShown]) => count > 0 || (isAlwaysShown && !isShort))
    .map(([count, name]) => `${formatNumber(count)} ${name}`)
    .join(', ');
}

/** The summary as `--json` prints it. */
export interface RunSummary extends Readonly<Counters['results']> {
  readonly requests: number;
  /** Whether all that was due was asked, and nothing is pending. */
  readonly finished: boolean;
  readonly files: readonly string[];
  /** The command that goes on: the same one, or the review. */
  readonly next: string | null;
}

/** @param review the command that decides doubtful rows, if there are any */
export function summaryLines(summary: RunSummary, review: string | undefined): string[] {
  const { rows, likely, ambiguous, files, finished, requests } = summary;
  const where = files.length === 0 ? '' : ` in ${files.join(', ')}`;
  return [
    `${plural(rows, 'row')}${where}: ${formatCounts(summary)}; ${plural(requests, 'request')} sent`,
    finished && likely > 0
      ? 'likely rows were matched to a restaurant with another name: check them before you use them'
      : [],
    finished && ambiguous > 0 ? 'ambiguous rows show the best candidate: check them before you use them' : [],
    finished && review !== undefined ? `to check them one by one: ${review}` : [],
    finished && summary.loose_requests > 0
      ? `--loose searches again for rows that were not found, by simplified names: ${plural(summary.loose_requests, 'more request')} at most`
      : [],
    unknownCityLines(summary.unknown_cities),
    summary.missing_paths.map((path) => `no response has '${path}' (--add): check the path`),
  ].flat();
}

function unknownCityLines(cities: RunSummary['unknown_cities']): string[] {
  const more = cities.length - MAX_NAMED;
  return [
    ...cities
      .slice(0, MAX_NAMED)
      .map(
        ({ city, rows }) => `no matches for the ${formatNumber(rows)} rows in '${city}'; check the city name`,
      ),
    ...(more > 0 ? [`and no matches in ${formatNumber(more)} more ${more === 1 ? 'city' : 'cities'}`] : []),
  ];
}

export const wantsSummary = ({ globals }: App): boolean => globals.json === true || globals.format === 'json';

export const printJson = (app: App, value: unknown): Promise<void> =>
  app.context.stdout.write(`${toJson(value, writesToTerminal(app))}\n`);

/** Formats lines of text, which are wrapped at words on a terminal. */
export function asLines(
  texts: readonly string[],
  { isTTY, columns }: Pick<OutputStream, 'isTTY' | 'columns'>,
): string {
  return texts
    .map(cleanLine)
    .flatMap((text) => (isTTY && width(text) > columns ? wrap(text, columns) : [text]))
    .map((line) => `${line}\n`)
    .join('');
}

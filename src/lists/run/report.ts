import { constants, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { App } from '../../app/app.ts';
import { checkTarget, type Naming } from '../../app/output-file.ts';
import { loadAsset, redacted, showPage, tempReportPath } from '../../app/page.ts';
import { TOOLS } from '../../client/tools.ts';
import { usage } from '../../errors.ts';
import { type Advice, again, slot } from '../../hint.ts';
import { guardFormula } from '../../output/csv.ts';
import type { PageColumn, PageHead, PageRow, RowReview } from '../../output/html/document.ts';
import { PAGE_MARK, pageEnd, pageRow, pageStart } from '../../output/html/page.ts';
import { detailOf, entriesOf, pageCell, pointCell } from '../../output/html/rows.ts';
import { closing, openNoFollow } from '../../storage/files.ts';
import { writeChunksAtomic } from '../../storage/user-files.ts';
import { plural } from '../../util/format.ts';
import { isId } from '../../util/restaurant.ts';
import { cleanLine } from '../../util/text.ts';
import { detailsOf, type FinishedList, type ListRow } from '../finished/finished-list.ts';
import { type Counts, formatCounts } from '../progress/summary.ts';
import { candidateFacts, findCandidates, reviewRow, type SearchService } from '../review/candidates.ts';
import { openExportSource } from '../write/list-state.ts';
import { type Plan, rowFileOf } from './plan.ts';
import { openCacheReader } from './service.ts';

/** Limits for a page that browsers can show. Further rows are only in the list. */
const MAX_ROWS = 200_000;
const MAX_CHARACTERS = 100 * 1024 * 1024;

const PAGE_COLUMNS: readonly PageColumn[] = [
  { label: 'Name', kind: 'name' },
  { label: 'City', kind: 'text' },
  { label: 'Status', kind: 'status' },
  { label: 'Found', kind: 'text' },
  { label: 'Grade', kind: 'grade' },
  { label: 'Cuisine', kind: 'text' },
  { label: 'Address', kind: 'text' },
];
const CELLS = ['status', 'name', 'grade', 'cuisine_tags', 'address'] as const;
const NOT_DETAILS: readonly string[] = [...CELLS, 'lat', 'lng', 'details'];
const DOUBTFUL: readonly string[] = ['likely', 'ambiguous', 'not_found'];
const MAX_CHOICES = 20;

/**
 * Checks, before the first request, that the page does not replace a file that is not one of our pages.
 * @returns its path after resolving links; undefined without --report
 * @throws {AppError} `usage`; see {@link checkTarget}
 */
export function checkReport(app: App, plan: Plan): string | undefined {
  const { options, input } = plan;
  const { report } = options;
  const rows = rowFileOf(plan);
  if (rows === undefined)
    throw usage(`${report === undefined ? '--open' : '--report'} needs a file of rows`, {
      command: again({ '--output': 'out.csv', '--report': 'out.html' }, { without: ['--open'] }),
    });
  if (report === undefined) return undefined;
  if (!/\.html?$/i.test(report))
    throw usage(`--report ${report}: the report is an HTML page`, {
      text: 'use the extension .html',
      command: again({ '--report': 'list.html' }),
    });
  const { path, entry } = checkTarget(app, report, true, REPORT);
  if (entry === 'nothing') return path;
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  const isInput = stats?.dev === input.file?.stats.dev && stats?.ino === input.file?.stats.ino;
  if (entry !== 'file' || (stats !== undefined && isInput))
    throw usage(`${report} is not a page to replace`, OTHER_PAGE);
  const isOurs = () => isPage(path) || openExportSource(app.paths.stateDir, path).read()?.list === rows.path;
  if (app.globals.force || (options.resume && stats !== undefined && isOurs())) return path;
  const replace: Advice = options.resume
    ? { text: 'or continue without it', command: again({}, { without: ['--report'] }) }
    : { text: 'or start again and overwrite both files', command: again({ '--force': true }) };
  throw usage(`${report} exists`, [OTHER_PAGE, replace]);
}

const REPORT: Naming = { example: 'out.html', command: (file) => again({ '--report': file }) };
const OTHER_PAGE: Advice = { text: 'name another file', command: REPORT.command(slot('file')) };

function isPage(path: string): boolean {
  const head = Buffer.alloc(Buffer.byteLength(PAGE_MARK));
  const length = closing(openNoFollow(path, constants.O_RDONLY), (file) => readSync(file, head));
  return length === head.length && head.toString('utf8') === PAGE_MARK;
}

export async function writeReport(
  app: App,
  list: FinishedList,
  { input, options }: Plan,
  { counts, page }: { readonly counts: Counts; readonly page: string | undefined },
): Promise<string> {
  const heading = input.name === 'stdin' ? 'List' : basename(input.name);
  const path = page ?? tempReportPath(app, heading);
  const notes = [plural(counts.done, 'row'), formatCounts(counts)];
  const head = { kind: 'Enriched list', heading, notes, at: app.context.now(), columns: PAGE_COLUMNS };
  await writeChunksAtomic(
    path,
    pagePieces(app, list, head, options.city),
    page === undefined ? 0o600 : 0o644,
  );
  return path;
}

export async function showReport(app: App, { options }: Plan, path: string): Promise<void> {
  if (options.report === undefined) await app.context.stdout.write(`${path}\n`);
  if (app.globals.open) await showPage(app, path);
}

async function* pagePieces(
  app: App,
  list: FinishedList,
  head: PageHead,
  city: string | undefined,
): AsyncGenerator<string> {
  const asset = await loadAsset();
  yield pageStart(redacted(app, head), asset);
  const read = await openCacheReader(app, 0);
  const cache: SearchService = {
    find: async (query) => ({ results: (await read(TOOLS.find, query))?.results ?? [], total: 0 }),
  };
  let index = 0;
  let characters = 0;
  let left = 0;
  for await (const row of list.rows()) {
    if (index >= MAX_ROWS || characters > MAX_CHARACTERS) {
      left += 1;
      continue;
    }
    const shown = pageRowOf(list, row, city);
    const review = await choicesFor(cache, list, row);
    const piece = pageRow(redacted(app, review === undefined ? shown : { ...shown, review }), index);
    index += 1;
    characters += piece.length;
    yield piece;
  }
  yield pageEnd(asset, left);
}

/** @param city the city of rows without one */
function pageRowOf(list: FinishedList, row: ListRow, city: string | undefined): PageRow {
  const { name, id, city: cityColumn } = list.columns;
  const own = list.ownFields(row);
  const value = (field: string): unknown => list.value(row.values, field) ?? undefined;
  const ownCell = (column: string | undefined) => pageCell(list.ownValue(row, column));
  const [status = null, ...found] = CELLS.map((field) => pageCell(value(field)));
  const more = Object.keys(row.values)
    .map((field) => [field, value(field)] as const)
    .filter(([field, each]) => !NOT_DETAILS.includes(field) && each !== undefined && each !== '');
  const details = detailsOf(row);
  return {
    cells: [
      ownCell(name) ?? ownCell(id) ?? pageCell(own[0]?.[1]),
      ownCell(cityColumn) ?? pageCell(city),
      status,
      ...found,
    ],
    ...pointCell({ lat: degrees(value('lat')), lng: degrees(value('lng')) }),
    details: [
      // The user's own headers are not changed.
      ['In the list', { pairs: own.map(([key, each]) => [cleanLine(key), detailOf(each, key, 1)]) }],
      ...entriesOf(more),
      ...entriesOf(details === undefined ? [] : [['details', details]]),
    ],
  };
}

function degrees(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,3}(?:\.\d+)?$/.test(value) ? Number(value) : value;
}

/** Returns the choices for a doubtful row; nothing for a row without doubt, or without candidates. */
async function choicesFor(
  cache: SearchService,
  list: FinishedList,
  row: ListRow,
): Promise<RowReview | undefined> {
  if (!DOUBTFUL.includes(list.text(row.values, 'status')) || list.text(row.values, 'match') === 'rejected')
    return undefined;
  const doubtful = reviewRow(list, row);
  const candidates = await findCandidates(cache, doubtful);
  // Other ids could be formulas, and `review --apply` refuses them.
  const usable = candidates.filter(({ restaurant }) => isId(restaurant.service_id));
  if (usable.length === 0) return undefined;
  const choices = usable.slice(0, MAX_CHOICES).map((candidate) => ({
    id: candidate.restaurant.service_id,
    text: [cleanLine(candidate.restaurant.name), ...candidateFacts(candidate)].join(', '),
  }));
  const { name, current } = doubtful;
  return { name: guardFormula(cleanLine(name).trim()), current: current?.service_id ?? null, choices };
}

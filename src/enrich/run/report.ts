import { closeSync, constants, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { App } from '../../app/app.ts';
import { showPage } from '../../app/browser.ts';
import { checkTarget } from '../../app/output-file.ts';
import { loadAsset, redacted, tempReportPath } from '../../app/page.ts';
import { AppError } from '../../errors.ts';
import { type Advice, again, type Hint, slot } from '../../hint.ts';
import { unguardFormula } from '../../output/csv.ts';
import type { PageColumn, PageRow } from '../../output/html/document.ts';
import { PAGE_MARK, pageEnd, pageRow, pageStart } from '../../output/html/page.ts';
import { detailOf, entriesOf, pageCell, pointCell } from '../../output/html/rows.ts';
import { cellAt, toCell } from '../../output/records.ts';
import { writeChunksAtomic } from '../../storage/atomic.ts';
import { openResolved } from '../../storage/user-files.ts';
import { plural } from '../../util/format.ts';
import { tryParseJson } from '../../util/json.ts';
import { isObject } from '../../util/object.ts';
import { cleanLine } from '../../util/text.ts';
import { type Counts, formatCounts } from '../progress/summary.ts';
import { openInput } from '../read/input.ts';
import { openList } from '../read/list.ts';
import { PageReviews, type PageRowFacts } from '../review/page-review.ts';
import type { InputRow } from '../row.ts';
import { nestedKey, resultFields } from '../write/row-codec.ts';
import type { Plan } from './plan.ts';

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

/**
 * Checks, before the first request, that the page does not replace a file that is not one of our pages.
 * @returns its path after resolving links; undefined without --report
 * @throws {AppError} `usage`; see {@link checkTarget}
 */
export function checkReport(app: App, { options, outputFile, input }: Plan): string | undefined {
  const { report } = options;
  const refuse = (message: string, hint: Hint) => new AppError('usage', message, { hint });
  if (outputFile === undefined || outputFile.device !== undefined) {
    throw refuse(`${report === undefined ? '--open' : '--report'} needs a file of rows`, {
      command: again({ '--output': 'out.csv', '--report': 'out.html' }, { without: ['--open'] }),
    });
  }
  if (report === undefined) return undefined;
  if (!/\.html?$/i.test(report))
    throw refuse(`--report ${report}: the report is an HTML page`, {
      text: 'use the extension .html',
      command: again({ '--report': 'list.html' }),
    });
  const { path, entry } = checkTarget(app, report, true);
  if (entry === 'nothing') return path;
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  const isInput = stats?.dev === input.identity?.dev && stats?.ino === input.identity?.ino;
  if (entry !== 'file' || (stats !== undefined && isInput))
    throw refuse(`${report} is not a page to replace`, OTHER_PAGE);
  if (options.force || (options.resume && stats !== undefined && isPage(path))) return path;
  throw refuse(`${report} exists`, [
    OTHER_PAGE,
    {
      text: 'or start again and overwrite both files',
      command: again({ '--force': true }, { without: ['--resume'] }),
    },
  ]);
}

const OTHER_PAGE: Advice = { text: 'name another file', command: again({ '--report': slot('file') }) };

function isPage(path: string): boolean {
  const head = Buffer.alloc(Buffer.byteLength(PAGE_MARK));
  const file = openResolved({ path, isShellPipe: false }, constants.O_RDONLY);
  try {
    return readSync(file, head) === head.length && head.toString('utf8') === PAGE_MARK;
  } finally {
    closeSync(file);
  }
}

export async function writeReport(
  app: App,
  plan: Plan,
  counts: Counts,
  checked: string | undefined,
): Promise<string> {
  const heading = plan.input.name === 'stdin' ? 'List' : basename(plan.input.name);
  const path = checked ?? tempReportPath(app, heading);
  await writeChunksAtomic(
    path,
    pagePieces(app, plan, heading, counts),
    checked === undefined ? 0o600 : 0o644,
  );
  return path;
}

export async function showReport(app: App, { options }: Plan, path: string): Promise<void> {
  if (options.report === undefined) await app.context.stdout.write(`${path}\n`);
  if (options.open) await showPage(app, path);
}

async function* pagePieces(app: App, plan: Plan, heading: string, counts: Counts): AsyncGenerator<string> {
  const asset = await loadAsset();
  const notes = [plural(counts.done, 'row'), formatCounts(counts)];
  const head = { kind: 'Enriched list', heading, notes, at: app.context.now(), columns: PAGE_COLUMNS };
  yield pageStart(redacted(app, head), asset);
  let index = 0;
  let characters = 0;
  let left = 0;
  const output = openInput(plan.outputFile?.path ?? '', app.context);
  try {
    const { header, rows } = await openList(output, plan.written, () => {});
    const toPageRow = pageRowMaker(plan, header);
    const reviews = await PageReviews.open(app);
    for await (const row of rows) {
      if (index >= MAX_ROWS || characters > MAX_CHARACTERS) {
        left += 1;
        continue;
      }
      const { shown, facts } = toPageRow(row);
      const review = await reviews.of(facts);
      const piece = pageRow(redacted(app, review === undefined ? shown : { ...shown, review }), index);
      index += 1;
      characters += piece.length;
      yield piece;
    }
  } finally {
    output.close();
  }
  yield pageEnd(asset, left);
}

type Fields = readonly (readonly [key: string, value: unknown])[];

function pageRowMaker(
  { options, columns, written }: Plan,
  header: readonly string[],
): (row: InputRow) => { readonly shown: PageRow; readonly facts: PageRowFacts } {
  const { names } = resultFields(options);
  const ownWidth = header.length - names.length;

  function split(row: InputRow): { own: Fields; result: ReadonlyMap<string, unknown> } {
    if (row.kind === 'cells') {
      const result = names.map((name, index) => {
        const value = unguard(row.cells[ownWidth + index] ?? '');
        return [name, name === 'details' ? tryParseJson(value) : value] as const;
      });
      const own = header.slice(0, ownWidth).map((key, index) => [key, row.cells[index]] as const);
      return { own, result: new Map(result) };
    }
    const key = nestedKey(options.prefix);
    const found = row.value[key];
    const own = Object.entries(row.value).filter(([each]) => each !== key);
    return { own, result: new Map(isObject(found) ? Object.entries(found) : []) };
  }

  function unguard(text: string): string {
    return written.guarded ? unguardFormula(text) : text;
  }

  function ownCell(row: InputRow, column: string | undefined): string | number | null {
    if (column === undefined) return null;
    return pageCell(row.kind === 'cells' ? row.cells[header.indexOf(column)] : cellAt(row.value, column));
  }

  return (row) => {
    const { own, result } = split(row);
    const value = (name: string): unknown => result.get(name) ?? undefined;
    const details = value('details');
    const more = [...result].filter(
      ([name, each]) => !NOT_DETAILS.includes(name) && each !== null && each !== '',
    );
    const [status, ...found] = CELLS.map((name) => pageCell(value(name)));
    const shown = {
      cells: [
        ownCell(row, columns.name) ?? ownCell(row, columns.id) ?? pageCell(own[0]?.[1]),
        ownCell(row, columns.city) ?? pageCell(options.city),
        status ?? null,
        ...found,
      ],
      ...pointCell({ lat: degrees(value('lat')), lng: degrees(value('lng')) }),
      details: [
        // The user's own headers are not changed.
        ['In the list', { pairs: own.map(([key, each]) => [cleanLine(key), detailOf(each, key, 1)]) }],
        ...entriesOf(more),
        ...entriesOf(isObject(details) ? [['details', details]] : []),
      ],
    } satisfies PageRow;
    const text = (name: string): string => String(toCell(value(name)) ?? '');
    return { shown, facts: { query: columns.query(row), text } };
  };
}

function degrees(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,3}(?:\.\d+)?$/.test(value) ? Number(value) : value;
}

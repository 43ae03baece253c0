import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { App } from '../../app/app.ts';
import { fullPath } from '../../app/output.ts';
import { loadAsset, redacted, showPage, tempReportPath } from '../../app/page.ts';
import { AppError } from '../../errors.ts';
import type { PageRow } from '../../output/html/document.ts';
import { PAGE_MARK, pageEnd, pageRow, pageStart } from '../../output/html/page.ts';
import { writeChunksAtomic } from '../../storage/atomic.ts';
import { type Counts, formatCounts, plural } from '../progress/counters.ts';
import { openInput } from '../read/input.ts';
import { openList } from '../read/list.ts';
import type { Plan } from '../run/plan.ts';
import { REPORT_COLUMNS, reportRow } from './report-row.ts';

/** What a page may hold and a browser still shows; the rest stays in the list that it is made of. */
const MOST_ROWS = 200_000;
const MOST_CHARACTERS = 96 * 1024 * 1024;

/**
 * Refuses a page that would replace a file that is none of our pages, before anything is asked.
 * @throws {AppError} `usage`
 */
export function checkReport(app: App, { options, place, input }: Plan): void {
  const { report, open } = options;
  if ((report !== undefined || open) && (place === undefined || place.device)) {
    throw new AppError(
      'usage',
      `${report === undefined ? '--open' : '--report'} needs a file of rows to make the page of`,
      {
        hint: 'restaurant enrich list.csv -o out.csv --report out.html',
      },
    );
  }
  if (report === undefined) return;
  const path = fullPath(app.context, report);
  const refuse = (message: string, hint: string): never => {
    throw new AppError('usage', message, { hint });
  };
  if (!/\.html?$/i.test(report))
    refuse(`--report ${report}: a page is HTML`, 'name it so: --report list.html');
  const facts = statSync(path, { throwIfNoEntry: false, bigint: true });
  if (facts === undefined) return;
  const isInput = facts.dev === input.identity?.dev && facts.ino === input.identity?.ino;
  if (!facts.isFile() || isInput) refuse(`${report} is no page to replace`, 'name another file');
  if (options.force) return;
  if (!options.resume || !isPage(path)) {
    refuse(
      `${report} exists`,
      'name another file, or --force begins the whole list anew and replaces both files',
    );
  }
}

/** Whether a file begins as our pages do. */
function isPage(path: string): boolean {
  const head = Buffer.alloc(Buffer.byteLength(PAGE_MARK));
  const file = openSync(path, 'r');
  try {
    return readSync(file, head) === head.length && head.toString('utf8') === PAGE_MARK;
  } finally {
    closeSync(file);
  }
}

/** A page that was made. */
export interface Report {
  /** As it may be told. */
  readonly name: string;
  /** Says where it is kept where nobody named a file, and shows it where --open says so. */
  tell(): Promise<void>;
}

/** Makes a page of a list that is done, out of its output, row by row. @throws {AppError} `io_error` */
export async function makeReport(app: App, plan: Plan, counts: Counts): Promise<Report> {
  const { input } = plan;
  const { report, open } = plan.options;
  const named = report === undefined ? undefined : fullPath(app.context, report);
  const heading = input.name === 'stdin' ? 'List' : basename(input.name);
  const path = named ?? tempReportPath(app, heading);
  await writeChunksAtomic(path, pagePieces(app, plan, heading, counts), named === undefined ? 0o600 : 0o644);
  return {
    name: report ?? path,
    async tell() {
      if (named === undefined) await app.context.stdout.write(`${path}\n`);
      if (open) await showPage(app, path);
    },
  };
}

async function* pagePieces(app: App, plan: Plan, heading: string, counts: Counts): AsyncGenerator<string> {
  const asset = await loadAsset();
  const notes = [plural(counts.done, 'row'), formatCounts(counts)];
  const head = { kind: 'Enriched list', heading, notes, at: app.context.now(), columns: REPORT_COLUMNS };
  yield pageStart(redacted(app, head), asset);
  let index = 0;
  let characters = 0;
  let left = 0;
  for await (const row of rowsOf(app, plan)) {
    if (index >= MOST_ROWS || characters > MOST_CHARACTERS) {
      left += 1;
      continue;
    }
    const piece = pageRow(redacted(app, row), index);
    index += 1;
    characters += piece.length;
    yield piece;
  }
  yield pageEnd(asset, left);
}

async function* rowsOf(app: App, plan: Plan): AsyncGenerator<PageRow> {
  const { place, options, written, columns } = plan;
  if (place === undefined) return;
  const output = await openInput(place.path, app.context);
  try {
    const list = await openList(output, written, () => {});
    const toRow = reportRow({
      header: list.header,
      prefix: options.prefix,
      added: options.added,
      guarded: written.guarded,
      named: [columns.name, columns.id].filter((column) => column !== undefined),
    });
    for await (const row of list.rows) yield toRow(row);
  } finally {
    await output.close();
  }
}

import type { App } from '../app/app.ts';
import { usage } from '../errors.ts';
import { again } from '../hint.ts';
import type { EnrichFlags } from './list-state.ts';
import { checkFlags, readPlan, streamPlan } from './plan.ts';
import { wantsSummary } from './progress/summary.ts';
import { openInput } from './read/input.ts';
import { LIST_FORMATS } from './row.ts';
import { checkColumns, rowTextOf } from './views/all.ts';
import { checkOutputs, type Outputs } from './views/outputs.ts';

export async function runEnrich(app: App, file: string, flags: EnrichFlags): Promise<void> {
  checkFlags(flags);
  checkFormat(app);
  const input = openInput(file, app.context);
  try {
    const outputs = checkOutputs(app, input);
    checkSummary(app, outputs);
    if (file === '-' && app.context.stdin.isTTY)
      await app.notes.note('reading the list from the keyboard; Ctrl-D ends it');
    const { stream, views } = outputs;
    // Only from stdin to stdout, a list may be longer than the memory.
    if (stream !== undefined && input.file === undefined && app.globals.dryRun !== true) {
      const { streamList } = await import('./stream.ts');
      return await streamList(app, { flags, output: stream, ...(await streamPlan(app, input, flags)) });
    }
    const { plan, rows } = await readPlan(app, input, flags);
    if (stream === undefined) checkColumns(app, plan, views);
    else rowTextOf(plan, stream.format ?? plan.list.format, true);
    if (app.globals.dryRun === true) {
      const { printEstimate } = await import('./estimate.ts');
      return await printEstimate(app, { flags, views, plan, rows });
    }
    if (stream !== undefined) {
      const { streamList } = await import('./stream.ts');
      return await streamList(app, { flags, output: stream, plan, rows });
    }
    const { updateList } = await import('./run.ts');
    await updateList(app, { file, flags, views, plan, rows });
  } finally {
    input.close();
  }
}

function checkFormat(app: App): void {
  const { format } = app.globals;
  if (format === undefined || [...LIST_FORMATS, 'json'].includes(format)) return;
  throw usage(`--format '${format}': rows are printed as ${LIST_FORMATS.join(', ')}`, [
    { command: again({ '--format': 'csv' }) },
    { text: 'or for a file', command: again({ '--output': `out.${format}` }, { without: ['--format'] }) },
  ]);
}

function checkSummary(app: App, { stream }: Outputs): void {
  if (stream === undefined || app.globals.dryRun === true) return;
  const file = again({ '--output': 'out.csv' });
  if (app.globals.open === true) throw usage('--open needs a file of rows', { command: file });
  if (!wantsSummary(app)) return;
  const flag = app.globals.json ? '--json' : '--format json';
  throw usage(`${flag} prints the summary of a run, so the rows need a file`, [
    { command: file },
    { text: 'or for rows as JSON', command: again({ '--format': 'ndjson' }, { without: ['--json'] }) },
  ]);
}

import type { App } from '../../app/app.ts';
import { outputPath } from '../../app/output.ts';
import { variable } from '../../settings/settings.ts';
import type { EnrichOptions } from '../run/options.ts';
import { type Progress, type ProgressFacts, quietProgress } from './progress.ts';
import { barProgress } from './progress-bar.ts';
import { jsonProgress } from './progress-json.ts';

/** Begins to tell what a run does: as JSON lines, with a bar where a person reads along, or at its end alone. */
export function startProgress(app: App, { progress, json }: EnrichOptions, facts: ProgressFacts): Progress {
  const { context, globals, verbose } = app;
  // A stderr that is gone must not end a run whose rows are well.
  const say = (text: string): Promise<void> => context.stderr.write(app.redact(text)).catch(() => {});
  if (progress === 'json') return jsonProgress(context, say, facts);
  const ci = variable(context.env, 'CI');
  const inCi = ci !== undefined && ci !== 'false' && ci !== '0';
  // Rows and a bar on one terminal would overwrite each other.
  const rowsOnTerminal = context.stdout.isTTY && outputPath(app) === undefined;
  if (app.isInteractive && !verbose && !inCi && !rowsOnTerminal)
    return barProgress(context, say, facts, app.paletteFor('stderr'));
  return quietProgress(say, globals.quiet !== true && !json);
}

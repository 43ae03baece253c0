import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { errorJson, formatError } from '../output/problem.ts';
import { VERSION } from '../version.ts';
import type { App } from './app.ts';

const reportHint = ({ runtime }: Context): string =>
  `this is a fault of restaurant ${VERSION} (${runtime}); please report what --verbose prints`;

/** Tells an error on stderr: as lines for a person, or as one line of JSON. */
export async function reportError(error: AppError, app: App, json: boolean): Promise<void> {
  const { stderr } = app.context;
  await app.flushNotes();
  const told =
    error.code === 'unexpected' && !app.verbose
      ? new AppError('unexpected', error.message, { ...error.details, hint: reportHint(app.context) })
      : error;
  const redact = (part: string): string => app.redact(part);
  const text = json
    ? `${errorJson(told, redact)}\n`
    : formatError(told, app.paletteFor('stderr'), { verbose: app.verbose, redact });
  // Once more, for what else is told. Nothing is left to tell it to where stderr is gone.
  await stderr.write(app.redact(text)).catch(() => {});
}

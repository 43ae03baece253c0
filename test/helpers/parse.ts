import type { App } from '../../src/app/app.ts';
import { acceptedLine } from '../../src/cli/usage.ts';
import { AppError } from '../../src/errors.ts';
import { tryLine } from '../../src/run.ts';
import { contextOf } from './program.ts';

/** Parses a command line without running its command. A line in words of other tools has no error. */
export async function parse(
  words: readonly string[],
  platform: NodeJS.Platform = 'linux',
): Promise<{ app: App; error: AppError | undefined }> {
  const context = contextOf({
    env: { HOME: '/nonexistent', RESTAURANT_BASE_URL: 'https://api.example.com' },
    platform,
  });
  const trial = await tryLine(words, context);
  const { app, error } = trial;
  if (error === undefined) return { app, error };
  const failure = await acceptedLine(trial, (line) => tryLine(line, context)).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (failure !== undefined && !(failure instanceof AppError)) throw failure;
  return { app, error: failure };
}

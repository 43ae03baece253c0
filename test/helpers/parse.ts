import { CommanderError } from 'commander';
import { App } from '../../src/app/app.ts';
import { usageError } from '../../src/cli/usage.ts';
import { AppError } from '../../src/errors.ts';
import { buildProgram } from '../../src/program.ts';
import { contextOf } from './program.ts';

/** Parses a command line whose action does nothing. */
export async function parse(
  words: readonly string[],
  platform: NodeJS.Platform = 'linux',
): Promise<{ app: App; error: AppError | undefined }> {
  const app = new App(contextOf({ env: { HOME: '/nonexistent' }, platform }));
  const program = buildProgram(app);
  app.program = program;
  await program.loadTree();
  for (const command of program.tree) {
    if (!command.isGroup) command.action(() => {});
  }
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    if (error instanceof AppError) return { app, error };
    if (!(error instanceof CommanderError)) throw error;
    if (error.code !== 'commander.help') return { app, error: usageError(error, program.innermost, app) };
  }
  return { app, error: undefined };
}

import { CommanderError } from 'commander';
import type { Context } from './context.ts';
import { AppError, EXIT_CODES, PipeClosed } from './errors.ts';
import { buildProgram } from './program.ts';
import { App } from './run/app.ts';
import { tell } from './run/tell.ts';
import type { CliCommand } from './tree/command.ts';
import { helpText, INTRO } from './tree/help.ts';
import { type Route, routeOf } from './tree/route.ts';
import { unknownCommand } from './tree/suggest.ts';
import { usageError } from './tree/usage.ts';

/**
 * Runs one command line: the whole program, but for the process around it.
 * @param argv the words after `restaurant`
 * @returns the exit code
 */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  const app = new App(context);
  const program = buildProgram(app);
  app.attach(program);
  const route = routeOf(argv, program);
  try {
    await dispatch(argv, route, program, app);
    return app.exitCode;
  } catch (error) {
    return await failed(error, app, route);
  } finally {
    await app.close();
  }
}

async function dispatch(argv: readonly string[], route: Route, program: CliCommand, app: App): Promise<void> {
  const { stdout } = app.context;
  if (route.stray !== undefined) throw unknownCommand(route.stray, route.command);
  if (route.help) return stdout.write(helpText(route.command, app.helpWidth));
  try {
    if (route.command === program && !argv.some((word) => /^(-V|--version)$/.test(word))) {
      program.parseOptions([...argv]);
      return stdout.write(INTRO);
    }
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw usageError(error, route.command);
    await stdout.write(app.collected());
  }
}

/** Tells what went wrong, and gives the exit code for it. */
async function failed(error: unknown, app: App, route: Route): Promise<number> {
  if (error instanceof PipeClosed) return 0;
  const known = asAppError(error, app.context);
  await tell(known, app, route.json);
  return EXIT_CODES[known.kind];
}

function asAppError(error: unknown, context: Context): AppError {
  if (error instanceof AppError) return error;
  if (context.signal.aborted && context.signal.reason instanceof AppError) return context.signal.reason;
  const name = error instanceof Error ? error.name : typeof error;
  const message = error instanceof Error ? error.message : String(error);
  return new AppError('unexpected', `${name}: ${message}`, { cause: error });
}

/** For an error that no catch saw: tells it like any other. @returns the exit code */
export async function tellEscaped(
  error: unknown,
  argv: readonly string[],
  context: Context,
): Promise<number> {
  const app = new App(context);
  const program = buildProgram(app);
  app.attach(program);
  return failed(error, app, routeOf(argv, program));
}

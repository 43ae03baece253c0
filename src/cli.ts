import { App } from './app/app.ts';
import { type CliCommand, COLUMNS_HINT } from './cli/command.ts';
import { helpText, INTRODUCTION } from './cli/help.ts';
import { globalFlagsOf } from './cli/options.ts';
import { parseRoute, type Route } from './cli/route.ts';
import { helpCommand, usageErrorIn } from './cli/usage.ts';
import type { Context } from './context.ts';
import { AppError, EXIT_CODES, PipeClosed, systemCode } from './errors.ts';
import { buildProgram } from './program.ts';
import { BUNDLED, VERSION } from './version.ts';

/**
 * Runs one command line: the whole program, except for the process around it.
 * @param argv the words after `restaurant`
 * @returns the exit code
 */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  const app = new App(context);
  const program = await buildProgram(app, argv);
  const route = parseRoute(argv, program);
  app.route = route;
  if (argv[0] === 'completion' && argv[1] === '--complete') return complete(argv.slice(2), program, app);
  try {
    await dispatch(argv, route, program, app);
    return app.exitCode;
  } catch (error) {
    return await reportFailure(error, app, route);
  } finally {
    await app.close();
  }
}

/** Answers a completion script at a TAB. Whatever is wrong: nothing on a terminal where somebody types. */
async function complete(
  [shell, , ...words]: readonly string[],
  program: CliCommand,
  app: App,
): Promise<number> {
  try {
    const { answer } = await import('./commands/completion/answer.ts');
    await app.context.stdout.write(answer(shell, words, program, app));
    return 0;
  } catch {
    return 1;
  }
}

async function dispatch(argv: readonly string[], route: Route, program: CliCommand, app: App): Promise<void> {
  const { stdout } = app.context;
  const { command, help, given, json } = route;
  const error = await usageErrorIn(route, () => buildProgram(app));
  if (error !== undefined) {
    try {
      // The global options say how the error is printed.
      program.parseOptions([...argv]);
    } catch {
      // An option without its value, which may be the error.
    }
    throw error;
  }
  if (help) return stdout.write(helpText(command, app.helpWidth));
  if (given.has('--version')) {
    await stdout.write(`${VERSION}\n`);
    if (!given.has('--verbose')) return;
    return stdout.write(
      `${app.context.runtime}\nbundled packages (licenses: THIRD-PARTY.txt):\n${BUNDLED}\n`,
    );
  }
  if (!command.isGroup) {
    await program.parseAsync([...argv], { from: 'user' });
    return;
  }
  if (json === true) {
    throw new AppError('usage', 'no command given', {
      hint: 'restaurant schema lists all commands as JSON',
    });
  }
  await stdout.write(command === program ? INTRODUCTION : helpText(command, app.helpWidth));
}

/** Reports an error, and returns the exit code for it. */
async function reportFailure(error: unknown, app: App, { command, json }: Route): Promise<number> {
  if (error instanceof PipeClosed) return 0;
  const known = await withHint(asAppError(error, app.context), command, app);
  await reportError(known, app, command, json ?? app.wantsJson);
  return EXIT_CODES[known.kind];
}

/** Commands that run until they are stopped. */
const ENDLESS: readonly string[] = ['mcp', 'sandbox'];

/** Prints an error on stderr: as lines for a person, or as one line of JSON. */
async function reportError(error: AppError, app: App, command: CliCommand, json: boolean): Promise<void> {
  const { stderr } = app.context;
  const { errorJson, formatError } = await import('./output/problem.ts');
  await app.flushNotes();
  const redact = (part: string): string => app.redact(part);
  const isStopped = error.code === 'interrupted' && ENDLESS.includes(command.path);
  const text = json
    ? `${errorJson(error, redact)}\n`
    : isStopped
      ? 'stopped\n'
      : formatError(error, app.paletteFor('stderr'), {
          verbose: app.verbose,
          redact,
          ...(stderr.isTTY ? { width: stderr.columns } : {}),
        });
  // Redacted once more as a whole. If stderr is closed, the error cannot be reported.
  await stderr.write(app.redact(text)).catch(() => {});
}

/** Completes the hint: help for a usage error without one, and the words that the user typed. */
async function withHint(error: AppError, command: CliCommand, app: App): Promise<AppError> {
  const { code, details } = error;
  if (code === 'unexpected' && !app.verbose) {
    const runtime = `restaurant ${VERSION} (${app.context.runtime})`;
    return error.withHint(`this is a bug in ${runtime}; please report what --verbose prints`);
  }
  const { completeHint } = await import('./app/command-line.ts');
  const help = helpCommand(command);
  // Where --columns exists, --fields is often taken for it.
  const advice = globalFlagsOf(command).includes('--columns') ? `${COLUMNS_HINT}; see ${help}` : help;
  const given = details.hint === COLUMNS_HINT ? advice : details.hint;
  const hint = given ?? (code === 'usage' ? help : error.hint);
  return error.withHint(completeHint(app, hint));
}

function asAppError(error: unknown, context: Context): AppError {
  if (error instanceof AppError) return error;
  if (context.signal.aborted && context.signal.reason instanceof AppError) return context.signal.reason;
  const name = error instanceof Error ? error.name : typeof error;
  const message = error instanceof Error ? error.message : String(error);
  // Reached only if route and commander differ about a line.
  if (systemCode(error)?.startsWith('commander.'))
    return new AppError('usage', message.replace(/^error: /, ''), { cause: error });
  return new AppError('unexpected', `${name}: ${message}`, { cause: error });
}

/** Reports an error that no catch saw like any other. @returns the exit code */
export async function reportUncaught(
  error: unknown,
  argv: readonly string[],
  context: Context,
): Promise<number> {
  const app = new App(context);
  const program = await buildProgram(app, argv);
  app.route = parseRoute(argv, program);
  // This program has no assertions; undici has one that fails when a peer closes at a bad moment.
  const known =
    systemCode(error) === 'ERR_ASSERTION'
      ? new AppError('network', 'the connection was closed in the middle of a response', { cause: error })
      : error;
  return reportFailure(known, app, app.route);
}

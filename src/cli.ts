import { App } from './app/app.ts';
import { type CliCommand, COLUMNS_HINT } from './cli/command.ts';
import { helpText, INTRODUCTION } from './cli/help.ts';
import { globalFlagsOf } from './cli/options.ts';
import { parseRoute, type Route } from './cli/route.ts';
import { typedLine } from './cli/typed-line.ts';
import { helpCommand, usageErrorIn } from './cli/usage.ts';
import type { Context } from './context.ts';
import { AppError, EXIT_CODES, PipeClosed, systemCode } from './errors.ts';
import { buildProgram } from './program.ts';
import { BUNDLED, VERSION } from './version.ts';

/**
 * Runs one command line. This is the whole program, apart from the process.
 * @param argv the words after `restaurant`
 * @returns the exit code
 */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  const app = new App(context);
  const program = await buildProgram(app, argv);
  const route = parseRoute(argv, program);
  app.route = route;
  app.typed = typedLine(route);
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

/** Prints the completions for a TAB. Errors are not printed, because the user is typing on the terminal. */
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
      // The global options determine how the error is printed.
      program.parseOptions([...argv]);
    } catch {
      // Thrown for an option without a value, which may be the error to report.
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

/** Reports an error. @returns its exit code */
async function reportFailure(error: unknown, app: App, { command, json }: Route): Promise<number> {
  if (error instanceof PipeClosed) return 0;
  const known = await withHint(asAppError(error, app.context), command, app);
  await reportError(known, app, command, json ?? app.wantsJson);
  return EXIT_CODES[known.kind];
}

/** Commands that run until the user stops them. */
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
  // The whole text is redacted once more. If stderr is closed, the error cannot be reported.
  await stderr.write(app.redact(text)).catch(() => {});
}

/**
 * Completes the hint: a usage error without one gets the help command, and commands get the words that the user typed.
 */
async function withHint(error: AppError, command: CliCommand, app: App): Promise<AppError> {
  const { code, details } = error;
  if (code === 'unexpected' && !app.verbose) {
    const runtime = `restaurant ${VERSION} (${app.context.runtime})`;
    return error.withHint(`this is a bug in ${runtime}; please report what --verbose prints`);
  }
  const { hintOf } = await import('./app/hints.ts');
  const help = helpCommand(command);
  // Users often confuse --fields with --columns.
  const advice = globalFlagsOf(command).includes('--columns') ? `${COLUMNS_HINT}; see ${help}` : help;
  const given = details.hint === COLUMNS_HINT ? advice : details.hint;
  const hint = given ?? (code === 'usage' ? help : error.hint);
  return error.withHint({ text: hintOf(app, hint) });
}

function asAppError(error: unknown, context: Context): AppError {
  if (error instanceof AppError) return error;
  if (context.signal.aborted && context.signal.reason instanceof AppError) return context.signal.reason;
  const name = error instanceof Error ? error.name : typeof error;
  const message = error instanceof Error ? error.message : String(error);
  // Reached only if parseRoute and commander parse a command line differently.
  if (systemCode(error)?.startsWith('commander.'))
    return new AppError('usage', message.replace(/^error: /, ''), { cause: error });
  return new AppError('unexpected', `${name}: ${message}`, { cause: error });
}

/** Reports an uncaught error like any other. @returns the exit code */
export async function reportUncaught(
  error: unknown,
  argv: readonly string[],
  context: Context,
): Promise<number> {
  const app = new App(context);
  const program = await buildProgram(app, argv);
  app.route = parseRoute(argv, program);
  app.typed = typedLine(app.route);
  // This program has no assertions of its own. One in undici fails if the peer closes the connection at certain moments.
  const known =
    systemCode(error) === 'ERR_ASSERTION'
      ? new AppError('network', 'the connection was closed in the middle of a response', { cause: error })
      : error;
  return reportFailure(known, app, app.route);
}

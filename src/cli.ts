import { CommanderError } from 'commander';
import { App } from './app/app.ts';
import type { CliCommand } from './cli/command.ts';
import { helpText, introText } from './cli/help.ts';
import { parseRoute, type Route } from './cli/route.ts';
import { unknownCommandError, unknownOptionError } from './cli/suggest.ts';
import { helpCommand, usageError } from './cli/usage.ts';
import type { Context } from './context.ts';
import { AppError, EXIT_CODES, PipeClosed, systemCode } from './errors.ts';
import { buildProgram } from './program.ts';
import { BUNDLED } from './version.ts';

/**
 * Runs one command line: the whole program, but for the process around it.
 * @param argv the words after `restaurant`
 * @returns the exit code
 */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  const app = new App(context);
  const program = buildProgram(app);
  app.attach(program);
  if (argv[0] === 'completion' && argv[1] === '--complete') return complete(argv.slice(2), program, app);
  const route = parseRoute(argv, program);
  try {
    await dispatch(argv, route, program, app);
    return app.exitCode;
  } catch (error) {
    return await reportFailure(error, app, route);
  } finally {
    await app.close();
  }
}

/** What a completion script asks at a TAB. Whatever is wrong: nothing on a terminal where somebody types. */
async function complete(
  [shell, , ...asked]: readonly string[],
  program: CliCommand,
  app: App,
): Promise<number> {
  try {
    const { answer } = await import('./commands/completion/answer.ts');
    await app.context.stdout.write(await answer(shell, asked, program, app));
    return 0;
  } catch {
    return 1;
  }
}

async function dispatch(argv: readonly string[], route: Route, program: CliCommand, app: App): Promise<void> {
  const { stdout } = app.context;
  const { command, unknownCommand } = route;
  if (unknownCommand !== undefined && route.unknownOption !== undefined) {
    throw unknownOptionError(route.unknownOption, command, program);
  }
  if (unknownCommand !== undefined) throw unknownCommandError(unknownCommand, command);
  if (route.help) return stdout.write(helpText(command, app.helpWidth));
  try {
    if (command.isGroup && !argv.some((word) => /^(-V|--version)$/.test(word))) {
      return await showGroupHelp(argv, route, program, app);
    }
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw usageError(error, command);
    await stdout.write(app.collected());
    if (error.code === 'commander.version' && argv.includes('--verbose')) {
      await stdout.write(
        `${app.context.runtime}\nbundled packages (licences: THIRD-PARTY.txt):\n${BUNDLED}\n`,
      );
    }
  }
}

/** What the program, or a group of commands, says when no command of it is named. */
async function showGroupHelp(
  argv: readonly string[],
  { command, json }: Route,
  program: CliCommand,
  app: App,
): Promise<void> {
  const { operands, unknown } = program.parseOptions([...argv]);
  const [option] = unknown;
  if (option !== undefined) throw unknownOptionError(option, command, program);
  const word = operands[command.path === '' ? 0 : command.path.split(' ').length];
  if (word !== undefined) throw unknownCommandError(word, command);
  if (json === true) {
    throw new AppError('usage', 'there is no command on the line', {
      hint: 'restaurant schema lists all commands as JSON',
    });
  }
  await app.context.stdout.write(
    command === program ? introText(app.helpWidth) : helpText(command, app.helpWidth),
  );
}

/** Tells what went wrong, and gives the exit code for it. */
async function reportFailure(error: unknown, app: App, { command, json }: Route): Promise<number> {
  if (error instanceof PipeClosed) return 0;
  const known = withHelpHint(asAppError(error, app.context), command);
  const { reportError } = await import('./app/tell.ts');
  await reportError(known, app, json ?? app.wantsJson);
  return EXIT_CODES[known.kind];
}

/** A usage error that says no better points to the help of its command. */
function withHelpHint(error: AppError, command: CliCommand): AppError {
  if (error.code !== 'usage' || error.details.hint !== undefined) return error;
  return new AppError('usage', error.message, { ...error.details, hint: helpCommand(command) });
}

function asAppError(error: unknown, context: Context): AppError {
  if (error instanceof AppError) return error;
  if (context.signal.aborted && context.signal.reason instanceof AppError) return context.signal.reason;
  const name = error instanceof Error ? error.name : typeof error;
  const message = error instanceof Error ? error.message : String(error);
  return new AppError('unexpected', `${name}: ${message}`, { cause: error });
}

/** For an error that no catch saw: tells it like any other. @returns the exit code */
export async function reportUncaught(
  error: unknown,
  argv: readonly string[],
  context: Context,
): Promise<number> {
  const app = new App(context);
  const program = buildProgram(app);
  app.attach(program);
  // No assertion is ours: undici has one that fails when a peer closes at a bad moment.
  const known =
    systemCode(error) === 'ERR_ASSERTION'
      ? new AppError('network', 'the connection broke in the middle of an answer', { cause: error })
      : error;
  return reportFailure(known, app, parseRoute(argv, program));
}

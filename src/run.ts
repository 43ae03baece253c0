import { CommanderError } from 'commander';
import { App } from './app/app.ts';
import { type CliCommand, LineError } from './cli/command.ts';
import type { TriedLine } from './cli/slips/reading.ts';
import type { Context } from './context.ts';
import { AppError, attempt, EXIT_CODES, PipeClosed, systemCode, usage } from './errors.ts';
import { again, type Hint, restaurant } from './hint.ts';
import { buildProgram } from './program.ts';
import { BUNDLED, VERSION } from './version.ts';

/** @param argv the words after `restaurant`. @returns the exit code */
export async function run(argv: readonly string[], context: Context): Promise<number> {
  const app = new App(context);
  let program = buildProgram(app);
  if (argv[0] === 'completion' && argv[1] === '--complete') return complete(argv.slice(2), program, app);
  try {
    let error = await runLine(program, argv);
    if (endingOf(error, program) === 'slip') {
      const { acceptedLine } = await import('./cli/usage.ts');
      const line = await acceptedLine({ words: argv, app, program, error }, (words) =>
        tryLine(words, context),
      );
      program = buildProgram(app);
      program.takenAs = line.notes;
      error = await runLine(program, line.words);
    }
    if (error !== undefined) await answerOrThrow(error, program, app);
    return app.exitCode;
  } catch (error) {
    return await reportFailure(error, app, program);
  } finally {
    await app.cleanup.run();
    await app.notes.flush();
  }
}

/** Runs a line. @returns what it threw */
const runLine = (program: CliCommand, words: readonly string[]): Promise<unknown> =>
  program.parseAsync([...words], { from: 'user' }).then(
    () => undefined,
    (error: unknown) => error,
  );

/** Parses a line without running its command. */
export async function tryLine(words: readonly string[], context: Context): Promise<TriedLine> {
  const app = new App(context);
  const program = buildProgram(app);
  program.isTrial = true;
  const error = await runLine(program, words);
  return { words, app, program, error: endingOf(error, program) === 'slip' ? error : undefined };
}

/** How a line ended: it asked for something else than a command, its words are wrong, or its command failed. */
type Ending = 'help' | 'version' | 'no command' | 'slip' | 'failure';

/** Help, if asked for, comes before other errors than an unknown command. */
function endingOf(error: unknown, program: CliCommand): Ending {
  if (error instanceof LineError) return 'slip';
  if (!(error instanceof CommanderError)) return 'failure';
  const { help, version } = program.opts();
  if (isUnknownCommand(error, commandIn(program))) return 'slip';
  if (help === true) return 'help';
  if (version === true) return 'version';
  return error.code === 'commander.help' ? 'no command' : 'slip';
}

async function complete(
  [shell, , ...words]: readonly string[],
  program: CliCommand,
  app: App,
): Promise<number> {
  try {
    const { answer } = await import('./commands/completion/answer.ts');
    await app.context.stdout.write(await answer(shell, words, program, app));
    return 0;
  } catch {
    return 1;
  }
}

/** Answers a line that ran no command. @throws the error, unless help or the version was asked for */
async function answerOrThrow(error: unknown, program: CliCommand, app: App): Promise<void> {
  const command = commandIn(program);
  switch (endingOf(error, program)) {
    case 'help':
      return printHelp(app, command);
    case 'version':
      return printVersion(app);
    case 'no command':
      return answerNoCommand(app, command);
    default:
      throw error;
  }
}

/** @throws {AppError} `usage` for JSON without a command */
async function answerNoCommand(app: App, command: CliCommand): Promise<void> {
  if (app.globals.json === true)
    throw usage('no command given', { text: 'list all commands as JSON', command: restaurant('schema') });
  if (command.parent !== null) return printHelp(app, command);
  const { INTRODUCTION } = await import('./cli/help.ts');
  await app.context.stdout.write(INTRODUCTION);
}

const isUnknownCommand = ({ code }: CommanderError, command: CliCommand): boolean =>
  code === 'commander.unknownCommand' ||
  (code === 'commander.excessArguments' && command.children.length > 0);

async function printHelp(app: App, command: CliCommand): Promise<void> {
  // The help of the program lists all commands.
  await (command.parent === null ? command.loadTree() : command.load());
  const { helpText } = await import('./cli/help.ts');
  await app.context.stdout.write(helpText(command, app));
}

/** Returns the innermost command. The program's last option may lack its value, so that no command was reached. */
function commandIn({ innermost, words, children }: CliCommand): CliCommand {
  const [first = innermost] = words.flatMap((word) => children.find((child) => child.name() === word) ?? []);
  return innermost.parent === null && innermost.args.length === 0 ? first : innermost;
}

async function printVersion(app: App): Promise<void> {
  const { runtime, stdout } = app.context;
  const packages = `${runtime}\nbundled packages (licenses: THIRD-PARTY.txt):\n${BUNDLED}\n`;
  await stdout.write(`${VERSION}\n${app.globals.verbose === true ? packages : ''}`);
}

async function reportFailure(error: unknown, app: App, { innermost: command }: CliCommand): Promise<number> {
  if (error instanceof PipeClosed) return 0;
  const failure = asAppError(error, app.context);
  const hint = await failureHint(failure, command, app);
  const { context, notes, secrets, terminal } = app;
  const { stderr } = context;
  const { errorJson, formatError } = await import('./output/problem.ts');
  await notes.flush();
  const redact = (part: string): string => secrets.redact(part);
  const width = stderr.isTTY ? { width: stderr.columns } : {};
  const lines = (): string =>
    failure.code === 'interrupted' && command.isEndless
      ? 'stopped\n'
      : formatError(failure, terminal.palette('stderr'), {
          verbose: terminal.verbose,
          redact,
          hint,
          ...width,
        });
  // With JSON progress, errors are JSON, too.
  const isJson = terminal.wantsJsonErrors || command.opts().progress === 'json';
  const text = isJson ? `${errorJson(failure, redact, hint)}\n` : lines();
  // The whole text is redacted once more. If stderr is closed, the error cannot be reported.
  await stderr.write(redact(text)).catch(() => {});
  return EXIT_CODES[failure.kind];
}

async function failureHint(error: AppError, command: CliCommand, app: App): Promise<string> {
  const { errorHintLine } = await import('./app/error-hint.ts');
  const isBug = error.code === 'unexpected' && !app.terminal.verbose;
  const report: Hint = [
    { text: `this is a bug in restaurant ${VERSION} (${app.context.runtime})` },
    { text: 'please report what this prints', command: again({ '--verbose': true }) },
  ];
  if (isBug) return errorHintLine(app, error, report);
  return errorHintLine(app, error, error.code === 'usage' ? command.ownHelp : undefined);
}

function asAppError(error: unknown, context: Context): AppError {
  if (error instanceof AppError) return error;
  if (context.signal.aborted && context.signal.reason instanceof AppError) return context.signal.reason;
  const name = error instanceof Error ? error.name : typeof error;
  const message = error instanceof Error ? error.message : String(error);
  return new AppError('unexpected', `${name}: ${message}`, { cause: error });
}

export async function reportUncaught(
  error: unknown,
  argv: readonly string[],
  context: Context,
): Promise<number> {
  const app = new App(context);
  const program = buildProgram(app);
  // Only for the options, such as --json: an error in them is not the one to report.
  attempt(() => program.parseOptions([...argv]));
  // This program has no assertions of its own. One in undici fails if the peer closes the connection at certain moments.
  const failure =
    systemCode(error) === 'ERR_ASSERTION'
      ? new AppError('network', 'the connection was closed in the middle of a response', { cause: error })
      : error;
  return reportFailure(failure, app, program);
}

import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Context } from '../context.ts';
import { AppError, failure, systemCode, usage } from '../errors.ts';
import { again, type Command, type Hint, slot, system, type Word } from '../hint.ts';
import { EXTENSIONS } from '../output/formats.ts';
import { variable } from '../settings/settings.ts';
import { ioError } from '../storage/files.ts';
import type { OutputContent } from '../storage/user-files.ts';
import { resolveOutput, type UserPath } from '../storage/user-paths.ts';
import type { App } from './app.ts';
import { withoutKey } from './secrets.ts';

/** @throws {AppError} `io_error` if the current folder was deleted */
function currentFolder({ cwd }: Pick<Context, 'cwd'>): string {
  try {
    return cwd();
  } catch (cause) {
    throw failure(
      'io_error',
      'cannot resolve a relative path: the current folder cannot be read or was deleted',
      { text: 'change to another folder, or use an absolute path' },
      cause,
    );
  }
}

/** Returns the absolute path. The current folder, which may be deleted, is read only for a relative path. */
export const fullPath = (context: Pick<Context, 'cwd'>, path: string): string =>
  isAbsolute(path) ? resolve(path) : resolve(currentFolder(context), path);

/** A name beside that of a file that is not to be replaced. */
export const otherName = (name: string): string => name.replace(/(\.\w+)?$/, '-2$1');

/** The path that `--output` names; undefined for stdout. */
export function outputPath(app: App): string | undefined {
  const { output } = app.globals;
  if (output === '') {
    throw usage('--output needs the name of a file', { command: again({ '--output': 'out.csv' }) });
  }
  return output === undefined || output === '-' ? undefined : fullPath(app.context, output);
}

/** How a command line names a file: with an option, or as an operand. */
export interface Naming {
  readonly example: string;
  readonly command: (file: Word) => Command;
}

const OUTPUT: Naming = { example: 'out.csv', command: (file) => again({ '--output': file }) };

/** @throws {AppError} `usage` if the name of the file is that of a format */
export function checkNotFormat(name: string, { command } = OUTPUT): void {
  if (EXTENSIONS.get(name) !== name) return;
  throw usage(`--output expects a file, got the format '${name}'`, { command: command(`out.${name}`) });
}

/**
 * Decides whether a file may be written, and whether it exists.
 * @throws {AppError} `usage` if it exists, or for a link (see `resolveOutput`); `io_error` if it cannot be written
 */
export function checkOutputPath(
  app: App,
  name: string,
  mayExist = app.globals.force === true,
  naming = OUTPUT,
): UserPath {
  const path = fullPath(app.context, name);
  const target = withWriteErrors(name, naming, () =>
    resolveOutput(path, app.context, {
      typed: name,
      force: app.globals.force === true,
      command: naming.command,
    }),
  );
  const { entry } = target;
  if (entry === 'folder') {
    throw failure('io_error', `${name} is a folder`, {
      text: 'name a file in it',
      command: naming.command(join(path, naming.example)),
    });
  }
  if (entry === 'file' && !mayExist) {
    throw usage(`${name} exists`, existsHint(naming));
  }
  if (entry === 'nothing' || !existsSync(dirname(target.path)))
    checkFolder(name, naming, dirname(target.path));
  return target;
}

const existsHint = (naming: Naming): Hint => [
  { text: 'add --force to overwrite it', command: again({ '--force': true }) },
  { text: 'or write to another file', command: naming.command(slot('file')) },
];

function checkFolder(name: string, naming: Naming, folder: string): void {
  if (!existsSync(folder)) {
    throw failure('io_error', `cannot write ${name}: the folder ${folder} does not exist`, {
      command: system('mkdir -p', folder),
    });
  }
  withWriteErrors(name, naming, () => accessSync(folder, constants.W_OK));
}

function withWriteErrors<T>(name: string, naming: Naming, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw writeError(name, error, naming);
  }
}

function writeError(name: string, error: unknown, naming = OUTPUT): AppError {
  const code = systemCode(error instanceof AppError ? error.cause : error);
  if (code === 'EEXIST') return ioError('write', name, error, existsHint(naming));
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return ioError('write', name, error, {
    text: isFull ? 'free some space, or choose another disk' : 'choose a directory that you own',
    command: naming.command(slot('file')),
  });
}

/** Checks the file of `--output`; undefined for stdout. @throws {AppError} as {@link checkOutputPath} */
export function checkOutputFile(app: App): UserPath | undefined {
  return outputPath(app) === undefined ? undefined : checkOutputPath(app, app.globals.output ?? '');
}

/** Stdout, or the file of `--output`, which `finish` writes atomically. @throws {AppError} as {@link checkOutputPath} */
export function openOutput(app: App): { write(text: string): Promise<void>; finish(): Promise<void> } {
  const target = checkOutputFile(app);
  if (target === undefined) {
    return { write: (text) => app.context.stdout.write(app.secrets.mask(text)), finish: async () => {} };
  }
  const parts: string[] = [];
  return {
    async write(text) {
      parts.push(app.secrets.mask(text));
    },
    finish: () => writeTarget(app, target, parts.join('')),
  };
}

async function writeTarget(
  { context, globals }: App,
  target: UserPath,
  content: OutputContent,
): Promise<void> {
  const { writeUserFile } = await import('../storage/user-files.ts');
  try {
    await writeUserFile(target, content, context);
  } catch (error) {
    throw writeError(globals.output ?? target.path, error);
  }
}

export async function writeOutput(app: App, text: string): Promise<void> {
  const output = openOutput(app);
  await output.write(text);
  await output.finish();
}

export async function writeBytes(app: App, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const target = checkOutputFile(app);
  if (target !== undefined) await writeTarget(app, target, chunks);
}

export const writesToTerminal = (app: App): boolean =>
  app.context.stdout.isTTY && outputPath(app) === undefined;

export async function writePaged(app: App, text: string): Promise<void> {
  const isShown = writesToTerminal(app) && (await showInPager(app, text));
  if (!isShown) await writeOutput(app, text);
}

/** Shows a text that is longer than the screen in the pager, until the user quits it. @returns whether it was shown */
async function showInPager(app: App, text: string): Promise<boolean> {
  const { env, stdout, leaveInterruptsTo } = app.context;
  const command = (variable(env, 'RESTAURANT_PAGER') ?? env.PAGER ?? '').trim();
  if (command === '' || command === 'cat' || !app.terminal.isAttended) return false;
  if (stdout.rows === undefined || text.split('\n').length <= stdout.rows) return false;
  return leaveInterruptsTo(() => runPager(command, app.secrets.mask(text), env));
}

function runPager(command: string, text: string, env: App['context']['env']): Promise<boolean> {
  return new Promise((resolve) => {
    // As git does: quit if the text fits, show colors, leave the text on the screen.
    const child = spawn(command, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'FRX', LV: '-c', ...withoutKey(env) },
    });
    // If the user quits the pager early, it does not read the rest.
    child.stdin.on('error', () => {});
    child.on('error', () => resolve(false));
    // 126 and 127: the shell could not start the pager.
    child.on('close', (code) => resolve(code !== 126 && code !== 127));
    child.stdin.end(text);
  });
}

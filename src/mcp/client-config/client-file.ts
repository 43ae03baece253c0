import { isUtf8 } from 'node:buffer';
import { existsSync, lstatSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, posix, win32 } from 'node:path';
import type { Context } from '../../context.ts';
import { AppError, systemCode } from '../../errors.ts';
import { type AtomicOptions, createFolders, writeFileAtomic } from '../../storage/atomic.ts';
import { readRegularFile } from '../../storage/files.ts';
import { ioError } from '../../storage/io-error.ts';
import { absolute, homeOf } from '../../storage/paths.ts';
import { shellWord } from '../../util/shell.ts';
import type { Location, McpClient, Scope } from './clients.ts';

type PathContext = Pick<Context, 'env' | 'platform' | 'homedir'>;

/** The path module of the platform. */
export const pathOf = ({ platform }: Pick<Context, 'platform'>): typeof posix =>
  platform === 'win32' ? win32 : posix;

/**
 * Returns the path of a client's file: of several the first that exists, else the first.
 * @throws {AppError} `usage` when the client has no such file; `bad_config` when the home folder is unknown
 */
export function clientPath(
  { name, user = [], project = [] }: McpClient,
  scope: Scope,
  context: PathContext & Pick<Context, 'cwd'>,
): string {
  const files =
    scope === 'user'
      ? user.map((location) => resolveLocation(location, context))
      : project.map((file) => pathOf(context).join(context.cwd(), file));
  const file = files.find((each) => existsSync(each)) ?? files[0];
  if (file !== undefined) return file;
  throw new AppError('usage', `${name} has no ${scope} file for MCP servers`, {
    hint: `restaurant mcp config ${name} --scope ${scope === 'user' ? 'project' : 'user'}`,
  });
}

/** Returns the path of a location on this machine. @throws {AppError} `bad_config` when the home folder is unknown */
export function resolveLocation(location: Location, context: PathContext): string {
  const { env, platform } = context;
  const path = pathOf(context);
  for (const [variable, rest] of location.envOverrides ?? []) {
    const folder = absolute(path, env[variable]);
    if (folder !== undefined) return path.join(folder, rest);
  }
  const home = homeOf(context, path);
  const belowHome = (...parts: string[]) => home && path.join(home, ...parts);
  const config = absolute(path, env.XDG_CONFIG_HOME) ?? belowHome('.config');
  const app =
    platform === 'win32'
      ? (absolute(path, env.APPDATA) ?? belowHome('AppData', 'Roaming'))
      : platform === 'darwin'
        ? belowHome('Library', 'Application Support')
        : config;
  const windowsPath = platform === 'win32' ? location.windows : undefined;
  const folder = windowsPath === undefined ? { home, config, app }[location.below] : app;
  if (folder !== undefined) return path.join(folder, windowsPath ?? location.path);
  throw new AppError('bad_config', 'the home folder is unknown, so the location of the file is too', {
    hint: 'set HOME=<folder> and run the command again',
  });
}

/**
 * Checks that no part of a path below a folder is a symbolic link: in a folder that others fill (a project), a link
 * could direct the write to any file of the user.
 * @throws {AppError} `io_error` naming the link
 */
export function assertNoLinks(folder: string, file: string, path: typeof posix): void {
  let current = folder;
  for (const part of path.relative(folder, file).split(path.sep)) {
    current = path.join(current, part);
    try {
      if (!lstatSync(current, { throwIfNoEntry: false })?.isSymbolicLink()) continue;
    } catch (error) {
      if (systemCode(error) === 'ENOTDIR') return;
      throw ioError('read', current, error);
    }
    throw new AppError('io_error', `${current} is a symbolic link; nothing is written through it`, {
      hint: `ls -l ${shellWord(current)} shows the link; replace it with a real file or folder, then try again`,
    });
  }
}

/** Writes a file atomically, and creates its folder before. @throws {AppError} `io_error` */
export function writeFileWithFolder(path: string, text: string, options: AtomicOptions): void {
  try {
    createFolders(dirname(path), 0o777);
  } catch (error) {
    throw ioError('create the folder', dirname(path), error);
  }
  writeFileAtomic(path, text, options);
}

/** Maximum size of a client's file, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
const PERMISSIONS = 0o777;

interface ChangeOptions {
  /** Folder of the project that the file belongs to: no link below it is followed. */
  readonly project?: string | undefined;
  /** Whether the new text holds a key. */
  readonly isSecret: boolean;
}

/**
 * Changes the text of a client's file, or creates it. The three newest versions are kept beside it, as `<file>.bak`. A
 * link at the name of a backup is moved, never followed.
 * @param edit returns an object with the new text; throws a SyntaxError when the text cannot be edited
 * @returns the result of `edit`, and the path of the backup, if there is one
 * @throws {AppError} `io_error`; `bad_config` when the text cannot be edited
 */
export function changeClientFile<Edit extends { readonly text: string }>(
  context: Pick<Context, 'platform'>,
  file: string,
  { project, isSecret }: ChangeOptions,
  edit: (text: string) => Edit,
): Edit & { readonly isChanged: boolean; readonly backup?: string | undefined } {
  const backups = [`${file}.bak`, `${file}.bak.2`, `${file}.bak.3`] as const;
  for (const each of project === undefined ? [] : [file, ...backups]) {
    assertNoLinks(project ?? '', each, pathOf(context));
  }
  const before = readIfExists(file);
  const text = before?.text ?? '';
  const mode = before?.mode ?? (project === undefined ? 0o600 : 0o644);
  const edited = tryEdit();
  if (edited.text === text) return { ...edited, isChanged: false };
  if (before !== undefined) writeBackup(backups, text, mode);
  writeFileWithFolder(file, edited.text, {
    // Only the user may read a file with a key.
    mode: isSecret ? mode & 0o700 : mode,
    replace: project !== undefined,
  });
  return { ...edited, isChanged: true, backup: before && backups[0] };

  function tryEdit(): Edit {
    try {
      return edit(text);
    } catch (error) {
      if (error instanceof RangeError) throw invalidConfig(file, 'it is nested too deeply');
      if (error instanceof SyntaxError) throw invalidConfig(file, error.message);
      throw error;
    }
  }
}

const invalidConfig = (file: string, reason: string): AppError =>
  new AppError('bad_config', `cannot edit ${file}: ${reason}`, {
    hint: 'fix the file and try again, or add the entry that restaurant mcp config <client> prints without --write',
  });

function readIfExists(file: string): { text: string; mode: number } | undefined {
  try {
    const { bytes, stats } = readRegularFile(file, MAX_BYTES);
    if (!isUtf8(bytes)) throw invalidConfig(file, 'it is not UTF-8 text');
    return { text: bytes.toString('utf8'), mode: stats.mode & PERMISSIONS };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError('read', file, error);
  }
}

function writeBackup(
  [newest, second, oldest]: readonly [string, string, string],
  text: string,
  mode: number,
): void {
  try {
    renameIfExists(second, oldest);
    renameIfExists(newest, second);
    // O_EXCL: never through a link, whatever appears at the name in the meantime.
    writeFileSync(newest, text, { mode, flag: 'wx' });
  } catch (error) {
    throw ioError('write', newest, error);
  }
}

function renameIfExists(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

import { isUtf8 } from 'node:buffer';
import { existsSync, lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, posix, win32 } from 'node:path';
import type { Context } from '../../context.ts';
import { AppError, systemCode } from '../../errors.ts';
import { type AtomicOptions, writeFileAtomic } from '../../storage/atomic.ts';
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

/** The content of a client's file. */
export interface ClientFile {
  readonly text: string;
  /** Permission bits. */
  readonly mode: number;
}

/** Maximum size of a client's file, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
const PERMISSIONS = 0o777;

/** Creates the error for a client's file that cannot be edited. */
export function invalidConfig(path: string, why: string): AppError {
  return new AppError('bad_config', `cannot edit ${path}: ${why}`, {
    hint: 'fix the file and try again, or add the entry that restaurant mcp config <client> prints without --write',
  });
}

/** Reads a client's file; undefined when it does not exist. @throws {AppError} `io_error`; `bad_config` for other text than UTF-8 */
export function readClientFile(path: string): ClientFile | undefined {
  try {
    const { bytes, stats } = readRegularFile(path, MAX_BYTES);
    if (!isUtf8(bytes)) throw invalidConfig(path, 'it is not UTF-8 text');
    return { text: bytes.toString('utf8'), mode: stats.mode & PERMISSIONS };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError('read', path, error);
  }
}

/** Writes a file atomically, and creates its folder before. @throws {AppError} `io_error` */
export function writeFileWithFolder(path: string, text: string, options: AtomicOptions): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw ioError('create the folder', dirname(path), error);
  }
  writeFileAtomic(path, text, options);
}

/** Returns the paths of the backups, newest first. */
export const backupPaths = (path: string): readonly [string, string, string] => [
  `${path}.bak`,
  `${path}.bak.2`,
  `${path}.bak.3`,
];

/**
 * Writes the content of a client's file beside it as `<path>.bak`; the three newest backups are kept. A link at the name
 * of a backup is moved, never followed.
 * @returns the path of the backup
 * @throws {AppError} `io_error`
 */
export function writeBackup(path: string, { text, mode }: ClientFile): string {
  const [newest, second, oldest] = backupPaths(path);
  try {
    renameIfExists(second, oldest);
    renameIfExists(newest, second);
    // O_EXCL: never through a link, whatever appears at the name in the meantime.
    writeFileSync(newest, text, { mode, flag: 'wx' });
  } catch (error) {
    throw ioError('write', newest, error);
  }
  return newest;
}

function renameIfExists(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
  }
}

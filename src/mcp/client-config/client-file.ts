import { existsSync, lstatSync, mkdirSync, readlinkSync, renameSync, statSync, writeFileSync } from 'node:fs';
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

/** The file of a client, and the folder below which no part of its path may be a symbolic link. */
export interface ClientPath {
  readonly file: string;
  readonly project?: string;
}

/** The path module of the platform. */
export const pathOf = ({ platform }: Pick<Context, 'platform'>): typeof posix =>
  platform === 'win32' ? win32 : posix;

/**
 * Returns the path of a client's file: of several the first that exists, else the first.
 * @throws {AppError} `usage` when the client has no such file; `bad_config` when the home folder is unknown
 */
export function clientPath(
  client: McpClient,
  scope: Scope,
  context: PathContext & Pick<Context, 'cwd'>,
): ClientPath {
  const path = pathOf(context);
  const firstExisting = (files: readonly string[]): string => {
    const file = files.find((each) => existsSync(each)) ?? files[0];
    if (file !== undefined) return file;
    const other = scope === 'user' ? 'project' : 'user';
    throw new AppError('usage', `${client.name} has no ${scope} file for MCP servers`, {
      hint: `restaurant mcp config ${client.name} --scope ${other}`,
    });
  };
  if (scope === 'project') {
    const project = context.cwd();
    return { file: firstExisting((client.project ?? []).map((name) => path.join(project, name))), project };
  }
  const files = (client.user ?? []).map((location) => resolveLocation(location, context));
  return { file: firstExisting(files) };
}

/** Returns the path of a location on this machine. @throws {AppError} `bad_config` when the home folder is unknown */
export function resolveLocation(location: Location, context: PathContext): string {
  const { windows } = location;
  const onWindows = context.platform === 'win32' && windows !== undefined;
  const {
    below,
    path: name,
    envOverrides,
  } = onWindows ? ({ below: 'app', path: windows } as Location) : location;
  const { env, platform } = context;
  const path = pathOf(context);
  for (const [variable, rest] of envOverrides ?? []) {
    const folder = absolute(path, env[variable]);
    if (folder !== undefined) return path.join(folder, rest);
  }
  const home = homeOf(context, path);
  const config = absolute(path, env.XDG_CONFIG_HOME) ?? (home && path.join(home, '.config'));
  const app =
    platform === 'win32'
      ? (absolute(path, env.APPDATA) ?? (home && path.join(home, 'AppData', 'Roaming')))
      : platform === 'darwin'
        ? home && path.join(home, 'Library', 'Application Support')
        : config;
  const base = { home, config, app }[below];
  if (base !== undefined) return path.join(base, name);
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
    assertNoLink(current);
  }
}

function assertNoLink(path: string): void {
  let target: string;
  try {
    if (!lstatSync(path).isSymbolicLink()) return;
    target = readlinkSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return;
    throw ioError('read', path, error);
  }
  throw new AppError('io_error', `${path} is a symbolic link to ${target}; nothing is written through it`, {
    hint: `ls -l ${shellWord(path)} shows the link; replace it with a real file or folder, then try again`,
  });
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
const OTHERS = 0o077;

/** Creates the error for a client's file that cannot be edited. */
export function invalidConfig(path: string, why: string): AppError {
  return new AppError('bad_config', `cannot edit ${path}: ${why}`, {
    hint: 'fix the file and try again, or add the entry that restaurant mcp config <client> prints without --write',
  });
}

/** Reads a client's file; undefined when it does not exist. @throws {AppError} `io_error`; `bad_config` for other text than UTF-8 */
export function readClientFile(path: string): ClientFile | undefined {
  try {
    const { mode } = statSync(path);
    return { text: decode(readRegularFile(path, MAX_BYTES), path), mode: mode & PERMISSIONS };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError('read', path, error);
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidConfig(path, 'it is not UTF-8 text');
  }
}

export interface Replacement {
  readonly path: string;
  readonly before: ClientFile | undefined;
  readonly text: string;
  /** The text holds a key, so only the user may read the file. */
  readonly secret: boolean;
  /** Permission bits of a new file. */
  readonly newMode: number;
  /** Whether a symbolic link at the path is followed. In a project folder it is not. */
  readonly followLinks: boolean;
}

/**
 * Writes a client's file. The previous content is stored beside it as `<path>.bak`; the three newest backups are kept.
 * @returns the path of the backup, when the file existed
 * @throws {AppError} `io_error`
 */
export function writeClientFile(replacement: Replacement): string | undefined {
  const { path, before, text, secret, newMode, followLinks } = replacement;
  const backup = before === undefined ? undefined : writeBackup(path, before);
  const mode = before?.mode ?? newMode;
  writeFileWithFolder(path, text, { mode: secret ? mode & ~OTHERS : mode, replace: !followLinks });
  return backup;
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

/** Shifts the older backups by one name and writes the newest. A link at such a name is moved, never followed. */
function writeBackup(path: string, { text, mode }: ClientFile): string {
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

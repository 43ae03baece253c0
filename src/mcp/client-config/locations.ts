import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import type { Context } from '../../context.ts';
import { AppError, systemCode } from '../../errors.ts';
import { ioError } from '../../storage/io-error.ts';
import { absolute, homeOf } from '../../storage/paths.ts';
import { shellWord } from '../../util/shell.ts';
import type { McpClient, Scope } from './clients.ts';

/**
 * The location of a file: a path below the home folder (`home`), the settings folder (`config`: $XDG_CONFIG_HOME or
 * ~/.config) or the platform's folder for application data (`app`).
 */
export interface Location {
  readonly below: 'home' | 'config' | 'app';
  readonly path: string;
  /** Environment variables that replace it: the name, and the path below the variable's value. */
  readonly envOverrides?: readonly (readonly [variable: string, path: string])[];
}

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
  const onWindows = context.platform === 'win32' && client.windows !== undefined;
  const locations = onWindows ? [client.windows] : (client.user ?? []);
  return { file: firstExisting(locations.map((location) => resolveLocation(location, context))) };
}

/** Returns the path of a location on this machine. @throws {AppError} `bad_config` when the home folder is unknown */
export function resolveLocation({ below, path: name, envOverrides }: Location, context: PathContext): string {
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

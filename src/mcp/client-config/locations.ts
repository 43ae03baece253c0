import { existsSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { absolute, homeOf } from '../../storage/paths.ts';
import type { FilePlace, McpClient, Scope } from './clients.ts';

type Surroundings = Pick<Context, 'env' | 'platform' | 'homedir' | 'cwd'>;

/**
 * Path of the client's file.
 * @throws {AppError} `usage` where the client has no such file; `bad_config` where no home folder is known
 */
export function fileOf(client: McpClient, scope: Scope, context: Surroundings): string {
  const { name, user, windows, project } = client;
  const onWindows = context.platform === 'win32';
  const path = onWindows ? win32 : posix;
  if (scope === 'project') {
    if (project === undefined) throw noFile(name, scope, 'user');
    return path.join(context.cwd(), project);
  }
  const places = onWindows && windows !== undefined ? [windows] : (user ?? []);
  const files = places.map((place) => placeToPath(place, context, path));
  const file = files.find((each) => existsSync(each)) ?? files[0];
  if (file === undefined) throw noFile(name, scope, 'project');
  return file;
}

/** Path of a place on this machine. @throws {AppError} `bad_config` where no home folder is known */
export function placeToPath(place: FilePlace, context: Surroundings, path: typeof posix): string {
  const { env, platform } = context;
  const { below, moved } = place;
  const folder = moved === undefined ? undefined : absolute(path, env[moved.by]);
  if (moved !== undefined && folder !== undefined) return path.join(folder, moved.path);
  const home = homeOf(context, path);
  const config = absolute(path, env.XDG_CONFIG_HOME) ?? (home && path.join(home, '.config'));
  const app =
    platform === 'win32'
      ? (absolute(path, env.APPDATA) ?? (home && path.join(home, 'AppData', 'Roaming')))
      : platform === 'darwin'
        ? home && path.join(home, 'Library', 'Application Support')
        : config;
  const base = { home, config, app }[below];
  if (base !== undefined) return path.join(base, place.path);
  throw new AppError('bad_config', 'no home folder is known, so neither is the place of the file', {
    hint: 'set HOME=<folder>, and run the same command again',
  });
}

const noFile = (name: string, scope: Scope, other: Scope): AppError =>
  new AppError('usage', `${name} has no ${scope} file for MCP servers`, {
    hint: `restaurant mcp config ${name} --scope ${other}`,
  });

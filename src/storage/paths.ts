import { join, posix, win32 } from 'node:path';
import type { Context } from '../context.ts';
import { attempt } from '../errors.ts';

/** Files and folders of this program; undefined if the home folder is unknown, and nothing is stored. */
export interface Paths {
  readonly configFile: string | undefined;
  readonly stateDir: string | undefined;
  readonly cacheDir: string | undefined;
  /** Saved restaurants. */
  readonly dataDir: string | undefined;
}

type Path = typeof posix;

export const pathOf = (platform: NodeJS.Platform): Path => (platform === 'win32' ? win32 : posix);

/** A variable of this program may be relative, or begin with `~`, which no shell has replaced in quotes or an env file. */
function resolveOwn(
  value: string,
  path: Path,
  home: string | undefined,
  { cwd }: Pick<Context, 'cwd'>,
): string | undefined {
  const [, rest] = /^~(?:[\\/]+(.*))?$/s.exec(value) ?? [undefined, value];
  if (rest !== value) return home === undefined ? undefined : path.join(home, rest ?? '');
  if (path.isAbsolute(value)) return path.normalize(value);
  const folder = attempt(cwd);
  return folder === undefined ? undefined : path.resolve(folder, value);
}

/** A path that is not absolute counts as unset (XDG Base Directory Specification). */
export function absolute(path: Path, value: string | undefined): string | undefined {
  return value !== undefined && path.isAbsolute(value) ? path.normalize(value) : undefined;
}

export function homeOf({ env, homedir }: Pick<Context, 'env' | 'homedir'>, path: Path): string | undefined {
  const fromEnv = absolute(path, env.HOME);
  if (fromEnv !== undefined) return fromEnv;
  try {
    return absolute(path, homedir());
  } catch {
    return undefined;
  }
}

export function resolvePaths(context: Pick<Context, 'env' | 'platform' | 'homedir' | 'cwd'>): Paths {
  const { env } = context;
  const path = pathOf(context.platform);
  const home = homeOf(context, path);

  const under = (base: string | undefined, ...parts: string[]) =>
    base === undefined ? undefined : path.join(base, ...parts);
  const roaming = absolute(path, env.APPDATA) ?? under(home, 'AppData', 'Roaming');
  const local = absolute(path, env.LOCALAPPDATA) ?? under(home, 'AppData', 'Local');
  const folder = (
    name: 'CONFIG' | 'STATE' | 'CACHE' | 'DATA',
    onWindows: string | undefined,
    ...onUnix: string[]
  ) => {
    const own = env[`RESTAURANT_${name}_DIR`];
    if (own) return resolveOwn(own, path, home, context);
    const base = absolute(path, env[`XDG_${name}_HOME`]);
    if (base !== undefined) return path.join(base, 'restaurant');
    return path === win32 ? onWindows : under(home, ...onUnix, 'restaurant');
  };
  return {
    configFile: under(folder('CONFIG', under(roaming, 'restaurant'), '.config'), 'config.json'),
    stateDir: folder('STATE', under(local, 'restaurant', 'state'), '.local', 'state'),
    cacheDir: folder('CACHE', under(local, 'restaurant', 'cache'), '.cache'),
    dataDir: folder('DATA', under(local, 'restaurant', 'data'), '.local', 'share'),
  };
}

/** Contains `<version of Node>-<processor>/<command>/<chunk>.bin`. */
export const codeFolder = (cacheDir: string): string => join(cacheDir, 'code');

import { join, posix, win32 } from 'node:path';
import type { Context } from '../context.ts';

/** Folders of this program. A part is undefined where no home is known: nothing is kept then. */
export interface Paths {
  readonly configDir: string | undefined;
  readonly stateDir: string | undefined;
  readonly cacheDir: string | undefined;
}

type Path = typeof posix;

/** The variable's value where it is an absolute path; an empty or a relative one counts as unset (XDG Base Directory). */
export function absolute(path: Path, value: string | undefined): string | undefined {
  return value !== undefined && path.isAbsolute(value) ? path.normalize(value) : undefined;
}

/** The home folder: `HOME` where that is an absolute path, else as the system's user database has it. */
export function homeOf({ env, homedir }: Pick<Context, 'env' | 'homedir'>, path: Path): string | undefined {
  const fromEnv = absolute(path, env.HOME);
  if (fromEnv !== undefined) return fromEnv;
  try {
    return absolute(path, homedir());
  } catch {
    return undefined;
  }
}

/**
 * Where config, state and cache live: `RESTAURANT_*_DIR`, else `XDG_*_HOME`, else the platform's default.
 * Creates nothing and never falls back to the current folder.
 */
export function resolvePaths(context: Pick<Context, 'env' | 'platform' | 'homedir'>): Paths {
  const { env } = context;
  const windows = context.platform === 'win32';
  const path: Path = windows ? win32 : posix;
  const home = homeOf(context, path);

  function folder(own: string, xdg: string, fallback: string | undefined): string | undefined {
    const override = absolute(path, env[own]);
    if (override !== undefined) return override;
    const base = absolute(path, env[xdg]);
    return base === undefined ? fallback : path.join(base, 'restaurant');
  }

  function under(base: string | undefined, ...parts: string[]): string | undefined {
    return base === undefined ? undefined : path.join(base, ...parts);
  }

  const roaming = windows ? (absolute(path, env.APPDATA) ?? under(home, 'AppData', 'Roaming')) : undefined;
  const local = windows ? (absolute(path, env.LOCALAPPDATA) ?? under(home, 'AppData', 'Local')) : undefined;
  return {
    configDir: folder(
      'RESTAURANT_CONFIG_DIR',
      'XDG_CONFIG_HOME',
      windows ? under(roaming, 'restaurant') : under(home, '.config', 'restaurant'),
    ),
    stateDir: folder(
      'RESTAURANT_STATE_DIR',
      'XDG_STATE_HOME',
      windows ? under(local, 'restaurant', 'state') : under(home, '.local', 'state', 'restaurant'),
    ),
    cacheDir: folder(
      'RESTAURANT_CACHE_DIR',
      'XDG_CACHE_HOME',
      windows ? under(local, 'restaurant', 'cache') : under(home, '.cache', 'restaurant'),
    ),
  };
}

/** Returns the folder in which Node keeps compiled code of this program. */
export const codeFolder = (cacheDir: string): string => join(cacheDir, 'code');

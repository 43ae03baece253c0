import { readFileSync, realpathSync, statSync } from 'node:fs';
import { posix, win32 } from 'node:path';
import type { Context } from '../context.ts';
import { attempt } from '../errors.ts';
import { pathOf } from '../storage/paths.ts';
import { traitsOf } from '../util/platform.ts';

type System = Pick<Context, 'env' | 'platform'>;

const isFileAt = (path: string): boolean => attempt(() => statSync(path).isFile()) === true;

/** Finds a program in the absolute folders of PATH. */
function findProgram(name: string, { env, platform }: System): string | undefined {
  const { delimiter, join, isAbsolute, extname } = pathOf(platform);
  const suffixes = traitsOf(platform).commandSuffixes;
  const names = [...(extname(name) === '' ? [] : [name]), ...suffixes.map((suffix) => name + suffix)];
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.flatMap((folder) => names.map((each) => join(folder, each))).find(isFileAt);
}

/** Windows looks for a program without a path in the current folder first, which may be a cloned repository. */
export function programPath(name: string, system: System): string | undefined {
  const isSearched = traitsOf(system.platform).shell === 'windows' && !/[\\/:]/.test(name);
  return isSearched ? findProgram(name, system) : name;
}

const COMMAND = 'restaurant';
const PACKAGE = 'restaurant-data-cli';

export type InstalledCommand =
  | { readonly state: 'missing' }
  | { readonly state: 'ours' | 'other' | 'unknown'; readonly path: string };

export function findInstalled(system: System): InstalledCommand {
  const path = findProgram(COMMAND, system);
  if (path === undefined) return { state: 'missing' };
  return { state: packageState(path), path };
}

function packageState(path: string): 'ours' | 'other' | 'unknown' {
  const real = realpathSync(path);
  let folder = posix.dirname(real);
  if (/\.cmd$/i.test(real)) {
    // npm's launcher contains the path of the script, relative to its own folder.
    const paths = [...readFileSync(real, 'utf8').matchAll(/%dp0%\\([^"%]+)"/g)].map(([, path = '']) => path);
    const script = paths.find((path) => path.includes('node_modules\\'));
    if (script === undefined) return 'unknown';
    folder = win32.dirname(win32.join(win32.dirname(real), script));
  }
  const { dirname, join } = /\.(cmd|exe)$/i.test(real) ? win32 : posix;
  for (; ; folder = dirname(folder)) {
    try {
      const { name, bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      if (name === PACKAGE) return 'ours';
      return name === COMMAND || Object.hasOwn(Object(bin), COMMAND) ? 'other' : 'unknown';
    } catch {
      if (dirname(folder) === folder) return 'unknown';
    }
  }
}

import { existsSync } from 'node:fs';
import type { Context } from '../context.ts';
import { pathOf } from '../storage/paths.ts';
import { traitsOf } from '../util/platform.ts';

type System = Pick<Context, 'env' | 'platform'>;

/** Finds a program in the absolute folders of PATH. */
export function findProgram(name: string, { env, platform }: System): string | undefined {
  const { delimiter, join, isAbsolute, extname } = pathOf(platform);
  const suffixes = traitsOf(platform).commandSuffixes;
  const names = [...(extname(name) === '' ? [] : [name]), ...suffixes.map((suffix) => name + suffix)];
  const folders = (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.flatMap((folder) => names.map((each) => join(folder, each))).find(existsSync);
}

/** Windows looks for a program without a path in the current folder first, which may be a cloned repository. */
export function programPath(name: string, system: System): string | undefined {
  const isSearched = traitsOf(system.platform).shell === 'windows' && !/[\\/:]/.test(name);
  return isSearched ? findProgram(name, system) : name;
}

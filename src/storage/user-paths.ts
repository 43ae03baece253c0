// The one rule for files that the user names. Their paths may lead through a cloned repository or an unpacked archive, whose
// author must not choose what is read or written. The current folder plays no part.

import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, parse, relative, sep, win32 } from 'node:path';
import type { Context } from '../context.ts';
import { attempt, failure, usage } from '../errors.ts';
import { again, type Command, slot, type Word } from '../hint.ts';
import { traitsOf } from '../util/platform.ts';
import { homeOf, pathOf } from './paths.ts';
import { foreignOwner, refuseForeignLink, walkPath } from './trust.ts';

export type UserPathContext = Pick<Context, 'env' | 'homedir' | 'platform'>;
type EntryKind = 'nothing' | 'file' | 'folder' | 'device';

/** A path without links. A pipe of the shell (`/dev/fd/63`) has no other path. */
export interface UserPath {
  readonly path: string;
  readonly isShellPipe: boolean;
  readonly entry: EntryKind;
}

interface OutputPathOptions {
  readonly typed?: string;
  /** Follows every link. */
  readonly force: boolean;
  readonly command?: (file: Word) => Command;
}

const OUTPUT = (file: Word): Command => again({ '--output': file });

/**
 * @param path absolute
 * @throws {AppError} `usage` for a name that Windows reserves, or, unless forced, if the path is a link or one leads away;
 * `io_error` for a link of another user
 */
export function resolveOutput(
  path: string,
  context: UserPathContext,
  { typed = path, force, command = OUTPUT }: OutputPathOptions,
): UserPath {
  const refusal = (reason: string, ...more: readonly { readonly text: string }[]) =>
    usage(`refusing to write ${typed}: ${reason}`, [
      { text: 'write to another file', command: command(slot('file')) },
      ...more,
    ]);
  const reserved = traitsOf(context.platform).hasDeviceNames ? windowsProblem(path) : undefined;
  if (reserved !== undefined) throw refusal(reserved);
  const folder = followLinks(dirname(path), context, true);
  const last = join(folder.end, basename(path));
  const file = followLinks(last, context, true);
  const isOwnLink = isLink(last) && !isDeviceFolder(folder.end);
  const problem = folder.problem ?? (isOwnLink ? `it is a symbolic link to ${file.end}` : undefined);
  if (problem !== undefined && !force)
    throw refusal(problem, { text: 'or, if you trust the link, add --force' });
  return describe(last, file.end);
}

/** @param path absolute. @param typed as in the command line. @throws {AppError} `bad_input` if a link leads away */
export function resolveInput(path: string, context: UserPathContext, typed = path): UserPath {
  const { end, problem } = followLinks(path, context, false);
  if (problem === undefined) return describe(path, end);
  throw failure('bad_input', `refusing to read ${typed}: ${problem}`, {
    text: 'if you trust the link',
    command: again({}, { renamed: { from: typed, to: end } }),
  });
}

/** A link without a target counts as a file, because writing would create it. */
function describe(path: string, end: string): UserPath {
  const stats = statSync(path, { throwIfNoEntry: false });
  const entry = stats === undefined && isLink(path) ? 'file' : entryOf(stats);
  const isShellPipe = entry === 'device' && !existsSync(end);
  return { path: isShellPipe ? path : end, isShellPipe, entry };
}

function entryOf(stats: ReturnType<typeof statSync>): EntryKind {
  if (stats === undefined) return 'nothing';
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'folder' : 'device';
}

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

/** @returns the path without links; and the first link that leads out of the folder that holds it, or its work tree */
function followLinks(path: string, context: UserPathContext, isOutput: boolean) {
  let problem: string | undefined;
  const end = walkPath(path, (part, stats) => {
    if (!stats.isSymbolicLink()) return;
    if (isOutput) refuseForeignLink(path, part, stats);
    problem ??= problemOf(part, context);
  });
  return { end, problem };
}

function problemOf(link: string, context: UserPathContext): string | undefined {
  const holder = dirname(link);
  const home = homeOf(context, pathOf(context.platform));
  if (isSystemFolder(holder) || isFolderOfHome(holder, home)) return undefined;
  const end = walkPath(link, () => {});
  const tree = workTreeOf(holder, home && realPath(home)) ?? holder;
  const isKept = isInside(tree, end) && !relative(tree, end).toLowerCase().split(sep).includes(GIT);
  return isKept ? undefined : `the link ${link} leads out of ${tree}, to ${end}`;
}

/** Not /dev/shm, where every user can create files. */
const isDeviceFolder = (folder: string): boolean => /^\/(?:dev$|proc\/|proc$)/.test(folder);

const isSystemFolder = (folder: string): boolean =>
  folder === parse(folder).root || folder === '/var' || isDeviceFolder(folder);

/** Holds keys and hooks, and is not a part of the work tree. */
const GIT = '.git';

/** The home folder, and the one that holds it, whether it is a link itself or not. */
function isFolderOfHome(folder: string, home: string | undefined): boolean {
  if (home === undefined) return false;
  const real = realPath(home);
  return [real, dirname(real), realPath(dirname(home))].includes(folder);
}

const realPath = (path: string): string => attempt(() => realpathSync(path)) ?? path;

/** Not one of another user, nor one that contains the home folder, as with dotfiles in git. */
function workTreeOf(folder: string, home: string | undefined): string | undefined {
  const parent = dirname(folder);
  if (folder === parent || (home !== undefined && isInside(folder, home))) return undefined;
  const stats = attempt(() => lstatSync(join(folder, GIT)));
  const isTree = stats !== undefined && foreignOwner(stats) === undefined;
  return isTree ? folder : workTreeOf(parent, home);
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

const DEVICE_NAME = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])$/i;

/** Windows opens a device for such a name, whatever its folder and extension, and a hidden stream after a colon. */
export function windowsProblem(path: string): string | undefined {
  const [stem = ''] = win32.basename(path).split(/[.:]/, 1);
  if (DEVICE_NAME.test(stem.trimEnd())) return 'Windows reserves this name for a device';
  const hasColon = path.slice(win32.parse(path).root.length).includes(':');
  return hasColon ? 'a colon in a file name selects a hidden stream on Windows' : undefined;
}

import { existsSync, lstatSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, parse, resolve, sep } from 'node:path';
import { AppError } from '../errors.ts';

const MAX_LINKS = 40;
const STICKY = 0o1000;
const OTHERS = 0o077;
const READABLE = 0o044;
const WRITABLE_BY_GROUP = 0o020;
const WRITABLE_BY_ANYBODY = 0o002;

/** The user id of this process; undefined on Windows, where files have no owner and Node makes up their modes. */
export const currentUid = (): number | undefined => process.geteuid?.();

/** Such as "it belongs to user 1001"; undefined for this user and root. */
export function foreignOwner({ uid }: Stats, what = 'it'): string | undefined {
  const me = currentUid();
  return me === undefined || uid === me || uid === 0 ? undefined : `${what} belongs to user ${uid}`;
}

export function sharing({ mode }: Stats): { readonly isWritable: boolean; readonly isReadable: boolean } {
  const hasModes = currentUid() !== undefined;
  const others = WRITABLE_BY_GROUP | WRITABLE_BY_ANYBODY;
  return {
    isWritable: hasModes && (mode & others) !== 0,
    isReadable: hasModes && (mode & READABLE) !== 0,
  };
}

export const isShared = ({ mode }: { readonly mode: number | bigint }): boolean =>
  currentUid() !== undefined && (Number(mode) & OTHERS) !== 0;

/** The private group of the owner has the owner's number (umask 002). */
function isOpenFolder(stats: Stats, allowsGroup: boolean): boolean {
  const isOfGroup = (stats.mode & WRITABLE_BY_GROUP) !== 0 && !(allowsGroup && stats.gid === stats.uid);
  return stats.isDirectory() && (isOfGroup || (stats.mode & WRITABLE_BY_ANYBODY) !== 0);
}

function homeFolder(): string | undefined {
  try {
    const home = homedir();
    return isAbsolute(home) && existsSync(home) ? resolve(home) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Visits each folder of a path, and each symbolic link before its target. Starts at a folder that contains the path, if given.
 * @returns the path without links. @throws the system's error; `ELOOP`
 */
export function walkPath(path: string, visit: (part: string, stats: Stats) => void, from?: string): string {
  const absolute = resolve(path);
  const start = from !== undefined && `${absolute}${sep}`.startsWith(`${from}${sep}`) ? from : undefined;
  if (start !== undefined) visit(start, statSync(start));
  let folder = start ?? parse(absolute).root;
  const rest = absolute.slice(folder.length).split(sep);
  for (let links = 0; rest.length > 0; ) {
    const next = inFolder(folder, rest.shift() ?? '');
    if (next === folder) continue;
    const stats = lstatSync(next, { throwIfNoEntry: false });
    if (stats === undefined) return join(next, ...rest);
    visit(next, stats);
    if (!stats.isSymbolicLink()) {
      folder = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
    const { root, parts } = targetOf(next);
    folder = root ?? folder;
    rest.unshift(...parts);
  }
  return folder;
}

/** Like `join`, which reads the folder again for each part: so often in a run that V8 optimizes it, which takes 2 ms or more. */
function inFolder(folder: string, part: string): string {
  if (part === '' || part.startsWith('.') || part.includes('/')) return join(folder, part);
  return folder.endsWith(sep) ? `${folder}${part}` : `${folder}${sep}${part}`;
}

/** @returns no root for a relative target */
function targetOf(link: string): { readonly root: string | undefined; readonly parts: string[] } {
  const target = readlinkSync(link);
  const root = isAbsolute(target) ? parse(target).root : undefined;
  return { root, parts: target.slice(root?.length ?? 0).split(sep) };
}

const refusal = (path: string, reason: string): AppError =>
  new AppError('io_error', `refusing to use ${path}: ${reason}`);

/**
 * Checks that nobody but this user and root can change what a path leads to. Unless `strict`, the folders that contain the
 * home folder are trusted, and the owner's private group.
 * @returns the path without links. @throws {AppError} `io_error`; otherwise the system's error
 */
export function assertOwnPath(path: string, strict = false): string {
  const absolute = resolve(path);
  const whole = inspectFrom(undefined, absolute, strict);
  // Loads node:os, which most runs do not need.
  const home = whole.problem === undefined || strict ? undefined : homeFolder();
  const { end, problem } = home === undefined ? whole : inspectFrom(home, absolute, strict);
  if (problem !== undefined) throw refusal(path, problem);
  return end;
}

/** @throws {AppError} `io_error` */
export function refuseForeignLink(path: string, part: string, stats: Stats): void {
  const owner = stats.isSymbolicLink() ? foreignOwner(stats, `the symbolic link ${part}`) : undefined;
  if (owner !== undefined) throw refusal(path, owner);
}

function inspectFrom(home: string | undefined, path: string, strict: boolean) {
  const problems: string[] = [];
  // The folder of the next part, if others can create files in it (/tmp).
  let open: string | undefined;
  const visit = (part: string, stats: Stats) => {
    const link = stats.isSymbolicLink() ? 'the symbolic link ' : '';
    const owner = foreignOwner(stats, part === path ? 'it' : `${link}${part}`);
    if (owner !== undefined) problems.push(owner);
    const isOpen = isOpenFolder(stats, !strict);
    if ((isOpen && (stats.mode & STICKY) === 0) || (open !== undefined && link !== '')) {
      problems.push(`other users can write to ${open ?? part}`);
    }
    open = isOpen ? part : undefined;
  };
  const end = walkPath(path, visit, home);
  if (open !== undefined && (strict || open === end)) problems.push(`other users can write to ${open}`);
  return { end, problem: currentUid() === undefined ? undefined : problems[0] };
}

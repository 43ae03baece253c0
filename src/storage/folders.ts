import { existsSync, lstatSync, mkdirSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname, isAbsolute, join, parse, resolve, sep } from 'node:path';

const MAX_LINKS = 40;
const STICKY = 0o1000;
const WRITABLE_BY_OTHERS = 0o022;

/** Returns the user id of this process; undefined on Windows, where files have no owner id. */
export function currentUid(): number | undefined {
  return process.geteuid?.();
}

/** Returns whether a file owner is trusted: this user or root. */
export function isTrusted(uid: number): boolean {
  const me = currentUid();
  return me === undefined || uid === me || uid === 0;
}

/**
 * Visits the existing parts of a path, starting at the root: each folder, and each symbolic link before its target.
 * @returns the path without links. @throws the system's error; an error with the code `ELOOP` for too many links
 */
export function walkPath(path: string, visit: (part: string, stats: Stats) => void): string {
  const absolute = resolve(path);
  let folder = parse(absolute).root;
  const rest = absolute.slice(folder.length).split(sep);
  for (let links = 0; rest.length > 0; ) {
    const next = join(folder, rest.shift() ?? '');
    const stats = lstatSync(next, { throwIfNoEntry: false });
    if (stats === undefined) return join(next, ...rest);
    visit(next, stats);
    if (!stats.isSymbolicLink()) {
      folder = next;
      continue;
    }
    links += 1;
    if (links > MAX_LINKS) throw Object.assign(new Error('too many symbolic links'), { code: 'ELOOP' });
    const target = readlinkSync(next);
    if (isAbsolute(target)) folder = parse(target).root;
    rest.unshift(...target.slice(isAbsolute(target) ? folder.length : 0).split(sep));
  }
  return folder;
}

/**
 * Returns whether only this user and root can create or replace anything in the path of a folder, so that nobody else
 * can place code there. A folder that others can write to is accepted only if it is sticky (/tmp) and already contains a
 * folder of this user.
 */
export function isSafePath(path: string): boolean {
  const me = currentUid();
  if (me === undefined) return true;
  let isSafe = true;
  let mustBeOurs = false;
  walkPath(path, (_part, stats) => {
    const isOpen = stats.isDirectory() && (stats.mode & WRITABLE_BY_OTHERS) !== 0;
    isSafe &&= isTrusted(stats.uid) && !(mustBeOurs && stats.uid !== me);
    isSafe &&= !isOpen || (stats.mode & STICKY) !== 0;
    mustBeOurs = isOpen;
  });
  return isSafe && !mustBeOurs;
}

/**
 * Creates a folder and its parents. Does not use the option `recursive` of mkdir, which never returns if a file system
 * reports ENOENT below an existing folder (/proc). Another process may create the same folders at the same time.
 */
export function createFolders(path: string, mode = 0o700): void {
  const exists = () => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (exists()) return;
  if (!existsSync(dirname(path))) createFolders(dirname(path), mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (!exists()) throw error;
  }
}

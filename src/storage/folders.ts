import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { AppError } from '../errors.ts';
import { foreignOwner, inspect, walkPath } from './trust.ts';

const refusal = (path: string, reason: string): AppError =>
  new AppError('io_error', `refusing to use ${path}: ${reason}`);

/** @returns the path without links. @throws {AppError} `io_error` if another user can change what it leads to */
export function assertOwnPath(path: string): string {
  const { end, problem } = inspect(resolve(path), false);
  if (problem !== undefined) throw refusal(path, problem);
  return end;
}

/** Resolves symbolic links. @throws {AppError} `io_error` for a link of another user, unless `anyOwner`; `ELOOP` */
export function followLinks(
  path: string,
  {
    onLink,
    anyOwner = false,
  }: { readonly onLink?: (link: string) => void; readonly anyOwner?: boolean } = {},
): string {
  return walkPath(path, (part, stats) => {
    if (!stats.isSymbolicLink()) return;
    const owner = anyOwner ? undefined : foreignOwner(stats, `the symbolic link ${part}`);
    if (owner !== undefined) throw refusal(path, owner);
    onLink?.(part);
  });
}

/** Not with the option `recursive`, which never returns if a file system reports ENOENT below an existing folder. */
export function createFolders(path: string, mode = 0o700): void {
  if (isFolder(path)) return;
  followLinks(path);
  if (!existsSync(dirname(path))) createFolders(dirname(path), mode);
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

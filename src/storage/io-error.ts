import { type Stats, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { AppError, systemCode } from '../errors.ts';
import { shellWord } from '../util/shell.ts';

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than the system allows',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'the file system is read-only',
  ENOENT: 'no such file or folder',
  ENOTDIR: 'a part of the path is not a folder',
  EISDIR: 'it is a folder',
  ENOTPLAIN: 'it is no plain file',
  ENXIO: 'it is no plain file',
  ETOOLARGE: 'it is far too large',
  EEXIST: 'it exists already and is not a folder',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files on this machine',
  EIO: 'the device failed',
  EBUSY: 'it is in use',
  ETXTBSY: 'it is in use',
};

function nearestStats(path: string): { path: string; stats: Stats } | undefined {
  for (let current = path; ; current = dirname(current)) {
    try {
      return { path: current, stats: statSync(current) };
    } catch {
      if (dirname(current) === current) return undefined;
    }
  }
}

/** After one run under sudo the files belong to root: then the remedy is a chown. */
function ownershipHint(path: string): string | undefined {
  const nearest = nearestStats(path);
  if (nearest === undefined) return undefined;
  const me = currentUser();
  if (me === undefined || me.uid < 0 || nearest.stats.uid === me.uid) return undefined;
  return `${nearest.path} belongs to ${ownerName(nearest.stats.uid)}: sudo chown -R ${me.uid} ${shellWord(nearest.path)}`;
}

/** How the owner of a file is called in messages. */
export const ownerName = (uid: number): string => (uid === 0 ? 'root' : `user ${uid}`);

/** The user this process runs as (`uid` is -1 on Windows), or undefined where the system cannot tell. */
export function currentUser(): { uid: number } | undefined {
  try {
    return { uid: userInfo().uid };
  } catch {
    return undefined;
  }
}

/** Why a file operation failed, in words; the system's own code where we have none. */
export function ioReason(error: unknown): string {
  const code = systemCode(error);
  return code === undefined ? 'the file system failed' : (REASONS[code] ?? code);
}

/**
 * An `io_error` that says what was tried, on which path, and why it failed.
 * @param act what was tried, as in "cannot <act> <path>".
 */
export function ioError(act: string, path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const code = systemCode(error);
  const hint = code === 'EACCES' || code === 'EPERM' ? ownershipHint(path) : undefined;
  return new AppError('io_error', `cannot ${act} ${path}: ${ioReason(error)}`, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}

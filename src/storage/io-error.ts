import { AppError, systemCode } from '../errors.ts';
import type { Hint } from '../hint.ts';

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
  ENOTREGULAR: 'it is not a regular file',
  ENXIO: 'it is not a regular file',
  ESYMLINK: 'it is a symbolic link',
  ETOOLARGE: 'the file is too large',
  ETRUNCATED: 'it was truncated while it was read',
  EEXIST: 'it exists already and is not a folder',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'too many symbolic links',
  EMFILE: 'too many open files',
  ENFILE: 'too many open files on this machine',
  EIO: 'the device failed',
  EBUSY: 'it is in use',
  ETXTBSY: 'it is in use',
};

/** Advice after a message about the state folder. */
export const OTHER_STATE_FOLDER = 'RESTAURANT_STATE_DIR=<folder> sets another folder';

export function ioReason(error: unknown): string {
  if (error instanceof AppError) return error.message;
  const code = systemCode(error);
  return code === undefined ? 'the file system failed' : (REASONS[code] ?? code);
}

export function ioError(action: string, path: string, error: unknown, hint?: Hint): AppError {
  if (error instanceof AppError) {
    return hint === undefined || error.details.hint !== undefined ? error : error.withHint(hint);
  }
  return new AppError('io_error', `cannot ${action} ${path}: ${ioReason(error)}`, { cause: error, hint });
}

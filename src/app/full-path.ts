import { isAbsolute, resolve } from 'node:path';
import type { Context } from '../context.ts';
import { AppError, systemCode } from '../errors.ts';

/**
 * The path as it is from the root. The current folder is asked for only where it matters, since it may be gone.
 * @throws {AppError} `io_error` where the path is relative to a folder that was deleted
 */
export function fullPath({ cwd }: Pick<Context, 'cwd'>, path: string): string {
  if (isAbsolute(path)) return resolve(path);
  try {
    return resolve(cwd(), path);
  } catch (cause) {
    const why = systemCode(cause) === 'ENOENT' ? 'was deleted' : 'cannot be read';
    throw new AppError('io_error', `the current folder, which ${path} would be in, ${why}`, {
      cause,
      hint: 'cd ~, or give the whole path of the file',
    });
  }
}

import { AppError } from '../../errors.ts';

/** The error for a client's file that cannot be edited. It is left as it is. */
export function damaged(path: string, why: string): AppError {
  return new AppError('bad_config', `${path} cannot be edited and was left alone: ${why}`, {
    hint: 'correct it and try again, or add by hand what restaurant mcp config <client> prints without --write',
  });
}

import { isObject } from './rpc.ts';

const STEPS = ['searching', 'writing'];

/**
 * The `notifications/progress` that a caller asked for with `params._meta.progressToken`, as JSON. None where there is
 * no token, or one that is neither a string nor an integer.
 */
export function progressMessages(params: unknown): string[] {
  const meta = isObject(params) ? params._meta : undefined;
  const progressToken = isObject(meta) ? meta.progressToken : undefined;
  if (typeof progressToken !== 'string' && !Number.isSafeInteger(progressToken)) return [];
  return STEPS.map((message, index) =>
    JSON.stringify({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { progressToken, progress: index + 1, total: STEPS.length, message },
    }),
  );
}

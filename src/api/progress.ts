import { isObject, type JsonObject } from './rpc.ts';
import type { RpcRequest } from './types.ts';

/** How far a tool has come (`notifications/progress`). */
export interface Progress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** The parameters of a request that wants to hear of its progress, under its id. */
export function withProgress(
  params: RpcRequest['params'],
  id: number,
  listener: unknown,
): RpcRequest['params'] {
  if (listener === undefined || Array.isArray(params)) return params;
  const meta = isObject(params?._meta) ? params._meta : {};
  return { ...params, _meta: { ...meta, progressToken: id } };
}

/** The progress that a notification tells, or undefined for another message. */
export function progressIn({ method, params }: JsonObject): Progress | undefined {
  if (method !== 'notifications/progress' || !isObject(params)) return undefined;
  const { progress, total, message } = params;
  if (typeof progress !== 'number') return undefined;
  return {
    progress,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}

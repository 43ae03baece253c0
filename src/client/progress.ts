import { isObject, type JsonObject } from './rpc.ts';
import type { RpcRequest } from './types.ts';

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

/** `params` of a message that tells how far a tool has come (`notifications/progress`), or undefined. */
export function progressIn({ method, params }: JsonObject): JsonObject | undefined {
  return method === 'notifications/progress' && isObject(params) ? params : undefined;
}

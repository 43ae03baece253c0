import { isObject, type JsonObject } from '../../client/rpc.ts';
import { INVALID_PARAMS, ProtocolError } from './message.ts';

/** `params` of `tools/call`, read. */
export interface ToolCall {
  readonly name: string;
  readonly args: JsonObject;
  /** Under which name the host wants to hear of progress. */
  readonly progressToken?: string | number;
}

/** Reads `params` of `tools/call`. @throws {ProtocolError} -32602 */
export function readToolCall(params: JsonObject): ToolCall {
  const { name, arguments: args = {}, _meta: meta } = params;
  if (typeof name !== 'string' || name === '') throw invalid('name is no string');
  if (!isObject(args)) throw invalid('arguments is no object');
  const token = isObject(meta) ? meta.progressToken : undefined;
  const wanted = typeof token === 'string' || typeof token === 'number';
  return { name, args, ...(wanted ? { progressToken: token } : {}) };
}

/** Checks `params` of `tools/list`: the list is one page, so no cursor is ever ours. @throws {ProtocolError} -32602 */
export function readListParams({ cursor }: JsonObject): void {
  if (cursor !== undefined && cursor !== null) throw invalid('cursor is unknown');
}

const invalid = (why: string): ProtocolError => new ProtocolError(INVALID_PARAMS, `Invalid params: ${why}`);

import { isObject, withMeta } from '../rpc/envelope.ts';
import type { RpcRequest } from '../types.ts';

/** Trace of a caller (W3C Trace Context and Baggage). */
export interface TraceContext {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
  readonly baggage?: string | undefined;
}

const NAMES = ['traceparent', 'tracestate', 'baggage'] as const;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
const MAX_LENGTH = 8192;

/** Adds a trace to the `_meta` of parameters (MCP SEP-414). What the parameters have already counts. */
export function traceMeta(
  context: TraceContext = {},
  params: RpcRequest['params'],
): { params: RpcRequest['params']; context: TraceContext } {
  const given = isObject(params) && isObject(params._meta) ? params._meta : {};
  const own = NAMES.some((name) => given[name] !== undefined);
  const trace = valid(own ? given : { ...context });
  return { params: own ? params : withMeta(params, { ...trace }), context: trace };
}

/** Returns a trace as headers. */
export function traceHeaders(context: TraceContext): Record<string, string> {
  return { ...context } as Record<string, string>;
}

/** Leaves out what is not valid, as the specification demands. */
function valid(context: Record<string, unknown>): TraceContext {
  const { traceparent, tracestate, baggage } = context;
  const isText = (value: unknown): value is string =>
    typeof value === 'string' && /^[\x20-\x7e]+$/.test(value) && value.length <= MAX_LENGTH;
  const hasParent = isText(traceparent) && TRACEPARENT.test(traceparent);
  return {
    ...(hasParent ? { traceparent } : {}),
    ...(hasParent && isText(tracestate) ? { tracestate } : {}),
    ...(isText(baggage) ? { baggage } : {}),
  };
}

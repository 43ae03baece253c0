import { isObject, type JsonObject } from '../util/json.ts';
import type { Access, ReplyForm } from './types.ts';

/** JSON-RPC 2.0 error codes, section 5.1. */
export const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

export const JSON_TYPE = 'application/json';
export const SSE_TYPE = 'text/event-stream';

export type RpcId = number | string;

/** A well-formed body: a request; without `id` a notification, without `method` a response. */
export interface SandboxMessage {
  readonly id: RpcId | undefined;
  readonly method: string | undefined;
  readonly params: unknown;
}

/** The answer to a request, before it is encoded as JSON or as a stream. */
export interface SandboxAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly message?: JsonObject | undefined;
  /** Messages that precede it in a stream. */
  readonly events?: readonly JsonObject[];
}

export type Headers = Readonly<Record<string, string>>;

export interface Post {
  readonly incoming: SandboxMessage;
  readonly access: Access;
  readonly headers: Headers;
}

/** The protocol of the sandbox. Both functions may throw a ReplyError. */
export interface SandboxProtocol {
  readonly methods: readonly string[];
  post(post: Post): SandboxAnswer;
  endSession?(headers: Headers, access: Access): SandboxAnswer;
}

export interface Payload {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export class ReplyError extends Error {
  override readonly name = 'ReplyError';
  readonly status: number;
  readonly code: string | number;
  readonly details: { readonly data?: unknown; readonly headers?: Readonly<Record<string, string>> };

  constructor(status: number, code: string | number, message: string, details: ReplyError['details']) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }

  /** Returns the answer `{"error":{"code","message"}}`; for a numeric code, a JSON-RPC response with this id. */
  answer(id: RpcId | null): SandboxAnswer {
    const { status, code, message, details } = this;
    const { headers = {}, ...data } = details;
    const error = { code, message, ...data };
    return { status, headers, message: typeof code === 'number' ? { jsonrpc: '2.0', id, error } : { error } };
  }
}

export const httpError = (status: number, code: string, message: string, headers = {}): ReplyError =>
  new ReplyError(status, code, message, { headers });

export const rpcError = (code: number, message: string, data?: unknown, status = 200): ReplyError =>
  new ReplyError(status, code, message, data === undefined ? {} : { data });

export const badArgument = (argument: string, problem: string): ReplyError =>
  rpcError(INVALID_PARAMS, `invalid params: ${argument} ${problem}`, { argument, problem });

export const invalidRequest = (message: string): ReplyError =>
  rpcError(INVALID_REQUEST, `invalid request: ${message}`, undefined, 400);

/** Ids are integers or strings (MCP), never null. @throws {ReplyError} -32600 for an invalid message, and for a batch */
export function readMessage(value: unknown): SandboxMessage {
  if (!isObject(value)) throw invalidRequest('the body is not one JSON-RPC object');
  if (value.jsonrpc !== '2.0') throw invalidRequest('jsonrpc is not "2.0"');
  const { id, method, params } = value;
  const isResponse = method === undefined && ('result' in value || 'error' in value);
  if (isResponse) return { id: undefined, method: undefined, params: undefined };
  if (typeof method !== 'string' || method === '') throw invalidRequest('method is not a string');
  if (params !== undefined && (typeof params !== 'object' || params === null)) {
    throw invalidRequest('params is not an object');
  }
  if (id !== undefined && !isId(id)) throw invalidRequest('id is not an integer');
  return { id, method, params };
}

export const resultMessage = (id: RpcId, result: unknown): JsonObject => ({ jsonrpc: '2.0', id, result });

export const idOf = (value: unknown): RpcId | null => (isObject(value) && isId(value.id) ? value.id : null);

const isId = (value: unknown): value is RpcId => typeof value === 'string' || Number.isSafeInteger(value);

/** Encodes an answer. Messages with another status than 200 are not streamed. */
export function encode(answer: SandboxAnswer, form: ReplyForm): Payload {
  const { status, headers = {}, message, events = [] } = answer;
  if (message === undefined) return { status, headers, body: '' };
  if (form === 'json' || status !== 200) {
    return { status, headers: { 'Content-Type': JSON_TYPE, ...headers }, body: JSON.stringify(message) };
  }
  return {
    status,
    headers: { 'Content-Type': SSE_TYPE, 'Cache-Control': 'no-cache', ...headers },
    body: [...events, message].map((each) => formatEvent(JSON.stringify(each))).join(''),
  };
}

/** Formats an event of a stream (WHATWG HTML, section 9.2). JSON has no line breaks, so `data` is one line. */
export const formatEvent = (data: string): string => `event: message\ndata: ${data}\n\n`;

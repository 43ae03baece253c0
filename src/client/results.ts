import type { ErrorDetails } from '../errors.ts';
import { excerpt, kindOf } from '../util/format.ts';
import { isObject, type JsonObject, memberText, parseJsonOrNone, readJson } from '../util/json.ts';
import { MISSING_CAPABILITY } from './rpc/envelope.ts';
import { toolError } from './rpc/errors.ts';
import type { Outcome } from './rpc/outcome.ts';
import { badResponse, ServiceError } from './service-error.ts';
import { mismatch, outputObject } from './tools.ts';
import type { Tool, ToolResult } from './types.ts';

/** @throws {AppError} `bad_response` unless it is an object; the error in the output for `isError` */
export function parseToolResult(result: unknown, tool?: string): ToolResult {
  if (!isObject(result)) throw mismatch('a tool result', result);
  // Some servers send "true" or 1.
  if (result.isError && result.isError !== 'false') {
    const text = textBlocks(result).join('\n');
    throw toolError(parseJsonOrNone(text) ?? result.structuredContent, text, tool);
  }
  if (result.structuredContent === undefined && !Array.isArray(result.content)) throw noContent(result);
  return result as ToolResult;
}

/** The first text block, parsed; without one, `structuredContent`. @throws {AppError} `bad_response` */
function toolOutput(result: unknown): { value: unknown; text?: string } {
  const checked = parseToolResult(result);
  const [text] = textBlocks(checked);
  if (text !== undefined) {
    const { value, fault } = readJson(text);
    if (fault !== undefined) throw badResponse(`the tool's output ${fault}: ${excerpt(text)}`);
    return { value, text: text.replace(/^\uFEFF/, '') };
  }
  if (checked.structuredContent !== undefined) return { value: checked.structuredContent };
  throw noContent(checked);
}

function noContent({ content }: JsonObject): ServiceError {
  const found = Array.isArray(content) ? `an array of ${content.length}` : kindOf(content);
  return badResponse(`the tool returned no content: no text block in ${found}`);
}

export function unwrapText(envelope: JsonObject): string {
  const { result } = envelope;
  const [text] = isObject(result) ? textBlocks(result) : [];
  if (text === undefined) throw badResponse('the response has no text block to unwrap');
  return parseJsonOrNone(text) === undefined ? JSON.stringify(text) : text.replace(/^\uFEFF/, '');
}

export interface OutputOptions {
  /** Gets the JSON text of what the call returns, as received: its numbers keep their digits. */
  readonly onText?: (text: string) => void;
}

/** @param envelope the JSON text that contains the result. @throws {AppError} `bad_response`; a `status` other than `ok` */
export function decodeOutput(result: unknown, envelope = '', { onText }: OutputOptions = {}): JsonObject {
  const { value, text } = toolOutput(result);
  const output = outputObject(value);
  const { status } = output;
  if (typeof status === 'string' && status.toLowerCase() !== 'ok') {
    throw toolError(output, excerpt(JSON.stringify(output)));
  }
  onText?.(
    text ?? memberText(memberText(envelope, 'result') ?? '', 'structuredContent') ?? JSON.stringify(output),
  );
  return output;
}

function textBlocks({ content }: JsonObject): string[] {
  return (Array.isArray(content) ? content : []).flatMap((block: unknown) =>
    isObject(block) && (block.type ?? 'text') === 'text' && typeof block.text === 'string'
      ? [block.text]
      : [],
  );
}

/** @throws {AppError} the error of the response; `bad_response` for a result that cannot be complete */
export function resultOf({ response, failure }: Outcome, isTyped: boolean): unknown {
  if (failure !== undefined) throw failure;
  const { result } = response.envelope;
  assertComplete(result, isTyped);
  return result;
}

/** @param isTyped the protocol has `resultType` (MCP 2026-07-28) */
export function assertComplete(result: unknown, isTyped: boolean): void {
  const type = isObject(result) ? result.resultType : undefined;
  if (type === 'input_required' && isObject(result)) {
    const { inputRequests } = result;
    const requested = questionsIn(isObject(inputRequests) ? inputRequests : {});
    throw new ServiceError('tool_error', { reason: 'input_required', requested });
  }
  if (!isTyped || type === undefined || type === 'complete') return;
  const shown = typeof type === 'string' ? `"${excerpt(type, 60)}"` : kindOf(type);
  throw badResponse(`the result has the unknown type ${shown}`);
}

/** @param requests for input, by name */
function questionsIn(requests: Readonly<JsonObject>): string {
  const questions = Object.entries(requests).map(([key, request]) => {
    const { method, params }: JsonObject = isObject(request) ? request : {};
    const message = isObject(params) && typeof params.message === 'string' ? ` "${params.message}"` : '';
    return `${key}${typeof method === 'string' ? ` (${method})` : ''}${message}`;
  });
  return excerpt(questions.join(', ') || 'nothing specified');
}

/** Returns what else is known about a failed call: it failed because a request for input was declined. */
export function inputFacts(error: ServiceError, declined: JsonObject | undefined): ErrorDetails {
  if (error.details.rpcCode === MISSING_CAPABILITY) return { reason: 'input_required' };
  if (declined === undefined || error.kind !== 'service') return {};
  return { reason: 'input_required', requested: questionsIn({ input: declined }) };
}

interface ToolPage {
  readonly tools: readonly unknown[];
  readonly nextCursor?: unknown;
  readonly caching: Caching;
}

/** How long and for whom a result may be cached (MCP 2026-07-28), if the service says so. */
export interface Caching {
  /** Milliseconds. */
  readonly ttlMs?: number;
  readonly cacheScope?: 'public' | 'private';
}

function cachingOf({ ttlMs, cacheScope }: JsonObject): Caching {
  const isLifetime = typeof ttlMs === 'number' && ttlMs >= 0;
  const isScope = cacheScope === 'public' || cacheScope === 'private';
  return { ...(isLifetime && { ttlMs }), ...(isScope && { cacheScope }) };
}

/** The caching of several results: the shortest lifetime, and the narrowest scope. */
function commonCaching(all: readonly Caching[]): Caching {
  const lifetimes = all.flatMap(({ ttlMs = [] }) => ttlMs);
  const scopes = all.flatMap(({ cacheScope = [] }) => cacheScope);
  const cacheScope = scopes.includes('private') ? 'private' : scopes[0];
  return {
    ...(lifetimes.length > 0 && { ttlMs: Math.min(...lifetimes) }),
    ...(cacheScope !== undefined && { cacheScope }),
  };
}

export function decodeToolPage(result: unknown): ToolPage {
  const page = isObject(result) ? result : {};
  const { tools, nextCursor } = page;
  if (!Array.isArray(tools)) throw mismatch('an array "tools"', tools ?? result);
  return { tools, nextCursor, caching: cachingOf(page) };
}

const MAX_PAGES = 100;

/** @throws {AppError} `bad_response` for a list without end */
export async function listAllTools(
  page: (params: { cursor: string } | undefined) => Promise<ToolPage>,
): Promise<{ tools: Tool[]; caching: Caching }> {
  const tools: Tool[] = [];
  const cachings: Caching[] = [];
  const seen = new Set<unknown>([undefined]);
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { tools: found, nextCursor, caching } = await page(cursor === undefined ? undefined : { cursor });
    cachings.push(caching);
    for (const tool of found) if (isObject(tool) && typeof tool.name === 'string') tools.push(tool as Tool);
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined;
    // An empty string is a cursor, too. A repeated cursor would cause an endless loop.
    if (seen.has(cursor)) return { tools, caching: commonCaching(cachings) };
    seen.add(cursor);
  }
  throw badResponse(`the list of tools has more than ${MAX_PAGES} pages`);
}

import { isObject, type JsonObject } from '../../client/rpc/envelope.ts';
import type { Context } from '../../context.ts';
import { AppError, CODES, type Code } from '../../errors.ts';
import { excerpt } from '../../util/excerpt.ts';
import { VERSION } from '../../version.ts';
import { ERROR_META_KEY } from '../bridge/methods.ts';
import { type ChildOptions, type ChildServer, startServer } from './child.ts';

export interface StdioCheck extends ChildOptions {
  /** Time for all of it. */
  readonly timeoutMs: number;
  readonly context: Pick<Context, 'sleep' | 'signal'>;
}

/** How long the program may take to end, ms. */
const LEAVE_MS = 500;

/**
 * Starts a program as an MCP client would: handshake, list of tools, one search where there is a tool for it.
 * @returns how many tools it offers
 * @throws {AppError} what the search failed with; `io_error` where it cannot be started; `timeout`; `bad_response`
 */
export async function checkStdio({ timeoutMs, context, ...options }: StdioCheck): Promise<number> {
  const server = startServer(options);
  const over = new AbortController();
  const late = context.sleep(timeoutMs, AbortSignal.any([over.signal, context.signal])).then(() => {
    throw new AppError('timeout', `${options.command} did not answer within ${timeoutMs / 1000} s`);
  });
  try {
    return await Promise.race([converse(server), server.failed, late]);
  } finally {
    late.catch(() => {});
    over.abort();
    await server.close(LEAVE_MS);
  }
}

async function converse(server: ChildServer): Promise<number> {
  await server.ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'restaurant-check', version: VERSION },
  });
  server.notify('notifications/initialized');
  const { tools } = await server.ask('tools/list', {});
  if (!Array.isArray(tools)) throw new AppError('bad_response', 'it answered tools/list without tools');
  if (tools.some((tool) => isObject(tool) && tool.name === 'find_restaurant')) {
    const args = { name: 'restaurant', city: 'San Francisco' };
    const result = await server.ask('tools/call', { name: 'find_restaurant', arguments: args });
    if (result.isError === true) throw problemOf(result);
  }
  return tools.length;
}

/** The failure that a tool error of the bridge tells. */
function problemOf(result: JsonObject): AppError {
  const meta = isObject(result._meta) ? result._meta[ERROR_META_KEY] : undefined;
  const { code, message, hint } = isObject(meta) ? meta : {};
  const [block] = Array.isArray(result.content) ? result.content : [];
  const text = isObject(block) && typeof block.text === 'string' ? block.text : 'it does not say why';
  const known = typeof code === 'string' && Object.hasOwn(CODES, code) ? (code as Code) : 'tool_error';
  const details = typeof hint === 'string' ? { hint } : {};
  return new AppError(known, typeof message === 'string' ? message : excerpt(text), details);
}

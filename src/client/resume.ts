import type { Context } from '../context.ts';
import type { Call } from './channel.ts';
import type { EventReader } from './event-reader.ts';
import type { Exchange, Reply } from './exchange.ts';
import { ExchangeError } from './failure.ts';
import type { RequestHeaders } from './headers.ts';
import type { Transport } from './transport.ts';

const MAX_RESUMPTIONS = 5;
/** Wait before a stream is taken up, where the service names none. */
const RETRY_MS = 1000;

interface ResumeOptions {
  readonly transport: Transport;
  readonly context: Pick<Context, 'now' | 'sleep'>;
  onRequest?(): void | Promise<void>;
}

/**
 * Sends a request; a stream that ends before its response is taken up where it ended, if it had event ids
 * (MCP 2025-11-25, resumability). At most five times.
 * @param headers what the GET that takes it up carries
 */
export async function sendResuming(
  options: ResumeOptions,
  call: Call,
  first: Exchange,
  reader: EventReader,
  headers: RequestHeaders,
): Promise<Reply> {
  let ended = await attempt(options.transport, first);
  for (let resumptions = 0; resumptions < MAX_RESUMPTIONS; resumptions++) {
    const { lastEventId, retryMs = RETRY_MS } = reader.thread();
    if (!isBroken(ended, reader) || !lastEventId) break;
    const { now, sleep } = options.context;
    // A wait beyond the deadline would only make the end come later.
    await sleep(Math.max(0, Math.min(retryMs, call.deadline - now())), call.signal);
    await options.onRequest?.();
    const { 'Content-Type': _type, ...rest } = headers;
    const next = await attempt(options.transport, {
      method: 'GET',
      headers: { ...rest, Accept: 'text/event-stream', 'Last-Event-ID': lastEventId },
      signal: first.signal,
      deadline: call.deadline,
      ...(first.totalMs === undefined ? {} : { totalMs: first.totalMs }),
      ...(first.onEvent === undefined ? {} : { onEvent: first.onEvent }),
    });
    // Refused: what counts is that the first stream broke.
    if (!(next instanceof ExchangeError) && (next.status >= 300 || !next.isStream)) break;
    ended = next;
  }
  if (ended instanceof ExchangeError) throw ended;
  return ended;
}

/** The reply, or the error of a connection that broke. */
async function attempt(transport: Transport, exchange: Exchange): Promise<Reply | ExchangeError> {
  try {
    return await transport.send(exchange);
  } catch (error) {
    if (error instanceof ExchangeError && (error.reason === 'cut_off' || error.reason === 'reset'))
      return error;
    throw error;
  }
}

/** Did a stream end or break without the response? */
function isBroken(ended: Reply | ExchangeError, reader: EventReader): boolean {
  if (reader.found() !== undefined) return false;
  return ended instanceof ExchangeError || ended.isStream;
}

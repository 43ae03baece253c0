import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { stringifyExact } from '../../util/exact-json.ts';
import type { Exchange, HeaderFields, Reply } from '../http/exchange.ts';
import { type RequestHeaders, withHeaders } from '../http/headers.ts';
import { ExchangeError } from '../http/network-error.ts';
import type { Transport } from '../http/transport.ts';
import type { JsonObject } from './envelope.ts';
import { type StatusContext, statusError } from './errors.ts';
import { type EventReader, eventReader, type ParsedReply, parseReply, protocolWarnings } from './reply.ts';
import { createRateGate, type Policy, planRetry } from './retry.ts';

/** One call of a caller, which may take several requests. */
export interface CallState {
  readonly policy: Policy;
  readonly signal: AbortSignal;
  /** End of its time, ms since the epoch. Waits that the service asks for move it. */
  deadline: number;
  readonly totalMs: number;
}

/** A request before it has its id. */
export interface RpcMessage {
  /** The message; a repeated request gets a new id. */
  build(id: number): JsonObject;
  readonly headers?: RequestHeaders;
  /** Gets the requests and notifications of the server that precede the response on a stream. */
  onMessage?(message: JsonObject): void;
  /** Header fields to take up a stream with that ended early; without them it is not taken up. */
  readonly resume?: RequestHeaders;
  /** Tells the service that request `id` is not waited for any more. */
  cancel?(call: CallState, id: number): Promise<unknown>;
}

export interface ChannelOptions {
  readonly transport: Transport;
  readonly endpoint: URL;
  /** What every request carries. */
  readonly headers: RequestHeaders;
  readonly keySuffix: string | undefined;
  readonly keyHint?: string | undefined;
  /** Takes the key out of what the service sends. */
  mask(text: string): string;
  readonly retries: number;
  readonly maxWaitMs: number;
  readonly context: Pick<Context, 'now' | 'sleep' | 'random'>;
  onRequest?(): void | Promise<void>;
  onWait?(wait: { ms: number; error: AppError }): void;
  onRateLimited?(until: number): void | Promise<void>;
  /** Gets what is odd about an answer that is taken all the same. */
  note?(text: string): void;
}

export interface RpcResponse extends ParsedReply {
  readonly id: number;
  /** The result is one of the modern era, with a type. */
  readonly typed?: true;
}

export interface Channel {
  /**
   * Sends a request until it is answered or may not be repeated.
   * @throws {AppError} when no answer came; an answer that is an error carries it
   */
  request(call: CallState, outgoing: RpcMessage): Promise<RpcResponse>;
  /**
   * Sends a message that has no answer. Whatever the body says is not read.
   * @returns the error that the service answers with, if any
   * @throws {AppError} when no answer came
   */
  notify(call: CallState, message: JsonObject, headers: RequestHeaders): Promise<AppError | undefined>;
  /** Ends a session (DELETE). Best effort, within a second. */
  end(headers: RequestHeaders): Promise<void>;
}

/** A body that nobody reads may end in this time; then its connection is dropped. */
const UNWANTED_BODY_MS = 100;
const FAREWELL_MS = 1000;

/** Requests and their answers over a transport, repeated as the rules allow. */
export function openChannel(options: ChannelOptions): Channel {
  const { context } = options;
  const pause = createRateGate(context);
  let lastId = 0;

  async function attempt(call: CallState, outgoing: RpcMessage, waited: number): Promise<RpcResponse> {
    const before = context.now();
    await pause.wait(waited, call.signal);
    await options.onRequest?.();
    // Time that a budget, or what another call was told, held us back is not the service's.
    call.deadline += context.now() - before;
    lastId += 1;
    return exchange(options, call, outgoing, lastId);
  }

  return {
    async request(call, outgoing) {
      let waited = 0;
      for (let tries = 0; ; tries++) {
        const outcome = await caught(() => attempt(call, outgoing, waited));
        const error = outcome instanceof AppError ? outcome : outcome.error;
        if (error === undefined) return outcome as RpcResponse;
        const { retryAfter, status } = error.details;
        if (status === 429 && retryAfter !== undefined) {
          await options.onRateLimited?.(context.now() + retryAfter * 1000);
        }
        const plan = planRetry({
          attempt: tries,
          error,
          policy: call.policy,
          retries: options.retries,
          remainingMs: call.deadline - context.now(),
          maxWaitMs: options.maxWaitMs,
          random: context.random,
        });
        if ('giveUp' in plan) {
          if (outcome instanceof AppError) throw plan.giveUp;
          return { ...outcome, error: plan.giveUp };
        }
        options.onWait?.({ ms: plan.waitMs, error });
        if (plan.asked) call.deadline += plan.waitMs;
        waited = context.now() + plan.waitMs;
        if (status === 429) pause.closeUntil(waited);
        await context.sleep(plan.waitMs, call.signal);
      }
    },

    async notify(call, message, headers) {
      await options.onRequest?.();
      const reply = await options.transport.send({
        ...timing(call),
        method: 'POST',
        headers: withHeaders(options.headers, headers),
        body: stringifyExact(message) ?? '',
        bodyMs: UNWANTED_BODY_MS,
      });
      return reply.status < 300 ? undefined : statusError(maskReply(reply, options.mask), contextOf(options));
    },

    async end(headers) {
      const { 'Content-Type': _type, ...rest } = withHeaders(options.headers, headers);
      const exchange = { ...timing(briefly(context)), method: 'DELETE', headers: rest, bodyMs: 0 } as const;
      await options.transport.send(exchange).catch(() => {});
    },
  };
}

const timing = ({ signal, deadline, totalMs }: CallState) => ({ signal, deadline, totalMs });

/** A call for what is only told, when the call that it is about has ended. */
function briefly({ now }: Pick<Context, 'now'>): CallState {
  const signal = new AbortController().signal;
  return { policy: 'write', signal, deadline: now() + FAREWELL_MS, totalMs: FAREWELL_MS };
}

const contextOf = ({ endpoint, keySuffix, keyHint, context }: ChannelOptions): StatusContext => ({
  host: endpoint.host,
  keySuffix,
  keyHint,
  now: context.now(),
});

/** A failure of the exchange as a value; what is no failure of it (an interruption, a spent budget) is thrown. */
async function caught(run: () => Promise<RpcResponse>): Promise<RpcResponse | AppError> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AppError && error.kind !== 'interrupted') return error;
    throw error;
  }
}

/** One request and its answer, over one stream or over those that continue it. */
async function exchange(
  options: ChannelOptions,
  call: CallState,
  outgoing: RpcMessage,
  id: number,
): Promise<RpcResponse> {
  const { transport, mask } = options;
  const reader = eventReader(id, mask, outgoing.onMessage);
  const first = {
    ...timing(call),
    method: 'POST',
    headers: withHeaders(options.headers, outgoing.headers),
    body: stringifyExact(outgoing.build(id)) ?? '',
    onEvent: reader.onEvent,
  } as const;
  try {
    const { resume } = outgoing;
    const reply =
      resume === undefined
        ? await transport.send(first)
        : await sendResuming(options, call, first, reader, withHeaders(options.headers, resume));
    const answer = parseReply(maskReply(reply, mask), id, reader, contextOf(options));
    if (options.note !== undefined) protocolWarnings(answer, reply.isStream).forEach(options.note);
    return { ...answer, id };
  } catch (error) {
    const late = error instanceof ExchangeError && error.reason === 'time';
    const told = late || call.signal.aborted ? outgoing.cancel?.(briefly(options.context), id) : undefined;
    // A call whose time is over has none left to wait for this.
    if (!late) await told;
    throw error;
  }
}

function maskReply(reply: Reply, erase: (text: string) => string): Reply {
  return {
    ...reply,
    text: erase(reply.text),
    statusText: erase(reply.statusText),
    headers: maskHeaders(reply.headers, erase),
  };
}

function maskHeaders(headers: HeaderFields, erase: (text: string) => string): HeaderFields {
  // All at once: hardly ever is there anything to erase.
  const all = Object.values(headers).flat().join('\n');
  if (erase(all) === all) return headers;
  const erased = Object.entries(headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? erase(value) : value?.map(erase),
  ]);
  return Object.fromEntries(erased);
}

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
  call: CallState,
  first: Exchange,
  reader: EventReader,
  headers: RequestHeaders,
): Promise<Reply> {
  let ended = await attempt(options.transport, first);
  for (let resumptions = 0; resumptions < MAX_RESUMPTIONS; resumptions++) {
    const { lastEventId, retryMs = RETRY_MS } = reader.resumePoint();
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

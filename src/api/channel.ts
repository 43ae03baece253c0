import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { type Answer, type Found, judge } from './answer.ts';
import type { Reply } from './exchange.ts';
import { type RequestHeaders, withHeaders } from './headers.ts';
import { parseJson } from './json.ts';
import { type Policy, planRetry } from './retry.ts';
import { findReply, isObject, type JsonObject } from './rpc.ts';
import type { SseEvent } from './sse.ts';
import type { Transport } from './transport.ts';

/** One call of a caller, which may take several requests. */
export interface Call {
  readonly policy: Policy;
  readonly signal: AbortSignal;
  /** End of its time, ms since the epoch. Waits that the service asks for move it. */
  deadline: number;
  readonly totalMs: number;
}

/** A request before it has its id. */
export interface Outgoing {
  /** The message; a repeated request gets a new id. */
  build(id: number): JsonObject;
  readonly headers?: RequestHeaders;
  /** Gets the requests and notifications of the server that precede the response on a stream. */
  onMessage?(message: JsonObject): void;
}

export interface ChannelOptions {
  readonly transport: Transport;
  readonly endpoint: URL;
  /** What every request carries. */
  readonly headers: RequestHeaders;
  readonly keyEnd: string | undefined;
  /** Takes the key out of what the service sends. */
  erase(text: string): string;
  readonly retries: number;
  readonly maxWaitMs: number;
  readonly context: Pick<Context, 'now' | 'sleep' | 'random'>;
  onRequest?(): void | Promise<void>;
  onWait?(wait: { ms: number; error: AppError }): void;
  onRateLimited?(until: number): void;
}

/** What is left of a stream that ended without our response: enough to take it up again. */
export interface Thread {
  readonly lastEventId: string | undefined;
  readonly retryMs: number | undefined;
}

export type ChannelAnswer = Answer & { readonly id: number; readonly thread: Thread };

export interface Channel {
  /**
   * Sends a request until it is answered or may not be repeated.
   * @throws {AppError} when no answer came; an answer that is an error carries it
   */
  request(call: Call, outgoing: Outgoing): Promise<ChannelAnswer>;
}

/** Requests and their answers over a transport, repeated as the rules allow. */
export function openChannel(options: ChannelOptions): Channel {
  const { context } = options;
  let lastId = 0;

  async function attempt(call: Call, outgoing: Outgoing): Promise<ChannelAnswer> {
    const before = context.now();
    await options.onRequest?.();
    // Time that a budget held us back is not the service's.
    call.deadline += context.now() - before;
    lastId += 1;
    return exchange(options, call, outgoing, lastId);
  }

  return {
    async request(call, outgoing) {
      for (let tries = 0; ; tries++) {
        const outcome = await caught(() => attempt(call, outgoing));
        const error = outcome instanceof AppError ? outcome : outcome.error;
        if (error === undefined) return outcome as ChannelAnswer;
        const { retryAfter, status } = error.details;
        if (status === 429 && retryAfter !== undefined) {
          options.onRateLimited?.(context.now() + retryAfter * 1000);
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
        await context.sleep(plan.waitMs, call.signal);
      }
    },
  };
}

/** A failure of the exchange as a value; what is no failure of it (an interruption, a spent budget) is thrown. */
async function caught(run: () => Promise<ChannelAnswer>): Promise<ChannelAnswer | AppError> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AppError && error.kind !== 'interrupted') return error;
    throw error;
  }
}

/** One request, one answer. */
async function exchange(
  options: ChannelOptions,
  call: Call,
  outgoing: Outgoing,
  id: number,
): Promise<ChannelAnswer> {
  const { transport, endpoint, erase, keyEnd, context } = options;
  const reader = eventReader(id, erase, outgoing.onMessage);
  const reply = await transport.send({
    method: 'POST',
    headers: withHeaders(options.headers, outgoing.headers),
    body: JSON.stringify(outgoing.build(id)),
    signal: call.signal,
    deadline: call.deadline,
    totalMs: call.totalMs,
    onEvent: reader.onEvent,
  });
  const clean = eraseReply(reply, erase);
  const answer = judge(clean, id, reader.found(), { host: endpoint.host, keyEnd, now: context.now() });
  return { ...answer, id, thread: reader.thread() };
}

/** Looks for the response to request `id` among the events of a stream. */
export function eventReader(
  id: number,
  erase: (text: string) => string,
  onMessage?: (message: JsonObject) => void,
) {
  let found: Found | undefined;
  let lastEventId: string | undefined;
  let retryMs: number | undefined;
  return {
    onEvent(event: SseEvent): 'stop' | undefined {
      lastEventId = event.id ?? lastEventId;
      retryMs = event.retry ?? retryMs;
      if (event.data === '' || (event.event ?? 'message') !== 'message') return undefined;
      const text = erase(event.data);
      const value = parseEvent(text, event.unfinished === true);
      const envelope = findReply(value, id, 'stream');
      if (envelope !== undefined) {
        found = { envelope, text };
        return 'stop';
      }
      for (const message of Array.isArray(value) ? value : [value]) {
        if (isObject(message) && typeof message.method === 'string') onMessage?.(message);
      }
      return undefined;
    },
    found: () => found,
    thread: (): Thread => ({ lastEventId, retryMs }),
  };
}

/** What an unfinished event holds counts only if it is whole. */
function parseEvent(text: string, unfinished: boolean): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (unfinished) return undefined;
    throw error;
  }
}

function eraseReply(reply: Reply, erase: (text: string) => string): Reply {
  const headers = Object.entries(reply.headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? erase(value) : value?.map(erase),
  ]);
  return {
    ...reply,
    text: erase(reply.text),
    statusText: erase(reply.statusText),
    headers: Object.fromEntries(headers),
  };
}

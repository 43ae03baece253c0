import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { mapStrings } from '../../util/json.ts';
import type { JsonObject } from '../../util/object.ts';
import { type RequestHeaders, withHeaders } from '../http/headers.ts';
import type { CallLimits, Exchange, Transport } from '../http/transport.ts';
import type { PlannedCall, Tool } from '../types.ts';
import { progressIn, request, withMeta } from './envelope.ts';
import { type StatusContext, statusError } from './errors.ts';
import { eventReader, parseReply, protocolWarnings, type RpcResponse } from './reply.ts';
import { createRateGate, type Policy, planRetry, type RetryLimits } from './retry.ts';

/** The state of one call, which may take several requests. */
export interface CallState extends CallLimits {
  readonly policy: Policy;
  /** Extended by waits that the service requests. */
  deadline: number;
}

/** A call, independent of the protocol. */
export interface RpcCall extends PlannedCall {
  readonly headers?: RequestHeaders;
  /** The tool as listed by the service. Its schema names the arguments that are also sent as headers. */
  readonly tool?: Tool | undefined;
  /** Gets `params` of each `notifications/progress`. */
  onProgress?(params: JsonObject): void;
}

/** A call in one protocol. */
export interface RpcMessage extends RpcCall {
  /** Overrides the policy of the call. */
  readonly policy?: Policy;
  /** Requests the notifications for `onProgress`, if it is given. */
  readonly wantsProgress?: true;
  /** Headers for resuming a stream that ended early. Undefined if streams are not resumed. */
  readonly resume?: RequestHeaders;
  /** Gets other messages of the server that precede the response on a stream. */
  onMessage?(message: JsonObject): void;
  /** Notifies the service that request `id` is cancelled. */
  cancel?(call: CallState, id: number): Promise<unknown>;
}

export interface ChannelOptions extends StatusContext, RetryLimits, Pick<Context, 'sleep'> {
  readonly transport: Transport;
  /** Headers of every request. */
  readonly headers: RequestHeaders;
  /** Masks the key in text from the service. */
  mask(text: string): string;
  onRequest?(): void | Promise<void>;
  onWait?(wait: { ms: number; error: AppError }): void;
  onRateLimited?(until: number): void | Promise<void>;
  /** Called with the protocol violations of a response that is accepted nevertheless. */
  note(text: string): void;
}

export type Channel = ReturnType<typeof openChannel>;

/** Maximum wait for the end of a body that is not needed, before the connection is closed. */
const UNWANTED_BODY_MS = 100;
/** Time limit for the message that ends a session or cancels a call. */
const CLEANUP_MS = 1000;
const MAX_RESUMPTIONS = 5;
/** Default wait before a stream is resumed. */
const RESUME_MS = 1000;

/** Opens a channel for requests and their responses over a transport. */
export function openChannel(options: ChannelOptions) {
  const { now, sleep } = options;
  const gate = createRateGate(options);
  let lastId = 0;

  /** Makes one attempt, with a new id. @returns the response, or an error that may be retried */
  async function attemptOnce(call: CallState, message: RpcMessage): Promise<RpcResponse | AppError> {
    try {
      const before = now();
      await gate.wait(call.signal);
      await options.onRequest?.();
      // Waiting for the quota or the gate does not count against the time of the call.
      call.deadline += now() - before;
      lastId += 1;
      return await exchange(options, call, message, lastId);
    } catch (error) {
      const isFinal = error === call.signal.reason || !(error instanceof AppError);
      if (isFinal || error.kind === 'interrupted') throw error;
      return error;
    }
  }

  return {
    /**
     * Sends a request, with the retries that the policy of the call allows. Each attempt has a new id.
     * @returns the response, which contains the error if it is one. @throws {AppError} if there was no response
     */
    async request(call: CallState, message: RpcMessage): Promise<RpcResponse> {
      for (let attempt = 0; ; attempt++) {
        const outcome = await attemptOnce(call, message);
        const error = outcome instanceof AppError ? outcome : outcome.error;
        if (error === undefined) return outcome as RpcResponse;
        const { retryAfter, status } = error.details;
        if (status === 429 && retryAfter !== undefined) {
          await options.onRateLimited?.(now() + retryAfter * 1000);
        }
        const policy = message.policy ?? call.policy;
        const ms = planRetry(error, { attempt, policy, remainingMs: call.deadline - now() }, options);
        if (ms instanceof AppError) {
          if (outcome instanceof AppError) throw ms;
          return { ...outcome, error: ms };
        }
        options.onWait?.({ ms, error });
        if (status === 429) gate.closeUntil(now() + ms);
        // Waits for the rate limit happen at the gate.
        if (status !== 429 || retryAfter === undefined) await sleep(ms, call.signal);
      }
    },

    /**
     * Sends a notification. The body of the response is ignored.
     * @returns the error that the service responds with, if any
     * @throws {AppError} if there was no response
     */
    async notify(
      call: CallState,
      message: JsonObject,
      headers: RequestHeaders,
    ): Promise<AppError | undefined> {
      await options.onRequest?.();
      const reply = await options.transport.send(call, {
        method: 'POST',
        headers: withHeaders(options.headers, headers),
        body: JSON.stringify(message),
        bodyMs: UNWANTED_BODY_MS,
      });
      if (reply.status < 300) return undefined;
      return statusError(mapStrings(reply, options.mask), options);
    },

    /** Ends a session (DELETE). Best effort, within a second. */
    async endSession(session: RequestHeaders): Promise<void> {
      const headers = bodilessHeaders(options, session);
      await options.transport
        .send(cleanupLimits(now), { method: 'DELETE', headers, bodyMs: 0 })
        .catch(() => {});
    },
  };
}

/** Returns the limits of a message that ends a session or cancels a call. */
function cleanupLimits(now: () => number): CallState {
  const { signal } = new AbortController();
  return { policy: 'write', signal, deadline: now() + CLEANUP_MS, totalMs: CLEANUP_MS };
}

function bodilessHeaders({ headers }: ChannelOptions, more: RequestHeaders): RequestHeaders {
  const { 'Content-Type': _, ...rest } = withHeaders(headers, more);
  return rest;
}

/**
 * Sends one request and reads its response. If a stream ends before the response, it is resumed where it ended, at most
 * five times, provided that its events had ids (MCP 2025-11-25, resumability).
 */
async function exchange(
  options: ChannelOptions,
  call: CallState,
  { method, params, headers, wantsProgress, resume, onProgress, onMessage, cancel }: RpcMessage,
  id: number,
): Promise<RpcResponse> {
  const { transport, mask, now, sleep } = options;
  const { seen, onEvent } = eventReader(id, mask, (message) => {
    const progress = progressIn(message);
    if (progress === undefined) onMessage?.(message);
    else onProgress?.(progress);
  });
  const send = (message: Exchange) => transport.send(call, { onEvent, ...message }).catch(brokenStream);
  const sent = wantsProgress && onProgress ? withMeta(params, { progressToken: id }) : params;
  try {
    let outcome = await send({
      method: 'POST',
      headers: withHeaders(options.headers, headers),
      body: JSON.stringify(request(id, method, sent)),
    });
    for (let resumptions = 0; resumptions < MAX_RESUMPTIONS; resumptions++) {
      const isBroken = seen.found === undefined && (outcome instanceof AppError || outcome.isStream);
      const { lastEventId, retryMs = RESUME_MS } = seen;
      if (!isBroken || resume === undefined || !lastEventId) break;
      // A wait beyond the deadline would only delay the failure.
      await sleep(Math.max(0, Math.min(retryMs, call.deadline - now())), call.signal);
      await options.onRequest?.();
      const headers = { ...bodilessHeaders(options, resume), Accept: 'text/event-stream' };
      const resumed = await send({ method: 'GET', headers: { ...headers, 'Last-Event-ID': lastEventId } });
      const isRefused = !(resumed instanceof AppError) && (resumed.status >= 300 || !resumed.isStream);
      // Report the error with which the previous stream ended.
      if (isRefused) break;
      outcome = resumed;
    }
    if (outcome instanceof AppError) throw outcome;
    const response = parseReply(mapStrings(outcome, mask), id, seen, options);
    protocolWarnings(response, outcome.isStream).forEach(options.note);
    return response;
  } catch (error) {
    const isLate = error instanceof AppError && error.details.reason === 'time';
    const cancelled = isLate || call.signal.aborted ? cancel?.(cleanupLimits(now), id) : undefined;
    // A call that timed out does not wait for its cancellation to be sent.
    if (!isLate) await cancelled;
    throw error;
  }
}

/** Returns the error of a broken connection; rethrows any other error. */
function brokenStream(error: unknown): AppError {
  if (error instanceof AppError && ['cut_off', 'reset'].includes(error.details.reason ?? '')) return error;
  throw error;
}

import type { Context } from '../../context.ts';
import type { AppError, ErrorDetails } from '../../errors.ts';
import { exactJson, type JsonObject, mapStrings } from '../../util/json.ts';
import type { HttpResponse } from '../http/body.ts';
import { type RequestHeaders, withHeaders } from '../http/headers.ts';
import type { CallLimits, HttpRequest, Transport } from '../http/transport.ts';
import { ServiceError } from '../service-error.ts';
import type { PlannedCall, Tool } from '../types.ts';
import { progressIn, request, withMeta } from './envelope.ts';
import { type StatusContext, statusError } from './errors.ts';
import { EventReader, type Outcome, outcomeOf, protocolWarnings } from './outcome.ts';
import type { Effect, RateGate, RetryLimits } from './retry.ts';

type MaybeTakeBack = void | (() => Promise<void>);

export interface ClientEvents {
  /**
   * Called before every HTTP request that counts against the quota. An error that it throws ends the call.
   * @returns what to call if the connection is refused, so that the request was not sent
   */
  onRequest?(): MaybeTakeBack | Promise<MaybeTakeBack>;
  /** Called before each wait for a retry. */
  onWait?(wait: { ms: number; error: AppError }): void;
  /** Called after a 429 with Retry-After; `until` is in ms since the epoch. */
  onRateLimited?(until: number): void | Promise<void>;
}

/** The state and options that all calls of a client share. */
export interface Channel extends StatusContext, RetryLimits, Pick<Context, 'sleep'> {
  readonly events: ClientEvents;
  readonly transport: Transport;
  readonly headers: RequestHeaders;
  readonly gate: RateGate;
  lastId: number;
  mask(text: string): string;
  /** Called with what is wrong with a response, or a list of tools, that is accepted nevertheless. */
  note(text: string): void;
}

/** The state of one call, which may take several requests. */
export interface CallState extends CallLimits {
  readonly effect: Effect;
  /** Facts that the failure of the call also has. */
  readonly facts?: ErrorDetails;
  /** Extended by waits that the service or the quota requires. */
  deadline: number;
  /** A request of the server for input, which was declined. */
  declinedInput?: JsonObject;
}

/** A call, independent of the protocol. */
export interface RpcCall extends PlannedCall {
  readonly headers?: RequestHeaders;
  /** The tool as listed by the service. Its schema names the arguments that are also sent as headers. */
  readonly tool?: Tool | undefined;
  onProgress?(params: JsonObject): void;
  /** Capabilities of a caller that answers requests for input itself (MCP 2026-07-28). */
  readonly capabilities?: JsonObject;
}

/** A call in one protocol. */
export interface RpcMessage extends RpcCall {
  readonly effect?: Effect;
  /** Requests the notifications for `onProgress`, if it is given. */
  readonly wantsProgress?: true;
  /** Headers for resuming a stream that ended early. Undefined if streams are not resumed. */
  readonly resume?: RequestHeaders;
  /** Gets other messages of the server that precede the response on a stream. */
  onMessage?(message: JsonObject): void;
  cancel?(state: CallState, id: number): Promise<unknown>;
}

/** Maximum wait for the end of a body that is not needed, before the connection is closed. */
const UNWANTED_BODY_MS = 100;
/** Time limit for the message that ends a session or cancels a call. */
const CLEANUP_MS = 1000;
/** Characters of an event id that a header cannot carry. */
const CONTROL = /[\0-\x1f\x7f-\x9f]/;
const MAX_RESUMPTIONS = 5;
const RESUME_MS = 1000;

/**
 * Makes one attempt. If a stream ends before the response, it is resumed where it ended, at most five times, provided
 * that its events had ids (MCP 2025-11-25, resumability).
 * @throws the signal's reason, and errors of callbacks
 */
export async function exchange(channel: Channel, state: CallState, message: RpcMessage): Promise<Outcome> {
  channel.lastId += 1;
  const id = channel.lastId;
  const reader = new EventReader(id, channel.mask, (event) => {
    const progress = progressIn(event);
    if (progress === undefined) message.onMessage?.(event);
    else message.onProgress?.(progress);
  });
  const { onEvent } = reader;
  try {
    const post = { method: 'POST', headers: withHeaders(channel.headers, message.headers), onEvent } as const;
    const body = bodyOf(message, id);
    const first = await channel.transport.send(state, { body, ...post }).catch(brokenStream);
    const response = await resume(channel, state, message, reader, first);
    if (response instanceof ServiceError) return { failure: response };
    const { host, keySuffix, now } = channel;
    const context = { host, keySuffix, now, level: state.facts?.level };
    const outcome = outcomeOf(mapStrings(response, channel.mask), id, reader, context);
    protocolWarnings(outcome.response, response.isStream).forEach(channel.note);
    return outcome;
  } catch (error) {
    const isLate = error instanceof ServiceError && error.details.reason === 'time';
    const cancelled =
      isLate || state.signal.aborted ? message.cancel?.(cleanupState(channel), id) : undefined;
    // A call that timed out does not wait for its cancellation to be sent.
    if (!isLate) await cancelled;
    // Other errors are those of callbacks, or the reason of the signal.
    if (error instanceof ServiceError) return { failure: error };
    throw error;
  }
}

/** Resumes a stream that ended early. @returns the last part of it, or the error of the broken connection */
async function resume(
  channel: Channel,
  state: CallState,
  { resume: session }: RpcMessage,
  reader: EventReader,
  first: HttpResponse | ServiceError,
): Promise<HttpResponse | ServiceError> {
  let response = first;
  for (let resumed = 0; resumed < MAX_RESUMPTIONS && isBroken(response, reader); resumed += 1) {
    const { lastEventId, retryMs = RESUME_MS, onEvent } = reader;
    if (session === undefined || !lastEventId || CONTROL.test(lastEventId)) break;
    // A wait beyond the deadline would only delay the failure.
    await channel.sleep(Math.max(0, Math.min(retryMs, state.deadline - channel.now())), state.signal);
    // A header carries bytes, here those of the id in UTF-8.
    const sentId = Buffer.from(lastEventId).toString('latin1');
    const fields = { Accept: 'text/event-stream', 'Last-Event-ID': sentId };
    const headers = { ...bodilessHeaders(channel, session), ...fields };
    const next = await sendCounted(channel, state, { method: 'GET', headers, onEvent }).catch(brokenStream);
    // If resuming is refused, the error with which the previous stream ended is reported: the call itself was sent.
    const isRefusal = next instanceof ServiceError ? isRefused(next) : next.status >= 300 || !next.isStream;
    if (isRefusal) break;
    response = next;
  }
  return response;
}

function bodyOf({ method, params, wantsProgress, onProgress }: RpcMessage, id: number): string {
  const sent = wantsProgress && onProgress ? withMeta(params, { progressToken: id }) : params;
  return exactJson(request(id, method, sent));
}

const isBroken = (response: HttpResponse | ServiceError, { found }: EventReader): boolean =>
  found === undefined && (response instanceof ServiceError || response.isStream);

const BROKEN: readonly unknown[] = ['cut_off', 'reset', 'refused'];

function brokenStream(error: unknown): ServiceError {
  const isBroken = error instanceof ServiceError && BROKEN.includes(error.details.reason);
  if (isBroken) return error;
  throw error;
}

/** Counts a request against the quota. @returns what to call if the request was not sent */
export async function countRequest({ events, now }: Channel, state: CallState): Promise<MaybeTakeBack> {
  const waitingSince = now();
  const takeBack = await events.onRequest?.();
  state.deadline += now() - waitingSince;
  return takeBack;
}

/** Sends a request other than a call, once. */
async function sendCounted(channel: Channel, state: CallState, request: HttpRequest): Promise<HttpResponse> {
  const takeBack = await countRequest(channel, state);
  try {
    return await channel.transport.send(state, request);
  } catch (error) {
    if (error instanceof ServiceError && isRefused(error)) await takeBack?.();
    throw error;
  }
}

export const isRefused = ({ details }: ServiceError): boolean => details.reason === 'refused';

/** @returns the error that the service responds with, if any. @throws {ServiceError} if there was no response */
export async function notify(
  channel: Channel,
  state: CallState,
  message: JsonObject,
  headers: RequestHeaders,
): Promise<ServiceError | undefined> {
  const response = await sendCounted(channel, state, {
    method: 'POST',
    headers: withHeaders(channel.headers, headers),
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    bodyMs: UNWANTED_BODY_MS,
  });
  return response.status < 300 ? undefined : statusError(mapStrings(response, channel.mask), channel);
}

export async function endSession(channel: Channel, session: RequestHeaders): Promise<void> {
  const request = { method: 'DELETE', headers: bodilessHeaders(channel, session), bodyMs: 0 } as const;
  await channel.transport.send(cleanupState(channel), request).catch(() => {});
}

function cleanupState({ now }: Channel): CallState {
  const { signal } = new AbortController();
  return { effect: 'write', signal, deadline: now() + CLEANUP_MS, totalMs: CLEANUP_MS };
}

function bodilessHeaders({ headers }: Channel, more: RequestHeaders): RequestHeaders {
  const { 'Content-Type': _, ...rest } = withHeaders(headers, more);
  return rest;
}

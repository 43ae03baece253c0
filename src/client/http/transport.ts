import type { Dispatcher } from 'undici';
import { AppError } from '../../errors.ts';
import { onAbort } from '../../util/async.ts';
import { formatDuration } from '../../util/duration.ts';
import { parseUrl } from '../../util/url.ts';
import { bodyReader, contentDecoder, type SseEvent, tooLarge } from './body.ts';
import type { HttpDispatcher } from './dispatcher.ts';
import { fieldList, firstValue, type HeaderField, type HeaderFields } from './headers.ts';
import { networkError, type Phase } from './network-error.ts';
import { type Env, proxyFor } from './proxy.ts';

export interface TransportOptions {
  readonly endpoint: URL;
  /** Environment with the proxy variables. */
  readonly env: Env;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Maximum time to connect, ms. Default: 10,000. */
  readonly connectMs?: number;
  /** Maximum size of a body in bytes, both as transferred and decoded. Default: 16 MiB. */
  readonly maxBodyBytes?: number | undefined;
  trace?(event: TraceEvent): void;
}

/** The limits of a call, which may take several exchanges. */
export interface CallLimits {
  /** Aborts the exchange; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Time limit of the whole call for messages, ms. */
  readonly totalMs: number;
}

/** One HTTP request and how to read its response. */
export interface Exchange {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Maximum wait for the end of a body that is not needed, ms. */
  readonly bodyMs?: number;
  /** Gets each event of a stream. After `stop` nothing more is read and the connection is closed. */
  onEvent?(event: SseEvent): 'stop' | undefined;
}

/** An HTTP response. */
export interface Reply {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderFields;
  /** The body; empty for a stream of events. If the status is an error, only the readable part of it. */
  readonly text: string;
  readonly isStream: boolean;
}

/** A part of an exchange as it happens, for `--verbose`. Never contains the key. */
export type TraceEvent =
  | {
      readonly kind: 'request';
      readonly method: string;
      readonly url: string;
      readonly headers: readonly HeaderField[];
      readonly body?: string;
    }
  | {
      readonly kind: 'response';
      readonly status: number;
      readonly statusText: string;
      readonly headers: readonly HeaderField[];
    }
  /** A body, or one event of a stream. */
  | { readonly kind: 'body'; readonly text: string }
  /** A decision of this program. */
  | { readonly kind: 'note'; readonly text: string };

export type Transport = ReturnType<typeof openTransport>;

const CONNECT_MS = 10_000;
const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Limits for the body of an error response, which only explains the status. */
const MAX_ERROR_BYTES = 256 * 1024;
const ERROR_BODY_MS = 2000;
/** The maximum delay of setTimeout. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Opens a transport to one endpoint. The HTTP library is loaded with the first request. @throws {AppError} `usage` for a bad proxy */
export function openTransport(options: TransportOptions) {
  const { endpoint, trace } = options;
  const { href: url, origin, pathname, search } = endpoint;
  const proxy = proxyFor(endpoint, options.env);
  let dispatcher: Promise<HttpDispatcher> | undefined;
  const open = async () => {
    const { openDispatcher } = await import('./dispatcher.ts');
    return openDispatcher(endpoint.hostname, options.connectMs ?? CONNECT_MS, proxy);
  };
  return {
    /**
     * Sends one HTTP request and reads the response. Redirects are not followed.
     * @throws {AppError} `network`, `timeout`, `tls`, `bad_response`; `http_error` for a redirect; the signal's reason
     */
    async send(limits: CallLimits, exchange: Exchange): Promise<Reply> {
      const { method, headers, body } = exchange;
      limits.signal.throwIfAborted();
      dispatcher ??= open();
      const { dispatch } = await dispatcher;
      limits.signal.throwIfAborted();
      if (limits.deadline <= options.now()) throw timeoutError(endpoint, 'connecting', limits);
      trace?.({ kind: 'request', method, url, headers: Object.entries(headers), ...(body && { body }) });
      const { promise, resolve, reject } = withResolvers<Reply>();
      const handler = exchangeHandler(options, limits, exchange, resolve, reject);
      const path = pathname + search;
      dispatch({ origin, path, method, headers: { ...headers }, body: body ?? null }, handler);
      const reply = await promise;
      if (!reply.isStream) trace?.({ kind: 'body', text: reply.text });
      return reply;
    },
    async close(): Promise<void> {
      await (await dispatcher)?.close();
    },
  };
}

/** `Promise.withResolvers`, which Node.js 20 lacks. */
function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((onDone, onError) => {
    resolve = onDone;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/** Returns the handler of one exchange, which calls `resolve` or `reject` once. */
function exchangeHandler(
  options: TransportOptions,
  limits: CallLimits,
  exchange: Exchange,
  resolve: (reply: Reply) => void,
  reject: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  const { endpoint, trace, now, connectMs = CONNECT_MS, maxBodyBytes = MAX_BODY_BYTES } = options;
  const { signal, deadline } = limits;
  let controller: Dispatcher.DispatchController | undefined;
  let response: ReturnType<typeof openResponse> | undefined;
  let isSettled = false;
  // One time limit for the whole exchange, so that it also applies to a slow response and an endless stream.
  let timer = startTimer(deadline - now(), () => fail(timeoutError(endpoint, phase(), limits)));
  const ignoreAbort = onAbort(signal, () => settle(() => reject(signal.reason)));

  function phase(): Phase {
    if (controller === undefined) return 'connecting';
    return response === undefined ? 'waiting' : 'reading';
  }
  const abort = () => controller?.abort(new AppError('network', 'dropped'));
  /** Ends the exchange. The connection is kept only after a complete response. */
  function settle(report: () => void, isComplete = false): void {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    ignoreAbort();
    response?.destroy();
    if (!isComplete) abort();
    report();
  }
  function succeed(isComplete = false): void {
    const reply = response?.reply;
    if (reply !== undefined) settle(() => resolve(reply()), isComplete);
  }
  function fail(error: unknown): void {
    // Reports the status of an error even if its body is invalid.
    if (response?.isError) succeed();
    else settle(() => reject(error));
  }

  return {
    onRequestStart(started) {
      controller = started;
      if (isSettled) abort();
    },
    onResponseStart(_controller, status, headers, statusText = '') {
      if (status < 200 && status !== 101) return;
      try {
        trace?.({ kind: 'response', status, statusText, headers: fieldList(headers) });
      } catch (error) {
        // undici would report it as an error of the connection.
        return fail(error);
      }
      const isError = status >= 400 && status <= 599;
      const maxBytes = isError ? Math.min(maxBodyBytes, MAX_ERROR_BYTES) : maxBodyBytes;
      const problem = isError ? undefined : responseProblem(endpoint, status, headers, maxBytes);
      if (problem !== undefined) return fail(problem);
      response = openResponse({ status, statusText, headers }, isError, maxBytes, {
        event(event) {
          if (isSettled) return;
          trace?.({ kind: 'body', text: eventText(event) });
          if (exchange.onEvent?.(event) === 'stop') succeed();
        },
        // undici releases the connection one turn later. A request sent earlier would open another connection.
        end: () => setImmediate(() => setImmediate(succeed, true)),
        error: fail,
      });
      const bodyMs = exchange.bodyMs ?? (isError ? ERROR_BODY_MS : undefined);
      if (bodyMs === undefined) return;
      clearTimeout(timer);
      timer = startTimer(Math.min(bodyMs, deadline - now()), succeed);
    },
    onResponseData: (_controller, chunk) => response?.write(chunk),
    onResponseEnd: () => response?.end(),
    onResponseError: (_controller, error) =>
      fail(networkError(error, { target: endpoint, phase: phase(), connectMs })),
  };
}

/** Opens a response for reading. The sink receives the events of a stream, then `end` or `error`. */
function openResponse(
  { status, statusText, headers }: Pick<Reply, 'status' | 'statusText' | 'headers'>,
  isError: boolean,
  maxBytes: number,
  sink: { event(event: SseEvent): void; end(): void; error(error: unknown): void },
) {
  const contentType = firstValue(headers['content-type']) ?? '';
  const body = bodyReader({ contentType, maxBytes, lenient: isError, onEvent: sink.event });
  const decoder = contentDecoder(firstValue(headers['content-encoding']) ?? '', maxBytes, {
    chunk: body.feed,
    end() {
      body.end();
      sink.end();
    },
    error: sink.error,
  });
  const reply = (): Reply => ({ status, statusText, headers, text: body.text(), isStream: body.isStream() });
  return { isError, reply, ...decoder };
}

function startTimer(ms: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(ms, MAX_TIMER_MS));
}

function timeoutError({ host }: URL, phase: Phase, { totalMs }: CallLimits): AppError {
  const limit = formatDuration(totalMs);
  const message = {
    connecting: `no connection to ${host} within ${limit}`,
    waiting: `no response from ${host} within ${limit}`,
    reading: `the response from ${host} did not finish within ${limit}`,
  }[phase];
  return new AppError('timeout', message, { reason: 'time', host });
}

/** Returns the error of a redirect, an unknown status, or a body that is too large. */
function responseProblem(
  endpoint: URL,
  status: number,
  headers: HeaderFields,
  maxBytes: number,
): AppError | undefined {
  const { host } = endpoint;
  if (status < 200 || status > 599) {
    return new AppError('bad_response', `${host}: unexpected HTTP status ${status}`, { status, host });
  }
  // RFC 9110, section 15.3.6: a 205 has no content.
  if (status === 205) {
    return new AppError('bad_response', `${host} sent HTTP 205, which has no content`, { status, host });
  }
  if (status >= 300 && status < 400) {
    return new AppError(
      'http_error',
      `${host} redirects ${destination(endpoint, headers)} (${status}); redirects are not followed`,
      { status, host },
    );
  }
  return Number(firstValue(headers['content-length'])) > maxBytes ? tooLarge(maxBytes) : undefined;
}

function destination(endpoint: URL, headers: HeaderFields): string {
  const location = firstValue(headers.location);
  if (location === undefined) return 'without a Location';
  const url = parseUrl(location, endpoint.href);
  if (url === undefined) return 'to an invalid URL';
  return /^https?:$/.test(url.protocol) ? `to ${url.origin}` : `to a ${url.protocol} URL`;
}

/** Formats an event as lines. */
export function eventText({ event, id, retry, data }: SseEvent): string {
  const fields = Object.entries({ event, id, retry }).filter(([, value]) => value !== undefined);
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  if (data !== '' || lines.length === 0) lines.push(...data.split('\n').map((line) => `data: ${line}`));
  return lines.join('\n');
}

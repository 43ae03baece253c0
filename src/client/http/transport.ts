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

/** A response whose body is being read. */
interface IncomingResponse {
  readonly head: Pick<Reply, 'status' | 'statusText' | 'headers'>;
  readonly body: ReturnType<typeof bodyReader>;
  readonly decoder: ReturnType<typeof contentDecoder>;
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
  const { endpoint, trace, connectMs = CONNECT_MS } = options;
  const proxy = proxyFor(endpoint, options.env);
  let dispatcher: Promise<HttpDispatcher> | undefined;
  const open = async () => {
    const { openDispatcher } = await import('./dispatcher.ts');
    return openDispatcher(connectMs, proxy);
  };
  return {
    /**
     * Sends one HTTP request and reads the response. Redirects are not followed.
     * @throws {AppError} `network`, `timeout`, `tls`, `bad_response`; `http_error` for a redirect; the signal's reason
     */
    async send({ signal, deadline, totalMs }: CallLimits, exchange: Exchange): Promise<Reply> {
      const { method, headers, body } = exchange;
      signal.throwIfAborted();
      dispatcher ??= open();
      const http = await dispatcher;
      signal.throwIfAborted();
      return new Promise((resolve, reject) => {
        let maxBytes = options.maxBodyBytes ?? MAX_BODY_BYTES;
        let phase: Phase = 'connecting';
        let settled = false;
        let abort: (() => void) | undefined;
        let response: IncomingResponse | undefined;
        let isError = false;
        let received = 0;

        // One time limit for the whole exchange, so that it also applies to a slow response and an endless stream.
        const timeLeft = Math.max(0, deadline - options.now());
        let timer = setTimeout(() => fail(timeoutError()), Math.min(timeLeft, MAX_TIMER_MS));
        const ignoreAbort = onAbort(signal, () => {
          reject(signal.reason);
          close();
        });

        function timeoutError(): AppError {
          const limit = formatDuration(totalMs);
          const message = {
            connecting: `no connection to ${endpoint.host} within ${limit}`,
            waiting: `no response from ${endpoint.host} within ${limit}`,
            reading: `the response from ${endpoint.host} did not end within ${limit}`,
          }[phase];
          return new AppError('timeout', message, { reason: 'time' });
        }
        /** Ends the exchange. The connection is kept only after a complete response. */
        function close(isComplete = false): void {
          settled = true;
          clearTimeout(timer);
          ignoreAbort();
          response?.decoder.destroy();
          if (!isComplete) abort?.();
        }
        function succeed(isComplete: boolean): void {
          if (settled || response === undefined) return;
          const { body, head } = response;
          const reply = { text: body.text(), isStream: body.isStream(), ...head };
          if (!reply.isStream) trace?.({ kind: 'body', text: reply.text });
          resolve(reply);
          close(isComplete);
        }
        function fail(error: unknown): void {
          // Reports the status of an error even if its body is invalid.
          if (isError) succeed(false);
          if (settled) return;
          reject(error);
          close();
        }
        /** Runs a step of reading the response. An error ends the exchange. */
        function guard(step: () => void): void {
          if (settled) return;
          try {
            step();
          } catch (error) {
            fail(error);
          }
        }

        const handler: Dispatcher.DispatchHandler = {
          onRequestStart(controller) {
            abort = () => controller.abort(new AppError('network', 'dropped'));
            if (settled) return abort();
            phase = 'waiting';
          },
          onResponseStart: (_controller, status, fields, statusText = '') =>
            guard(() => {
              if (status < 200 && status !== 101) return;
              phase = 'reading';
              trace?.({ kind: 'response', status, statusText, headers: fieldList(fields) });
              isError = status >= 400 && status <= 599;
              if (isError) maxBytes = Math.min(maxBytes, MAX_ERROR_BYTES);
              else assertReadable(endpoint, status, fields, maxBytes);
              const body = bodyReader({
                contentType: firstValue(fields['content-type']) ?? '',
                maxBytes,
                lenient: isError,
                onEvent(event) {
                  if (settled) return;
                  trace?.({ kind: 'body', text: eventText(event) });
                  if (exchange.onEvent?.(event) === 'stop') succeed(false);
                },
              });
              const decoder = contentDecoder(firstValue(fields['content-encoding']) ?? '', {
                chunk: (chunk) => guard(() => body.feed(chunk)),
                end() {
                  guard(() => body.end());
                  // undici releases the connection one turn later. A request sent earlier would open another connection.
                  setImmediate(() => setImmediate(succeed, true));
                },
                error: fail,
              });
              response = { head: { status, statusText, headers: fields }, body, decoder };
              const bodyMs = exchange.bodyMs ?? (isError ? ERROR_BODY_MS : undefined);
              if (bodyMs === undefined) return;
              clearTimeout(timer);
              timer = setTimeout(succeed, Math.min(bodyMs, deadline - options.now()), false);
            }),
          onResponseData: (_controller, chunk) =>
            guard(() => {
              received += chunk.length;
              if (received > maxBytes) throw tooLarge(maxBytes);
              response?.decoder.write(chunk);
            }),
          onResponseEnd: () => response?.decoder.end(),
          onResponseError: (_controller, error) =>
            fail(networkError(error, { target: endpoint, phase, connectMs })),
        };

        if (timeLeft === 0) return fail(timeoutError());
        const url = endpoint.href;
        trace?.({ kind: 'request', method, url, headers: Object.entries(headers), ...(body && { body }) });
        const { origin, pathname, search } = endpoint;
        const path = pathname + search;
        guard(() =>
          http.dispatch({ origin, path, method, headers: { ...headers }, body: body ?? null }, handler),
        );
      });
    },
    async close(): Promise<void> {
      await (await dispatcher)?.close();
    },
  };
}

/** @throws {AppError} for a redirect, an unknown status, or a body that is too large */
function assertReadable(endpoint: URL, status: number, headers: HeaderFields, maxBytes: number): void {
  const { host } = endpoint;
  if (status < 200 || status > 599) {
    throw new AppError('bad_response', `${host}: unexpected HTTP status ${status}`, { status });
  }
  // RFC 9110, section 15.3.6: a 205 has no content.
  if (status === 205) {
    throw new AppError('bad_response', `${host} sent HTTP 205, which has no content`, { status });
  }
  if (status >= 300 && status < 400) {
    throw new AppError(
      'http_error',
      `${host} redirects ${destination(endpoint, headers)} (${status}); redirects are not followed`,
      { status, hint: 'check the base URL: restaurant status' },
    );
  }
  if (Number(firstValue(headers['content-length'])) > maxBytes) throw tooLarge(maxBytes);
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

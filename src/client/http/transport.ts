import type { Dispatcher } from 'undici';
import { AppError } from '../../errors.ts';
import { formatDuration } from '../../util/duration.ts';
import { type BodyReader, bodyReader, type ContentDecoder, contentDecoder, tooLarge } from './body.ts';
import type { HttpDispatcher } from './dispatcher.ts';
import {
  type Exchange,
  eventText,
  fieldList,
  firstValue,
  type HeaderFields,
  type Reply,
  type TransportOptions,
} from './exchange.ts';
import { ExchangeError, networkError, type Phase } from './network-error.ts';
import { type ProxyServer, proxyFor } from './proxy.ts';

export interface Transport {
  /**
   * One HTTP exchange. Redirects are not followed.
   * @throws {AppError} `network`, `timeout`, `tls`, `bad_response`; `http_error` for a redirect; the signal's reason
   */
  send(exchange: Exchange): Promise<Reply>;
  close(): Promise<void>;
}

const CONNECT_MS = 10_000;
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Opens the way to one endpoint. Loads the HTTP library with the first exchange. @throws {AppError} `usage` for a bad proxy */
export function openTransport(options: TransportOptions): Transport {
  const proxy = proxyFor(options.endpoint, options.env);
  let dispatcher: Promise<HttpDispatcher> | undefined;
  const open = async () => {
    const { openDispatcher } = await import('./dispatcher.ts');
    return openDispatcher({ connectMs: options.connectMs ?? CONNECT_MS, proxy });
  };
  return {
    async send(exchange) {
      exchange.signal.throwIfAborted();
      dispatcher ??= open();
      const http = await dispatcher;
      exchange.signal.throwIfAborted();
      return run(http, proxy, options, exchange);
    },
    async close() {
      await (await dispatcher)?.close();
    },
  };
}

function run(
  http: HttpDispatcher,
  proxy: ProxyServer | undefined,
  options: TransportOptions,
  exchange: Exchange,
): Promise<Reply> {
  const { endpoint, trace, connectMs = CONNECT_MS, maxBodyBytes = MAX_BODY_BYTES } = options;
  const { method, headers, body, signal } = exchange;
  return new Promise((resolve, reject) => {
    let phase: Phase = 'connecting';
    let settled = false;
    let abort: (() => void) | undefined;
    let head: Pick<Reply, 'status' | 'statusText' | 'headers'> | undefined;
    let reader: BodyReader | undefined;
    let decoder: ContentDecoder | undefined;
    let received = 0;

    const clock = openDeadline(options, exchange, () => phase, fail);
    const onAbort = () => fail(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });

    function settle(): boolean {
      if (settled) return false;
      settled = true;
      clock.stop();
      signal.removeEventListener('abort', onAbort);
      decoder?.destroy();
      return true;
    }
    function fail(error: unknown): void {
      if (!settle()) return;
      reject(error);
      abort?.();
    }
    function succeed(stopped: boolean): void {
      if (head === undefined || reader === undefined || !settle()) return;
      const text = reader.text();
      if (!reader.isStream()) trace?.({ kind: 'body', text });
      resolve({ ...head, text, isStream: reader.isStream(), stopped });
      if (stopped) abort?.();
    }
    /** Runs what reads the answer; what it throws ends the exchange. */
    function guard(read: () => void): void {
      if (settled) return;
      try {
        read();
      } catch (error) {
        fail(error);
      }
    }

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        abort = () => controller.abort(new ExchangeError('network', 'reset', 'dropped'));
        if (settled) return abort();
        phase = 'waiting';
      },
      onResponseStart: (_controller, status, fields, statusText = '') =>
        guard(() => {
          if (status < 200 && status !== 101) return;
          phase = 'reading';
          head = { status, statusText, headers: fields };
          trace?.({ kind: 'response', status, statusText, headers: fieldList(fields) });
          assertReadable(endpoint, status, fields, maxBodyBytes);
          const read = bodyReader({
            contentType: firstValue(fields['content-type']) ?? '',
            maxBytes: maxBodyBytes,
            onEvent(event) {
              if (settled) return;
              trace?.({ kind: 'body', text: eventText(event) });
              if (exchange.onEvent?.(event) === 'stop') succeed(true);
            },
          });
          reader = read;
          const coding = firstValue(fields['content-encoding']);
          decoder = contentDecoder(coding, (chunk) => guard(() => read.feed(chunk)), fail);
          if (exchange.bodyMs !== undefined) clock.drain(exchange.bodyMs, () => succeed(true));
        }),
      onResponseData: (_controller, chunk) =>
        guard(() => {
          received += chunk.length;
          if (received > maxBodyBytes) throw tooLarge(maxBodyBytes);
          if (decoder === undefined) reader?.feed(chunk);
          else decoder.write(chunk);
        }),
      async onResponseEnd() {
        await decoder?.end();
        guard(() => reader?.end());
        // undici gives the connection back a turn later; whoever sends at once would open another.
        setImmediate(() => setImmediate(succeed, false));
      },
      onResponseError: (_controller, error) =>
        fail(
          networkError(error, {
            target: endpoint,
            proxy: proxy?.url,
            phase,
            connectMs,
            judgement: http.judge(error),
          }),
        ),
    };

    clock.start();
    if (settled) return;
    trace?.({
      kind: 'request',
      method,
      url: endpoint.href,
      headers: Object.entries(headers),
      ...(body === undefined ? {} : { body }),
    });
    const path = endpoint.pathname + endpoint.search;
    const request = { origin: endpoint.origin, path, method, headers: { ...headers } };
    guard(() => http.dispatch(body === undefined ? request : { ...request, body }, handler));
  });
}

/** setTimeout takes no more. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface Deadline {
  /** Where no time is left, the exchange ends at once. */
  start(): void;
  /** The rest of the answer is not waited for longer than `ms`. */
  drain(ms: number, done: () => void): void;
  stop(): void;
}

/**
 * The time limit of an exchange. There is one for all of it: it also ends an answer that drips, and one that keeps its
 * connection alive for ever.
 */
export function openDeadline(
  { endpoint, now }: TransportOptions,
  { deadline, totalMs }: Exchange,
  phase: () => Phase,
  fail: (error: AppError) => void,
): Deadline {
  const { host } = endpoint;
  const left = Math.max(0, deadline - now());
  const within = formatDuration(totalMs ?? left);
  const tell = {
    connecting: `no connection to ${host} within ${within}`,
    waiting: `no answer from ${host} within ${within}`,
    reading: `the answer of ${host} did not end within ${within}`,
  };
  const late = () => fail(new ExchangeError('timeout', 'time', tell[phase()]));
  let timer: NodeJS.Timeout | undefined;
  return {
    start() {
      if (left === 0) late();
      else timer = setTimeout(late, Math.min(left, MAX_TIMER_MS));
    },
    drain: (ms, done) => {
      clearTimeout(timer);
      timer = setTimeout(done, ms);
    },
    stop: () => clearTimeout(timer),
  };
}

/** @throws {AppError} for answers whose body is not wanted: redirects, unknown statuses, one that is too large */
export function assertReadable(endpoint: URL, status: number, headers: HeaderFields, maxBytes: number): void {
  const { host } = endpoint;
  if (status < 200 || status > 599) {
    throw new AppError('bad_response', `${host} answered with the unknown or unasked status ${status}`, {
      status,
    });
  }
  // RFC 9110, section 15.3.6: whatever follows a 205 is not its content.
  if (status === 205)
    throw new AppError('bad_response', `${host} answered with 205, which holds no answer`, { status });
  if (status >= 300 && status < 400) {
    throw new AppError(
      'http_error',
      `${host} redirects ${destination(endpoint, headers)} (${status}); not followed`,
      {
        status,
        hint: 'check the base URL: restaurant status',
      },
    );
  }
  const length = Number(firstValue(headers['content-length']) ?? 0);
  if (length > maxBytes) throw tooLarge(maxBytes);
}

function destination(endpoint: URL, headers: HeaderFields): string {
  const location = firstValue(headers.location);
  if (location === undefined) return 'without saying where';
  if (!URL.canParse(location, endpoint.href)) return 'to what is no URL';
  const url = new URL(location, endpoint);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `to a ${url.protocol} URL`;
  return endpoint.protocol === 'https:' && url.protocol === 'http:'
    ? `to unprotected http at ${url.host}`
    : `to ${url.host}`;
}

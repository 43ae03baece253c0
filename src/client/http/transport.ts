import type { Dispatcher } from 'undici';
import { onAbort } from '../../util/async.ts';
import { parseUrl } from '../../util/url.ts';
import { badResponse, ServiceError } from '../service-error.ts';
import { type HttpResponse, type ResponseHead, ResponseReader, type SseEvent, tooLarge } from './body.ts';
import type { HttpDispatcher } from './dispatcher.ts';
import { fieldList, firstValue, type HeaderField, type HeaderFields } from './headers.ts';
import { networkError, type Phase } from './network-error.ts';
import { type ProxyServer, type ProxyVariables, proxyFor } from './proxy.ts';

interface TransportOptions {
  readonly endpoint: URL;
  readonly env: ProxyVariables;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Maximum time to connect, ms. Default: 10,000. */
  readonly connectMs?: number;
  /** Maximum size of a body in bytes, both as transferred and decoded. Default: 64 MiB. */
  readonly maxBodyBytes?: number | undefined;
  trace?(event: TraceEvent): void;
}

export interface CallLimits {
  readonly signal: AbortSignal;
  /** Milliseconds since the epoch. */
  readonly deadline: number;
  /** Time limit of the whole call for messages, ms. */
  readonly totalMs: number;
}

export interface HttpRequest {
  readonly method: 'POST' | 'GET' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Maximum wait for the end of a body that is not needed, ms. */
  readonly bodyMs?: number;
  /** Gets each event of a stream. After `stop` nothing more is read and the connection is closed. */
  onEvent?(event: SseEvent): 'stop' | undefined;
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
  | { readonly kind: 'note'; readonly text: string };

export type Transport = Pick<HttpTransport, 'send' | 'close'>;

const CONNECT_MS = 10_000;
const MAX_BODY_BYTES = 64 * 1024 * 1024;
/** Limits for the body of an error response, which only explains the status. */
const MAX_ERROR_BYTES = 256 * 1024;
const ERROR_BODY_MS = 2000;
const MAX_TIMER_MS = 2 ** 31 - 1;

export const openTransport = (options: TransportOptions): Transport => new HttpTransport(options);

class HttpTransport {
  readonly #options: TransportOptions;
  readonly #proxy: ProxyServer | undefined;
  #dispatcher: Promise<HttpDispatcher> | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#proxy = proxyFor(options.endpoint, options.env);
  }

  /** Redirects are not followed. @throws {AppError} of the network, or of a response that cannot be read; the signal's reason */
  async send(limits: CallLimits, request: HttpRequest): Promise<HttpResponse> {
    const { endpoint, now, trace } = this.#options;
    const { method, headers, body } = request;
    limits.signal.throwIfAborted();
    this.#dispatcher ??= this.#open();
    const { dispatch } = await this.#dispatcher;
    limits.signal.throwIfAborted();
    if (limits.deadline <= now()) throw timeoutError(endpoint, 'connecting', limits);
    const { href: url, origin, pathname, search } = endpoint;
    trace?.({ kind: 'request', method, url, headers: Object.entries(headers), ...(body && { body }) });
    const handler = new ExchangeHandler(this.#options, limits, request);
    const path = pathname + search;
    dispatch({ origin, path, method, headers: { ...headers }, body: body ?? null }, handler);
    const response = await handler.response;
    if (!response.isStream) trace?.({ kind: 'body', text: response.text });
    return response;
  }

  async close(): Promise<void> {
    await (await this.#dispatcher)?.close();
  }

  async #open(): Promise<HttpDispatcher> {
    const { endpoint, connectMs = CONNECT_MS } = this.#options;
    const { openDispatcher } = await import('./dispatcher.ts');
    return openDispatcher(endpoint.hostname, connectMs, this.#proxy);
  }
}

/** Follows one exchange, as undici reports it, until its end or its time limit. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #options: TransportOptions;
  readonly #limits: CallLimits;
  readonly #request: HttpRequest;
  #resolve!: (response: HttpResponse) => void;
  #reject!: (error: unknown) => void;
  readonly response = new Promise<HttpResponse>((resolve, reject) => {
    this.#resolve = resolve;
    this.#reject = reject;
  });
  readonly #ignoreAbort: () => void;
  #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #reader: ResponseReader | undefined;
  #isSettled = false;

  constructor(options: TransportOptions, limits: CallLimits, request: HttpRequest) {
    this.#options = options;
    this.#limits = limits;
    this.#request = request;
    const { signal, deadline } = limits;
    // One time limit for the whole exchange, so that it also applies to a slow response and an endless stream.
    this.#timer = startTimer(deadline - options.now(), () =>
      this.#fail(timeoutError(options.endpoint, this.#phase, limits)),
    );
    this.#ignoreAbort = onAbort(signal, () => this.#settle(() => this.#reject(signal.reason)));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isSettled) this.#abort();
  }

  onResponseStart(_: unknown, status: number, headers: HeaderFields, statusText = ''): void {
    if (status < 200 && status !== 101) return;
    try {
      this.#open({ status, statusText, headers });
    } catch (error) {
      // undici would report it as an error of the connection.
      this.#fail(error);
    }
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    this.#reader?.write(chunk);
  }

  onResponseEnd(): void {
    this.#reader?.end();
  }

  onResponseError(_: unknown, error: Error): void {
    const { endpoint: target, connectMs = CONNECT_MS } = this.#options;
    this.#fail(networkError(error, { target, phase: this.#phase, connectMs }));
  }

  get #phase(): Phase {
    if (this.#controller === undefined) return 'connecting';
    return this.#reader === undefined ? 'waiting' : 'reading';
  }

  #open(head: ResponseHead): void {
    const { endpoint, trace, maxBodyBytes = MAX_BODY_BYTES, now } = this.#options;
    const { status, statusText, headers } = head;
    trace?.({ kind: 'response', status, statusText, headers: fieldList(headers) });
    const isError = status >= 400 && status <= 599;
    const maxBytes = isError ? Math.min(maxBodyBytes, MAX_ERROR_BYTES) : maxBodyBytes;
    if (!isError) assertReadable(endpoint, head, maxBytes);
    this.#reader = new ResponseReader(head, isError, maxBytes, {
      event: (event) => this.#onEvent(event),
      // undici releases the connection one turn later. A request sent earlier would open another connection.
      end: () => setImmediate(() => setImmediate(() => this.#succeed(true))),
      error: (error) => this.#fail(error),
    });
    const bodyMs = this.#request.bodyMs ?? (isError ? ERROR_BODY_MS : undefined);
    if (bodyMs === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = startTimer(Math.min(bodyMs, this.#limits.deadline - now()), () => this.#succeed());
  }

  #onEvent(event: SseEvent): void {
    if (this.#isSettled) return;
    this.#options.trace?.({ kind: 'body', text: eventText(event) });
    if (this.#request.onEvent?.(event) === 'stop') this.#succeed();
  }

  #succeed(isComplete = false): void {
    const reader = this.#reader;
    if (reader !== undefined) this.#settle(() => this.#resolve(reader.response), isComplete);
  }

  #fail(error: unknown): void {
    // Reports the status of an error even if its body is invalid.
    if (this.#reader?.isError) this.#succeed();
    else this.#settle(() => this.#reject(error));
  }

  /** Ends the exchange. The connection is kept only after a complete response. */
  #settle(report: () => void, isComplete = false): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    this.#ignoreAbort();
    this.#reader?.destroy();
    if (!isComplete) this.#abort();
    report();
  }

  #abort(): void {
    this.#controller?.abort(dropped());
  }
}

/** Without a stack, as nobody reads it. */
const dropped = () => Object.assign(new Error('dropped'), { stack: '' });

function startTimer(ms: number, act: () => void): NodeJS.Timeout {
  return setTimeout(act, Math.min(ms, MAX_TIMER_MS));
}

function timeoutError({ host }: URL, phase: Phase, { totalMs: limitMs }: CallLimits): ServiceError {
  return new ServiceError('timeout', { reason: 'time', host, phase, limitMs });
}

/** @throws {AppError} for a redirect, an unknown status, or a body that is too large */
function assertReadable(endpoint: URL, { status, headers }: ResponseHead, maxBytes: number): void {
  const { host } = endpoint;
  if (status < 200 || status > 599) {
    throw badResponse(`unexpected HTTP status ${status}`, { status, host });
  }
  // RFC 9110, section 15.3.6: a 205 has no content.
  if (status === 205) {
    throw badResponse('it sent HTTP 205, which has no content', { status, host });
  }
  if (status >= 300 && status < 400) {
    const target = parseUrl(firstValue(headers.location) ?? '', endpoint.href);
    const problem = `the service redirects ${destination(headers, target)} (${status}); redirects are not followed`;
    const isElsewhere = target !== undefined && target.hostname !== endpoint.hostname;
    throw new ServiceError('http_error', {
      problem,
      status,
      host,
      ...(isElsewhere && { reason: 'other_host' }),
    });
  }
  if (Number(firstValue(headers['content-length'])) > maxBytes) throw tooLarge(maxBytes);
}

function destination({ location }: HeaderFields, url: URL | undefined): string {
  if (location === undefined) return 'without a Location';
  if (url === undefined) return 'to an invalid URL';
  return /^https?:$/.test(url.protocol) ? `to ${url.origin}` : `to a ${url.protocol} URL`;
}

function eventText({ event, id, retry, data }: SseEvent): string {
  const fields = Object.entries({ event, id, retry }).filter(([, value]) => value !== undefined);
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  if (data !== '' || lines.length === 0) lines.push(...data.split('\n').map((line) => `data: ${line}`));
  return lines.join('\n');
}

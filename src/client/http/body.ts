import { getBuiltinModule } from 'node:process';
import type { Transform } from 'node:stream';
import { createParser, type EventSourceParser } from 'eventsource-parser';
import { badResponse, type ServiceError } from '../service-error.ts';
import { firstValue, type HeaderFields } from './headers.ts';

export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderFields;
  /** The body; empty for a stream of events. If the status is an error, only the readable part of it. */
  readonly text: string;
  readonly isStream: boolean;
}

/** An event of a stream. A retry time is a separate event, with empty data. */
export interface SseEvent {
  readonly event?: string | undefined;
  readonly data: string;
  readonly id?: string | undefined;
  /** Milliseconds to wait before reconnecting. */
  readonly retry?: number;
  /** The stream ended before the blank line that closes the block; the standard discards such a block. */
  readonly unfinished?: true;
}

/** Decodes server-sent events (HTML standard, section 9.2.6) from text that may be split anywhere. */
export class SseDecoder {
  readonly #parser: EventSourceParser;
  #isEnding = false;
  #endedInReturn = false;

  constructor(maxChars: number, onEvent: (event: SseEvent) => void) {
    const emit = (event: SseEvent): void => onEvent(this.#isEnding ? { ...event, unfinished: true } : event);
    this.#parser = createParser({
      maxBufferSize: maxChars,
      onRetry: (retry) => emit({ data: '', retry }),
      onEvent: emit,
      onError({ type }) {
        if (type !== 'max-buffer-size-exceeded') return;
        throw badResponse(`an event of the response is longer than ${maxChars} characters`);
      },
    });
  }

  /** @throws {ServiceError} `bad_response` when one event is longer than the limit */
  feed(text: string): void {
    if (text === '') return;
    // A CR ends a line at once. The parser would wait for the LF that may follow.
    const rest = this.#endedInReturn && text.startsWith('\n') ? text.slice(1) : text;
    this.#endedInReturn = text.endsWith('\r');
    this.#parser.feed(this.#endedInReturn ? `${rest}\n` : rest);
  }

  end(): void {
    this.#isEnding = true;
    this.#parser.feed('\n\n');
  }
}

export function mediaType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

export function tooLarge(maxBytes: number): ServiceError {
  const mib = maxBytes / 1024 / 1024;
  const limit = mib >= 1 ? `${Math.round(mib * 10) / 10} MiB` : `${maxBytes} bytes`;
  return badResponse(`the response is larger than ${limit}`, { reason: 'too_large' });
}

/** Number of characters after which, if all are white space, the media type decides. */
const SNIFF_CHARS = 1024;
const FIELD_CHARS = 'event:'.length;
const FIELD = /^(?::|(?:data|event|id|retry)(?::|\r|\n))/;

function sniff(seen: string, type: string, isLast: boolean): 'text' | 'events' | undefined {
  const start = seen.trimStart();
  if (/^[{[]/.test(start)) return 'text';
  if (start.length < FIELD_CHARS && seen.length <= SNIFF_CHARS && !isLast) return undefined;
  return type === 'text/event-stream' || FIELD.test(start) ? 'events' : 'text';
}

function declaresOtherCharset(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]?.toLowerCase();
  return charset !== undefined && !['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset);
}

function openCoding(name: string): Transform {
  const zlib = getBuiltinModule('node:zlib');
  if (name === 'gzip' || name === 'x-gzip') return zlib.createGunzip();
  if (name === 'br') return zlib.createBrotliDecompress();
  // Requires Node.js 22.15.
  if (name === 'zstd' && 'createZstdDecompress' in zlib)
    return (zlib.createZstdDecompress as () => Transform)();
  if (name === 'deflate') return zlib.createInflate();
  throw badResponse(`unknown Content-Encoding "${name.slice(0, 40)}" in the response`);
}

export type ResponseHead = Pick<HttpResponse, 'status' | 'statusText' | 'headers'>;

interface Sink {
  event(event: SseEvent): void;
  end(): void;
  /** Gets a `bad_response`: the body is too large, cannot be decompressed, or is not UTF-8 although it says so. */
  error(error: unknown): void;
}

/**
 * Reads a response as it is transferred: text, or events as they arrive. If the first characters contradict the media type,
 * they decide, because some servers send the wrong one. The charset is always UTF-8. A `Content-Encoding` (RFC 9110,
 * section 8.4) is decoded: none is requested, but some servers and proxies compress regardless.
 */
export class ResponseReader {
  /** Whether the body only explains a status. Then bytes that are not UTF-8 are replaced with U+FFFD. */
  readonly isError: boolean;
  readonly #head: ResponseHead;
  readonly #maxBytes: number;
  readonly #sink: Sink;
  readonly #contentType: string;
  readonly #coding: string;
  readonly #decoder: InstanceType<typeof TextDecoder>;
  #received = 0;
  #decompressed = 0;
  #decompressor: Transform | undefined;
  #parts: string[] = [];
  #events: SseDecoder | undefined;
  #isText = false;

  constructor(head: ResponseHead, isError: boolean, maxBytes: number, sink: Sink) {
    const coding = (firstValue(head.headers['content-encoding']) ?? '').trim().toLowerCase();
    this.isError = isError;
    this.#head = head;
    this.#maxBytes = maxBytes;
    this.#sink = sink;
    this.#contentType = firstValue(head.headers['content-type']) ?? '';
    this.#coding = coding === 'identity' ? '' : coding;
    this.#decoder = new TextDecoder('utf-8', { fatal: !isError && declaresOtherCharset(this.#contentType) });
  }

  get response(): HttpResponse {
    return { ...this.#head, text: this.#parts.join(''), isStream: this.#events !== undefined };
  }

  write(chunk: Uint8Array): void {
    this.#guard(() => {
      this.#received += chunk.length;
      if (this.#received > this.#maxBytes) throw tooLarge(this.#maxBytes);
      if (this.#coding === '') this.#read(chunk);
      else this.#decompress(chunk);
    });
  }

  end(): void {
    if (this.#decompressor === undefined) this.#finish();
    else this.#decompressor.end();
  }

  destroy(): void {
    this.#decompressor?.destroy();
  }

  #decompress(chunk: Uint8Array): void {
    this.#decompressor ??= openCoding(this.#coding)
      .on('data', (part: Uint8Array) => {
        this.#guard(() => {
          this.#decompressed += part.length;
          if (this.#decompressed > this.#maxBytes) throw tooLarge(this.#maxBytes);
          this.#read(part);
        });
      })
      .on('end', () => this.#finish())
      .on('error', (cause) => {
        const problem = `the response is labeled as compressed (${this.#coding}) but cannot be decompressed`;
        this.#sink.error(badResponse(problem, { cause }));
      });
    this.#decompressor.write(chunk);
  }

  #read(chunk?: Uint8Array): void {
    const text = this.#decode(chunk);
    if (this.#events !== undefined) {
      this.#events.feed(text);
      return;
    }
    this.#parts.push(text);
    if (this.#isText) return;
    const seen = this.#parts.join('');
    const kind = sniff(seen, mediaType(this.#contentType), chunk === undefined);
    this.#isText = kind === 'text';
    if (kind !== 'events') return;
    this.#parts = [];
    this.#events = new SseDecoder(this.#maxBytes, this.#sink.event);
    this.#events.feed(seen);
  }

  #decode(chunk?: Uint8Array): string {
    try {
      return this.#decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw badResponse('the response is not UTF-8, which JSON requires', { cause });
    }
  }

  #finish(): void {
    this.#guard(() => {
      this.#read();
      this.#events?.end();
      this.#sink.end();
    });
  }

  #guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#sink.error(error);
    }
  }
}

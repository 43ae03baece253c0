import { getBuiltinModule } from 'node:process';
import type { Transform } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { AppError } from '../../errors.ts';

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
export function sseDecoder(maxChars: number, onEvent: (event: SseEvent) => void) {
  let isEnding = false;
  const emit = (event: SseEvent): void => onEvent(isEnding ? { ...event, unfinished: true } : event);
  const parser = createParser({
    maxBufferSize: maxChars,
    onRetry: (retry) => emit({ data: '', retry }),
    onEvent: emit,
    onError({ type }) {
      if (type !== 'max-buffer-size-exceeded') return;
      throw new AppError('bad_response', `an event of the response is longer than ${maxChars} characters`);
    },
  });
  return {
    /** @throws {AppError} `bad_response` when one event is longer than the limit */
    feed: (text: string): void => parser.feed(text),
    /** Ends the stream: emits the pending block, marked as unfinished. */
    end() {
      isEnding = true;
      parser.feed('\n\n');
    },
  };
}

/**
 * Reads a decompressed body: text, or events as they arrive. If the first characters contradict the media type, they
 * decide, because some servers send the wrong one. The charset is always UTF-8.
 */
export function bodyReader({
  contentType,
  maxBytes,
  lenient = false,
  onEvent,
}: {
  contentType: string;
  maxBytes: number;
  /** Replace bytes that are not UTF-8 with U+FFFD, even if another charset is declared. */
  lenient?: boolean;
  onEvent(event: SseEvent): void;
}) {
  const decoder = new TextDecoder('utf-8', { fatal: !lenient && declaresOtherCharset(contentType) });
  const parts: string[] = [];
  let stream: ReturnType<typeof sseDecoder> | undefined;
  let isText = false;
  let bytes = 0;

  function read(chunk?: Uint8Array): void {
    let text: string;
    try {
      text = decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw new AppError('bad_response', 'the response is not UTF-8, which JSON requires', { cause });
    }
    if (stream === undefined) parts.push(text);
    else stream.feed(text);
    if (isText || stream !== undefined) return;
    const seen = parts.join('');
    const kind = sniff(seen, mediaType(contentType), chunk === undefined);
    isText = kind === 'text';
    if (kind !== 'events') return;
    parts.length = 0;
    stream = sseDecoder(maxBytes, onEvent);
    stream.feed(seen);
  }

  return {
    /**
     * @throws {AppError} `bad_response` if it is larger than the limit, or if another charset is declared and it is not
     * UTF-8
     */
    feed(chunk: Uint8Array): void {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      read(chunk);
    },
    /** The body ended normally. @throws {AppError} as `feed` */
    end(): void {
      read();
      stream?.end();
    },
    /** Returns the body so far as text; empty for a stream of events. */
    text: () => parts.join(''),
    isStream: () => stream !== undefined,
  };
}

/** Returns the part of a Content-Type before the first `;`, in lower case. */
export function mediaType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Returns the error for a body over the limit. */
export function tooLarge(maxBytes: number): AppError {
  const mib = maxBytes / 1024 / 1024;
  const limit = mib >= 1 ? `${Math.round(mib * 10) / 10} MiB` : `${maxBytes} bytes`;
  const message = `the response is larger than ${limit}`;
  return new AppError('bad_response', message, { reason: 'too_large', limit: maxBytes });
}

/** Number of characters after which, if all are white space, the media type decides. */
const SNIFF_CHARS = 1024;
/** Length of the longest field name, with its colon. */
const FIELD_CHARS = 'event:'.length;
const FIELD = /^(?::|(?:data|event|id|retry)(?::|\r|\n))/;

/** Decides between text and events; undefined while there are too few characters. */
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

/**
 * Creates the stream that decodes a coding. zlib is loaded with the first compressed response.
 * @throws {AppError} `bad_response` for an unknown coding
 */
function openCoding(name: string): Transform {
  const zlib = getBuiltinModule('node:zlib');
  if (name === 'gzip' || name === 'x-gzip') return zlib.createGunzip();
  if (name === 'br') return zlib.createBrotliDecompress();
  // Requires Node.js 22.15.
  if (name === 'zstd' && 'createZstdDecompress' in zlib)
    return (zlib.createZstdDecompress as () => Transform)();
  if (name === 'deflate') return zlib.createInflate();
  throw new AppError('bad_response', `unknown Content-Encoding "${name.slice(0, 40)}" in the response`);
}

/**
 * Decodes a `Content-Encoding` (RFC 9110, section 8.4). None is requested, but some servers and proxies compress
 * regardless.
 * @param maxBytes maximum size of the compressed body
 * @param sink receives the decoded chunks, then `end`; `error` receives decoding errors, and errors of the other two
 */
export function contentDecoder(
  coding: string,
  maxBytes: number,
  sink: { chunk(chunk: Uint8Array): void; end(): void; error(error: unknown): void },
) {
  function guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      sink.error(error);
    }
  }
  const emit = (chunk: Uint8Array): void => guard(() => sink.chunk(chunk));
  const emitEnd = (): void => guard(sink.end);
  const name = coding.trim().toLowerCase();
  if (name === '' || name === 'identity') return { write: emit, end: emitEnd, destroy() {} };

  let stream: Transform | undefined;
  let received = 0;
  function onStreamError(cause: unknown): void {
    const message = `the response is labeled as compressed (${name}) but cannot be decompressed`;
    sink.error(new AppError('bad_response', message, { cause }));
  }
  return {
    write(chunk: Uint8Array): void {
      guard(() => {
        received += chunk.length;
        if (received > maxBytes) throw tooLarge(maxBytes);
        stream ??= openCoding(name).on('data', emit).on('end', emitEnd).on('error', onStreamError);
        stream.write(chunk);
      });
    },
    end(): void {
      if (stream === undefined) emitEnd();
      else stream.end();
    },
    /** Stops immediately. */
    destroy(): void {
      stream?.destroy();
    },
  };
}

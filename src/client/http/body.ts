import { getBuiltinModule } from 'node:process';
import type { Transform } from 'node:stream';
import { createParser } from 'eventsource-parser';
import { AppError } from '../../errors.ts';

/** One block of an event stream. Its data is empty without a `data:` line (blocks that only set an id). */
export interface SseEvent {
  readonly event?: string;
  readonly data: string;
  readonly id?: string;
  /** Milliseconds to wait before reconnecting. */
  readonly retry?: number;
  /** The stream ended before the blank line that closes the block; the standard discards such a block. */
  readonly unfinished?: true;
}

/** Decodes server-sent events (HTML standard, section 9.2.6) from text that may be split anywhere. */
export function sseDecoder(maxChars: number, onEvent: (event: SseEvent) => void) {
  /** The id of a block for which no data has come. */
  let idOnly: string | undefined;
  let isEnding = false;

  const parser = createParser({
    maxBufferSize: maxChars,
    onId(id) {
      flush();
      idOnly = id;
    },
    onRetry(retry) {
      flush();
      emit({ data: '', retry });
    },
    onEvent({ id, event, data }) {
      if (id === undefined) flush();
      idOnly = undefined;
      emit({ ...(event === undefined ? {} : { event }), data, ...(id === undefined ? {} : { id }) });
    },
    onError({ type }) {
      if (type !== 'max-buffer-size-exceeded') return;
      throw new AppError('bad_response', `an event of the response is longer than ${maxChars} characters`);
    },
  });

  const emit = (event: SseEvent): void => onEvent(isEnding ? { ...event, unfinished: true } : event);

  function flush(): void {
    if (idOnly !== undefined) emit({ data: '', id: idOnly });
    idOnly = undefined;
  }

  /** @throws {AppError} `bad_response` when one event is longer than the limit */
  function feed(text: string): void {
    parser.feed(text);
    flush();
  }

  return {
    feed,
    /** Ends the stream: emits the pending block, marked as unfinished. */
    end() {
      isEnding = true;
      feed('\n\n');
    },
  };
}

export type BodyReader = ReturnType<typeof bodyReader>;

/**
 * Reads a decompressed body: text, or events as they arrive. Its first characters decide which where they contradict
 * the media type, since some servers label one as the other. The charset is UTF-8 whatever is declared.
 */
export function bodyReader({
  contentType,
  maxBytes,
  lenient = false,
  onEvent,
}: {
  contentType: string;
  maxBytes: number;
  /** Bytes that are not UTF-8 become U+FFFD, whatever charset is declared. */
  lenient?: boolean;
  onEvent(event: SseEvent): void;
}) {
  const decoder = new TextDecoder('utf-8', { fatal: !lenient && declaresOtherCharset(contentType) });
  // Most responses are not streams.
  let stream: ReturnType<typeof sseDecoder> | undefined;
  const parts: string[] = [];
  let isText = false;
  let bytes = 0;

  /** @throws {AppError} `bad_response` for bytes that are not UTF-8 where another charset is declared */
  function decode(chunk?: Uint8Array): string {
    try {
      return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
    } catch (cause) {
      throw new AppError('bad_response', 'the response is not UTF-8, which JSON requires', { cause });
    }
  }

  function take(text: string, isLast: boolean): void {
    if (stream === undefined) parts.push(text);
    else stream.feed(text);
    if (isText || stream !== undefined) return;
    const seen = parts.join('');
    const kind = sniff(seen, mediaType(contentType), isLast);
    isText = kind === 'text';
    if (kind !== 'events') return;
    parts.length = 0;
    stream = sseDecoder(maxBytes, onEvent);
    stream.feed(seen);
  }

  return {
    /** @throws {AppError} `bad_response`: larger than the limit, or not UTF-8 where another charset is declared */
    feed(chunk: Uint8Array): void {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      take(decode(chunk), false);
    },
    /** The body ended normally. */
    end(): void {
      take(decode(), true);
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

/** The error of a body over the limit. */
export function tooLarge(maxBytes: number): AppError {
  const mib = maxBytes / 1024 / 1024;
  const limit = mib >= 1 ? `${Math.round(mib * 10) / 10} MiB` : `${maxBytes} bytes`;
  return new AppError('bad_response', `the response is larger than ${limit}`, {
    hint: `search more narrowly, or allow more: --max-body ${Math.max(64, Math.ceil(mib * 4))}MiB`,
  });
}

/** White space at the start of a body is skipped up to here; then the media type decides. */
const SNIFF_CHARS = 1024;
const FIELD = /^(?::|(?:data|event|id|retry)(?::|\r|\n))/;
const FIELD_START = /^(?:d(?:a(?:t(?:a)?)?)?|e(?:v(?:e(?:n(?:t)?)?)?)?|i(?:d)?|r(?:e(?:t(?:r(?:y)?)?)?)?)$/;

/** Decides between text and events; `unknown` while the first characters allow both. */
function sniff(seen: string, type: string, isLast: boolean): 'unknown' | 'text' | 'events' {
  const start = seen.trimStart();
  const decide = isLast || seen.length > SNIFF_CHARS;
  if (start === '' && !decide) return 'unknown';
  if (start.startsWith('{') || start.startsWith('[')) return 'text';
  if (type === 'text/event-stream' || FIELD.test(start)) return 'events';
  return FIELD_START.test(start) && !decide ? 'unknown' : 'text';
}

function declaresOtherCharset(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]?.toLowerCase();
  return charset !== undefined && !['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset);
}

/** Creates the stream that decodes a coding; undefined for an unknown one. zlib is loaded with the first compressed response. */
function openCoding(name: string, first: Uint8Array): Transform | undefined {
  const zlib = getBuiltinModule('node:zlib');
  if (name === 'gzip' || name === 'x-gzip') return zlib.createGunzip();
  if (name === 'br') return zlib.createBrotliDecompress();
  // From Node 22.15 on.
  if (name === 'zstd' && 'createZstdDecompress' in zlib)
    return (zlib.createZstdDecompress as () => Transform)();
  if (name !== 'deflate') return undefined;
  // Some servers leave out the zlib wrapper (RFC 1950) that "deflate" means.
  return ((first[0] ?? 8) & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw();
}

export type ContentDecoder = NonNullable<ReturnType<typeof contentDecoder>>;

/**
 * Decodes a `Content-Encoding` (RFC 9110, section 8.4). None is requested, but some servers and proxies compress anyway.
 * @param onError gets an AppError `bad_response` for an unknown coding or a damaged body, once
 * @returns undefined where there is nothing to decode
 */
export function contentDecoder(
  coding: string | undefined,
  onData: (chunk: Uint8Array) => void,
  onError: (error: AppError) => void,
) {
  const name = (coding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return undefined;
  let stream: Transform | undefined;
  let failed = false;
  let finish: () => void = () => {};
  const fail = (message: string, cause?: unknown) => {
    if (failed) return;
    failed = true;
    onError(new AppError('bad_response', message, { cause }));
    finish();
  };
  return {
    write(chunk: Uint8Array): void {
      if (failed || chunk.length === 0) return;
      stream ??= openCoding(name, chunk)
        ?.on('data', onData)
        .on('error', (cause) =>
          fail(`the response is labeled as compressed (${name}) but cannot be decompressed`, cause),
        )
        .on('end', () => finish());
      if (stream === undefined) fail(`unknown Content-Encoding "${name.slice(0, 40)}" in the response`);
      else stream.write(chunk);
    },
    /** Ends the input; resolves when everything is decoded. */
    end(): Promise<void> {
      if (failed || stream === undefined) return Promise.resolve();
      return new Promise((resolve) => {
        finish = resolve;
        stream?.end();
      });
    },
    /** Stops at once. */
    destroy(): void {
      failed = true;
      stream?.on('error', () => {}).destroy();
      finish();
    },
  };
}

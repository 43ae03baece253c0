import { getBuiltinModule } from 'node:process';
import type { Transform } from 'node:stream';
import { AppError } from '../../errors.ts';
import { type SseDecoder, type SseEvent, sseDecoder } from './sse.ts';

export interface BodyReader {
  /** @throws {AppError} `bad_response`: larger than the cap, not UTF-8 where it claims another charset */
  feed(chunk: Uint8Array): void;
  /** The body ended in good order. */
  end(): void;
  /** The body as text; empty where it was a stream of events. */
  text(): string;
  isStream(): boolean;
}

export interface BodyOptions {
  readonly contentType: string;
  readonly maxBytes: number;
  onEvent(event: SseEvent): void;
}

/**
 * Reads a decoded body: text, or events as they come. What it is follows from its first characters where those
 * contradict the media type: some servers label one as the other. The charset is UTF-8 whatever is claimed.
 */
export function bodyReader({ contentType, maxBytes, onEvent }: BodyOptions): BodyReader {
  const decoder = new TextDecoder('utf-8', { fatal: claimsOtherCharset(contentType) });
  // Most answers are no streams.
  let stream: SseDecoder | undefined;
  const parts: string[] = [];
  let kind: 'unknown' | 'text' | 'events' = 'unknown';
  let bytes = 0;

  function take(text: string, last: boolean): void {
    if (stream !== undefined) {
      stream.feed(text);
      return;
    }
    parts.push(text);
    if (kind === 'text') return;
    const seen = parts.join('');
    kind = sniff(seen, mediaType(contentType), last);
    if (kind !== 'events') return;
    parts.length = 0;
    stream = sseDecoder(maxBytes, onEvent);
    stream.feed(seen);
  }

  return {
    feed(chunk) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      take(
        decode(() => decoder.decode(chunk, { stream: true })),
        false,
      );
    },
    end() {
      take(
        decode(() => decoder.decode()),
        true,
      );
      stream?.end();
    },
    text: () => parts.join(''),
    isStream: () => kind === 'events',
  };
}

/** What stands before the first `;` of a Content-Type, in lower case. */
export function mediaType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** The answer exceeds the cap. */
export function tooLarge(maxBytes: number): AppError {
  const mib = Math.round(maxBytes / 1024 / 1024);
  const cap = mib >= 1 ? `${mib} MiB` : `${maxBytes} bytes`;
  return new AppError('bad_response', `the answer is larger than ${cap}`, {
    hint: 'ask more narrowly: restaurant find <full name> --city <city>',
  });
}

/** Blanks in front of a body end here, and it is what its media type says. */
const SNIFF_CHARS = 1024;
const FIELD = /^(?::|(?:data|event|id|retry)(?::|\r|\n))/;
const FIELD_START = /^(?:d(?:a(?:t(?:a)?)?)?|e(?:v(?:e(?:n(?:t)?)?)?)?|i(?:d)?|r(?:e(?:t(?:r(?:y)?)?)?)?)$/;

/** Text or events? Undecided while the first characters allow both. */
function sniff(seen: string, type: string, last: boolean): 'unknown' | 'text' | 'events' {
  const start = seen.trimStart();
  const decide = last || seen.length > SNIFF_CHARS;
  if (start === '' && !decide) return 'unknown';
  if (start.startsWith('{') || start.startsWith('[')) return 'text';
  if (type === 'text/event-stream' || FIELD.test(start)) return 'events';
  return FIELD_START.test(start) && !decide ? 'unknown' : 'text';
}

function claimsOtherCharset(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]?.toLowerCase();
  return charset !== undefined && !['utf-8', 'utf8', 'us-ascii', 'ascii'].includes(charset);
}

function decode(run: () => string): string {
  try {
    return run();
  } catch (cause) {
    throw new AppError('bad_response', 'the answer is not UTF-8, as JSON has to be', { cause });
  }
}

export interface ContentDecoder {
  write(chunk: Uint8Array): void;
  /** No more comes; resolves when all is decoded. */
  end(): Promise<void>;
  /** Stops at once. */
  destroy(): void;
}

/**
 * Undoes a `Content-Encoding` (RFC 9110, section 8.4). We ask for none, but some servers and proxies compress anyway.
 * @param onError gets an AppError `bad_response` for a damaged body, once
 * @returns undefined where nothing is to be undone
 * @throws {AppError} `bad_response` for a coding that is not known
 */
export function contentDecoder(
  coding: string | undefined,
  onData: (chunk: Uint8Array) => void,
  onError: (error: AppError) => void,
): ContentDecoder | undefined {
  const name = (coding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') return undefined;
  const open = OPENERS[name];
  if (open === undefined || !Object.hasOwn(OPENERS, name)) throw unknown(name);
  return feed(name, open, onData, onError);
}

/** Loaded with the first answer that is compressed. */
const zlib = () => getBuiltinModule('node:zlib');

type Opener = (first: Uint8Array) => Transform;

const OPENERS: Readonly<Record<string, Opener>> = {
  gzip: () => zlib().createGunzip(),
  'x-gzip': () => zlib().createGunzip(),
  // Some servers leave out the zlib wrapper (RFC 1950) that "deflate" means.
  deflate: (first) => (((first[0] ?? 8) & 0x0f) === 8 ? zlib().createInflate() : zlib().createInflateRaw()),
  br: () => zlib().createBrotliDecompress(),
  zstd: () => {
    const found = zlib();
    // From Node 22.15 on.
    if (!('createZstdDecompress' in found)) throw unknown('zstd');
    return (found.createZstdDecompress as () => Transform)();
  },
};

function feed(
  name: string,
  open: Opener,
  onData: (chunk: Uint8Array) => void,
  onError: (error: AppError) => void,
): ContentDecoder {
  let stream: Transform | undefined;
  let failed = false;
  let finish: () => void = () => {};
  const fail = (cause: unknown) => {
    if (failed) return;
    failed = true;
    const message = `the answer says it is compressed (${name}) and cannot be decompressed`;
    onError(cause instanceof AppError ? cause : new AppError('bad_response', message, { cause }));
    finish();
  };
  return {
    write(chunk) {
      if (failed || chunk.length === 0) return;
      try {
        stream ??= open(chunk)
          .on('data', onData)
          .on('error', fail)
          .on('end', () => finish());
      } catch (error) {
        return fail(error);
      }
      stream.write(chunk);
    },
    end() {
      if (failed || stream === undefined) return Promise.resolve();
      return new Promise((resolve) => {
        finish = resolve;
        stream?.end();
      });
    },
    destroy() {
      failed = true;
      stream?.on('error', () => {}).destroy();
      finish();
    },
  };
}

function unknown(name: string): AppError {
  return new AppError('bad_response', `the answer comes in the unknown encoding "${name.slice(0, 40)}"`);
}

import { getBuiltinModule } from 'node:process';
import type { Transform } from 'node:stream';
import { AppError } from '../errors.ts';

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

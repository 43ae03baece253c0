// Files that the user names are opened once, without following a link, and judged by their descriptor.

import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  read,
  statSync,
  writeSync,
} from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Context } from '../context.ts';
import { failure, systemCode } from '../errors.ts';
import { fileError, ioError, openNoFollow, perform, TempFile } from './files.ts';
import { foreignOwner } from './trust.ts';
import { resolveInput, type UserPath, type UserPathContext } from './user-paths.ts';

const { O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = constants;
const CHUNK = 65_536;
const PERMISSIONS = 0o777;
const MAX_PAUSE_MS = 20;
const readAt = promisify(read);

const openResolved = ({ path, isShellPipe }: UserPath, flags: number): number =>
  isShellPipe ? openSync(path, flags | O_NONBLOCK) : openNoFollow(path, flags);

export interface UserInput {
  readonly stats: BigIntStats;
  /** Those of a file can be read repeatedly, up to the size that it had when it was opened. */
  chunks(signal: AbortSignal): AsyncGenerator<Uint8Array>;
  close(): void;
}

/** @throws {AppError} `bad_input` for a link that leads away; otherwise the system's error */
export function openUserInput(path: string, context: UserPathContext, typed?: string): UserInput {
  const target = resolveInput(path, context, typed);
  const file = openResolved(target, O_RDONLY);
  const stats = fstatSync(file, { bigint: true });
  return {
    stats,
    chunks: (signal) =>
      stats.isFile() ? fileChunks(file, Number(stats.size)) : streamChunks(file, target.isShellPipe, signal),
    close: () => closeSync(file),
  };
}

async function* fileChunks(file: number, size: number): AsyncGenerator<Uint8Array> {
  // The files of /proc have the size 0.
  for (let at = 0; at < size || size === 0; ) {
    const length = size === 0 ? CHUNK : Math.min(CHUNK, size - at);
    const { bytesRead, buffer } = await readAt(file, Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0 && size === 0) return;
    if (bytesRead === 0) throw fileError('ETRUNCATED', 'truncated');
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function* streamChunks(file: number, isOpen: boolean, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const isPipe = fstatSync(file).isFIFO();
  let hasWriter = isOpen || !isPipe;
  for (;;) {
    const buffer = Buffer.allocUnsafe(CHUNK);
    const count = await poll('EAGAIN', signal, async () => {
      const { bytesRead } = await readAt(file, buffer, 0, CHUNK, null);
      return bytesRead > 0 || hasWriter ? bytesRead : undefined;
    });
    if (count === 0) return;
    hasWriter = true;
    yield buffer.subarray(0, count);
  }
}

export async function readUserFile(
  path: string,
  max: number,
  context: UserPathContext & Pick<Context, 'signal'>,
  typed?: string,
): Promise<{ readonly bytes: Buffer; readonly stats: BigIntStats }> {
  const input = openUserInput(path, context, typed);
  try {
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of input.chunks(context.signal)) {
      size += part.length;
      if (size > max) throw fileError('ETOOLARGE', 'too large');
      parts.push(part);
    }
    return { bytes: Buffer.concat(parts), stats: input.stats };
  } finally {
    input.close();
  }
}

export type OutputContent = string | Uint8Array | AsyncIterable<string | Uint8Array>;

interface WriteOptions {
  readonly signal: AbortSignal;
  /** Of a new file, limited by the umask. Default 0644. A file that is replaced keeps its mode. */
  readonly mode?: number;
  /** Called when all is written: whether the file is put in place. It is not if this throws. */
  readonly confirm?: () => boolean;
}

/**
 * Creates or replaces a file as a whole, or writes to a device. If there was nothing when the path was resolved, nothing is
 * replaced.
 * @throws {AppError} `io_error`; `in_use` on Windows; otherwise the errors of `content`
 */
export async function writeUserFile(
  target: UserPath,
  content: OutputContent,
  { signal, mode = 0o644, confirm = () => true }: WriteOptions,
): Promise<void> {
  if (target.entry === 'device') return writeDevice(target, content, signal);
  const { path, entry } = target;
  const old = entry === 'nothing' ? undefined : lstatSync(path, { throwIfNoEntry: false });
  const file = perform('write', path, () => new TempFile(path, old?.isFile() ? 0o600 : mode));
  try {
    for await (const chunk of chunksOf(content)) perform('write', path, () => file.write(chunk));
    if (old?.isFile()) perform('write', path, () => file.setMode(old.mode & PERMISSIONS));
    const isConfirmed = confirm();
    perform('write', path, () =>
      isConfirmed ? file.commit({ isDurable: true, isNew: entry === 'nothing' }) : file.discard(),
    );
  } catch (error) {
    file.discard();
    throw error;
  }
}

async function* chunksOf(content: OutputContent): AsyncGenerator<Uint8Array> {
  const parts = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
  let text = '';
  for await (const part of parts) {
    const isText = typeof part === 'string';
    if (isText) text += part;
    if (isText && text.length < CHUNK) continue;
    yield Buffer.from(text);
    text = '';
    if (!isText) yield part;
  }
  yield Buffer.from(text);
}

async function writeDevice(target: UserPath, content: OutputContent, signal: AbortSignal): Promise<void> {
  const device = await openDevice(target, signal);
  try {
    for await (const chunk of chunksOf(content)) await device.write(chunk);
  } catch (error) {
    throw systemCode(error) === undefined ? error : ioError('write', target.path, error);
  } finally {
    device.close();
  }
}

interface UserDevice {
  write(data: string | Uint8Array): Promise<void>;
  close(): void;
}

/** Waits until a named pipe has a reader. @throws {AppError} `io_error` if it is a file by now, or of another user */
export async function openDevice(target: UserPath, signal: AbortSignal): Promise<UserDevice> {
  const waitsFor = statSync(target.path).isFIFO() ? 'ENXIO' : undefined;
  const file = await poll(waitsFor, signal, () => openResolved(target, O_WRONLY));
  const stats = fstatSync(file);
  const owner = stats.isFIFO() && !target.isShellPipe ? foreignOwner(stats) : undefined;
  const reason = stats.isFile() ? 'a file has replaced it' : owner;
  if (reason !== undefined) {
    closeSync(file);
    throw failure('io_error', `refusing to write ${target.path}: ${reason}`, {
      text: 'choose a directory that you own',
    });
  }
  return {
    async write(data) {
      let rest: Uint8Array = Buffer.from(data);
      while (rest.length > 0) {
        const bytes = rest;
        rest = bytes.subarray(await poll('EAGAIN', signal, () => writeSync(file, bytes)));
      }
    },
    close: () => closeSync(file),
  };
}

/** Tries again while there is no result, or the system reports `code`. @throws the signal's reason */
async function poll<T>(
  code: string | undefined,
  signal: AbortSignal,
  attempt: () => T | Promise<T>,
): Promise<Exclude<T, undefined>> {
  for (let ms = 1; ; ms = Math.min(ms * 2, MAX_PAUSE_MS)) {
    try {
      const result = await attempt();
      if (result !== undefined) return result as Exclude<T, undefined>;
    } catch (error) {
      if (code === undefined || systemCode(error) !== code) throw error;
    }
    signal.throwIfAborted();
    await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

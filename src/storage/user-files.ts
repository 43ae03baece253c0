// Files that the user names. Their paths may lead through a cloned repository or a folder of another user, so a link that
// leads out of the current folder is refused, and a file is opened once and judged by its descriptor.

import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  read,
  realpathSync,
  statSync,
  writeSync,
} from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Context } from '../context.ts';
import { attempt, failure, systemCode, usage } from '../errors.ts';
import type { Hint } from '../hint.ts';
import { traitsOf } from '../util/platform.ts';
import { fileError, followLinks, openNoFollow } from './files.ts';
import { foreignOwner } from './trust.ts';

const { O_NONBLOCK = 0, O_RDONLY, O_WRONLY } = constants;
const CHUNK = 65_536;
const MAX_PAUSE_MS = 20;
const readAt = promisify(read);

export type PathContext = Pick<Context, 'cwd' | 'platform'>;
export type Entry = 'nothing' | 'file' | 'folder' | 'device';

/** A path without links. A pipe of the shell (`/dev/fd/63`) has no other path. */
export interface UserPath {
  readonly path: string;
  readonly isShellPipe: boolean;
  /** A link without a target counts as a file, because writing would create it. */
  readonly entry: Entry;
}

/** @throws {AppError} `usage` for a link that leads out of the current folder; `io_error` for a link of another user */
export function resolveOutput(path: string, context: PathContext, mayLeave: boolean): UserPath {
  const refusal = (reason: string, hint: Hint) => usage(`refusing to write ${path}: ${reason}`, hint);
  if (traitsOf(context.platform).hasDeviceNames && isReservedName(path))
    throw refusal('Windows reserves this name for a device', { text: 'name another file with -o' });
  const { outside, ...target } = resolveLinks(path, context, false);
  if (outside === undefined || mayLeave) return target;
  throw refusal(outside, [
    { text: 'name another file' },
    { text: 'or, if you trust the link, the file that it leads to' },
  ]);
}

function resolveInput(path: string, context: PathContext): UserPath {
  const { outside, ...target } = resolveLinks(path, context, true);
  if (outside === undefined) return target;
  throw failure('bad_input', `refusing to read ${path}: ${outside}`, {
    text: 'if you trust the link, name the file that it leads to',
  });
}

/** @returns also why the path is refused, if a link leads out of the current folder */
function resolveLinks(
  path: string,
  context: PathContext,
  anyOwner: boolean,
): UserPath & { readonly outside: string | undefined } {
  const folder = attempt(() => realpathSync(context.cwd()));
  const links: string[] = [];
  const end = followLinks(path, { onLink: (link) => links.push(link), anyOwner });
  const leaves = links.some((link) => isInside(folder, link)) && !isInside(folder, end);
  const entry = entryAt(path);
  const isShellPipe = entry === 'device' && !exists(end);
  return {
    path: isShellPipe ? path : end,
    isShellPipe,
    entry,
    outside: leaves ? `its link leads out of the current folder, to ${end}` : undefined,
  };
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

function entryAt(path: string): Entry {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return exists(path) ? 'file' : 'nothing';
  if (stats.isFile()) return 'file';
  return stats.isDirectory() ? 'folder' : 'device';
}

function isInside(folder: string | undefined, path: string): boolean {
  if (folder === undefined) return false;
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Whether Windows opens a device instead of a file of this name, whatever its folder and extension. */
export function isReservedName(path: string): boolean {
  const [name = ''] = (path.split(/[\\/]/).at(-1) ?? '').split(/[.:]/, 1);
  return /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])$/i.test(name.trimEnd());
}

const openResolved = ({ path, isShellPipe }: UserPath, flags: number): number =>
  isShellPipe ? openSync(path, flags | O_NONBLOCK) : openNoFollow(path, flags);

export interface UserInput {
  readonly stats: BigIntStats;
  readonly descriptor: number;
  /** Those of a file can be read repeatedly, up to the size that it had when it was opened. */
  chunks(signal: AbortSignal): AsyncGenerator<Uint8Array>;
  close(): void;
}

/** @throws {AppError} `bad_input` for a link that leads out of the current folder; otherwise the system's error */
export function openUserInput(path: string, context: PathContext): UserInput {
  const target = resolveInput(path, context);
  const file = openResolved(target, O_RDONLY);
  const stats = fstatSync(file, { bigint: true });
  return {
    stats,
    descriptor: file,
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
  context: PathContext & Pick<Context, 'signal'>,
): Promise<{ readonly bytes: Buffer; readonly stats: BigIntStats }> {
  const input = openUserInput(path, context);
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

export interface UserDevice {
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

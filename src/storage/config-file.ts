import {
  closeSync,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { AppError, systemCode } from '../errors.ts';
import { shellWord } from '../util/shell.ts';
import { ensurePrivateFolder, sweepTemps, tempName, tightenFolder } from './atomic.ts';
import { flushFolder, followOwnLinks, isNotRegularFile, openRegularFile, readAll } from './files.ts';
import { ioError, ioReason } from './io-error.ts';
import { type Clock, withLock } from './lock.ts';

/** A saved login. What is not named here is kept as it is. */
export interface Profile {
  key?: string;
  /** Origin (scheme, host, port) that the key may be sent to. */
  key_origin?: string;
  base_url?: string;
  endpoint?: string;
  [key: string]: unknown;
}

/** The config file. What is not named here is kept as it is. */
export interface ConfigFile {
  settings?: Record<string, unknown>;
  profiles?: Record<string, Profile>;
  [key: string]: unknown;
}

export type Warn = (message: string) => void;

const MAX_BYTES = 1_048_576;
const OTHERS = 0o077;
const PROFILE_TEXTS = ['key', 'key_origin', 'base_url', 'endpoint'] as const;

/** Path of the config file in its folder. */
export function configPath(configDir: string): string {
  return join(configDir, 'config.json');
}

/**
 * Reads the config file; a missing one is `{}`. A file or folder of ours that others may read is tightened first.
 * @throws {AppError} `bad_config` when it holds no config (the file is left alone); `io_error` when it cannot be read.
 */
export function readConfig(path: string, warn?: Warn): ConfigFile {
  const text = readText(path, warn);
  return text === undefined ? {} : parseConfig(path, text);
}

/** The same for text that was read already. @param path as errors name it. @throws {AppError} `bad_config`. */
export function parseConfig(path: string, text: string): ConfigFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // No cause: the parser's message quotes the text, which may be a key.
    throw invalidConfig(path, text.trim() === '' ? 'it is empty' : 'it is not JSON');
  }
  if (!isObject(value)) throw invalidConfig(path, 'it holds no JSON object');
  const { settings, profiles } = value;
  if (settings !== undefined && !isObject(settings)) throw invalidConfig(path, '"settings" is not an object');
  if (profiles !== undefined && !isObject(profiles)) throw invalidConfig(path, '"profiles" is not an object');
  for (const [name, profile] of Object.entries(profiles ?? {})) assertProfile(path, name, profile);
  return value;
}

function assertProfile(path: string, name: string, profile: unknown): void {
  const place = `profiles[${JSON.stringify(name)}]`;
  if (!isObject(profile)) throw invalidConfig(path, `${place} is not an object`);
  for (const field of PROFILE_TEXTS) {
    const value = profile[field];
    if (value !== undefined && typeof value !== 'string') {
      throw invalidConfig(path, `${place}.${field} is not a string`);
    }
  }
}

function readText(path: string, warn: Warn | undefined): string | undefined {
  let file: number;
  try {
    file = openRegularFile(path);
  } catch (error) {
    // A home that is no folder holds no config either.
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw unreadable(path, error);
  }
  try {
    tighten(file, fstatSync(file).mode, path, warn);
    return decode(path, readAll(file, MAX_BYTES));
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    closeSync(file);
  }
}

function unreadable(path: string, error: unknown): AppError {
  return isNotRegularFile(error)
    ? invalidConfig(path, ioReason(error))
    : ioError('read the config file', path, error);
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    // The decoder drops a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidConfig(path, 'it is not UTF-8 text');
  }
}

function tighten(file: number, mode: number, path: string, warn: Warn | undefined): void {
  if (tightenFolder(dirname(path))) warn?.(`${dirname(path)} was open to other users; now it is yours alone`);
  if ((mode & OTHERS) === 0) return;
  try {
    fchmodSync(file, 0o600);
    if ((fstatSync(file).mode & OTHERS) === 0)
      warn?.(`${path} was open to other users; now it is yours alone`);
  } catch {
    // Someone else's file or a read-only disk: reading it is still right.
  }
}

function invalidConfig(path: string, why: string): AppError {
  return new AppError('bad_config', `the config file ${path} cannot be used: ${why}`, {
    hint: `correct it, or start afresh: mv ${shellWord(path)} ${shellWord(`${path}.bak`)} && restaurant login`,
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The config file, for those who change it. Reading alone needs only `read.ts`. */
export interface ConfigStore {
  readonly path: string;
  /** Whether there is a config file. */
  exists(): boolean;
  /** @throws {AppError} `bad_config`, `io_error`. */
  read(): ConfigFile;
  /**
   * Lets `change` edit the newest content and saves it: whole or not at all, one process after the other.
   * Nothing is saved when `change` throws.
   * @throws {AppError} `bad_config` when the file is damaged (it is left alone); `io_error`; `in_use`.
   */
  update(change: (file: ConfigFile) => void | Promise<void>): Promise<void>;
}

export interface StoreOptions {
  /** Told when a folder or file was open to other users and is not any more. */
  readonly warn?: Warn;
  /** For waiting on another process that writes. Default: the system's clock. */
  readonly clock?: Clock;
}

type ConfClass = typeof import('conf').default;

const LOCK_WAIT_MS = 15_000;

/** Opens the config file of this folder. Touches nothing until asked. */
export function openConfigStore(configDir: string, { warn, clock }: StoreOptions = {}): ConfigStore {
  const path = configPath(configDir);
  return {
    path,
    exists: () => existsSync(path),
    read: () => readConfig(path, warn),
    async update(change) {
      const Conf = await loadConf();
      if (ensurePrivateFolder(configDir))
        warn?.(`${configDir} was open to other users; now it is yours alone`);
      await withLock(
        path,
        async () => {
          const file = readConfig(path, warn);
          await change(file);
          replace(Conf, path, file);
        },
        { waitMs: LOCK_WAIT_MS, ...(clock === undefined ? {} : { clock }) },
      );
    },
  };
}

/**
 * conf writes a new file beside the old one; what arrived is compared before it takes the old one's place, since on a
 * full disk conf loses the tail of a file without a word.
 */
function replace(Conf: ConfClass, path: string, file: ConfigFile): void {
  const target = targetOf(path);
  const folder = dirname(target);
  const name = tempName();
  const temp = join(folder, name);
  const text = `${JSON.stringify(file, undefined, 2)}\n`;
  // What could not be read again is not written.
  parseConfig(path, text);
  // We hold the lock: whatever lies there was left by a killed writer, and may hold a key that was forgotten since.
  sweepTemps(folder, Number.POSITIVE_INFINITY);
  try {
    const conf = new Conf<ConfigFile>({
      cwd: folder,
      configName: name.slice(0, -'.tmp'.length),
      fileExtension: 'tmp',
      configFileMode: 0o600,
      clearInvalidConfig: false,
      accessPropertiesByDotNotation: false,
      serialize: () => text,
    });
    conf.store = file;
    if (readFileSync(temp, 'utf8') !== text) {
      throw new AppError(
        'io_error',
        `cannot write ${path}: the disk took only a part of it, as when it is full`,
      );
    }
    flushFile(temp);
    renameSync(temp, target);
    flushFolder(folder);
  } catch (error) {
    throw ioError('write', path, error);
  } finally {
    rmSync(temp, { force: true });
  }
}

/** Where a config file that is a link is written. */
function targetOf(path: string): string {
  try {
    return followOwnLinks(path);
  } catch (error) {
    throw ioError('write', path, error);
  }
}

/**
 * conf brings signal handlers that kill the process (to delete its temporary files, which we sweep ourselves): with
 * them a first Ctrl-C would count as two. SIGXFSZ gets an idle handler, because without any it would end the process
 * now, where Node lets the write fail.
 */
async function loadConf(): Promise<ConfClass> {
  const before = new Map(signalNames().map((name) => [name, process.listeners(name)]));
  const { default: Conf } = await import('conf');
  for (const name of signalNames()) {
    for (const listener of process.listeners(name)) {
      if (before.get(name)?.includes(listener)) continue;
      if (name === 'SIGXFSZ') process.on(name, () => {});
      process.removeListener(name, listener);
    }
  }
  return Conf;
}

function signalNames(): NodeJS.Signals[] {
  return process.eventNames().filter((name): name is NodeJS.Signals => String(name).startsWith('SIG'));
}

function flushFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

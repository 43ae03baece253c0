import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';
import { AppError, systemCode } from '../errors.ts';
import { isObject, type JsonObject } from '../util/object.ts';
import { shellWord } from '../util/shell.ts';
import { deleteFiles, ensurePrivateFolder } from './atomic.ts';
import { assertOwnedPath, type FileContent, followLinks, isNotRegularFile, readOwnFile } from './files.ts';
import { ioError, ioReason } from './io-error.ts';
import { withLock } from './lock.ts';

/** A saved login. Fields that are not named here are kept as they are. */
export interface Profile {
  key?: string;
  /** Origin (scheme, host, port) that the key may be sent to. */
  key_origin?: string;
  base_url?: string;
  endpoint?: string;
  /** Additional request headers, which go to the service of the profile only. */
  headers?: Record<string, string>;
  [key: string]: unknown;
}

/** The config file. Fields that are not named here are kept as they are. */
export interface ConfigFile {
  settings?: JsonObject;
  profiles?: Record<string, Profile>;
  [key: string]: unknown;
}

type Warn = (message: string) => void;

const MAX_BYTES = 1_048_576;
const READABLE_BY_OTHERS = 0o044;
const WRITABLE_BY_OTHERS = 0o022;
const LOCK_WAIT_MS = 15_000;
const PROFILE_TEXTS = ['key', 'key_origin', 'base_url', 'endpoint'] as const;
const OTHER_FOLDER = 'set HOME or RESTAURANT_CONFIG_DIR to a folder that you can write to';

/** Returns a profile of the config file; adds it where it is missing. */
export function profileOf(file: ConfigFile, name: string): Profile {
  file.profiles ??= {};
  const profile = Object.hasOwn(file.profiles, name) ? (file.profiles[name] ?? {}) : {};
  file.profiles[name] = profile;
  return profile;
}

/** Returns the address of the service that a profile is for. */
export const serviceOf = ({ endpoint, base_url, key_origin }: Profile): string | undefined =>
  endpoint ?? base_url ?? key_origin;

/**
 * Reads the config file; a missing one is `{}`.
 * @throws {AppError} `bad_config` when it cannot be used (the file is left alone); `io_error` when it cannot be read.
 */
export function readConfig(path: string, warn?: Warn): ConfigFile {
  const text = readText(path, warn);
  return text === undefined ? {} : parseConfig(path, text);
}

/** Parses the text of a config file. @param path as errors name it. @throws {AppError} `bad_config`. */
export function parseConfig(path: string, text: string): ConfigFile {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Without a cause: the parser's message quotes the text, which may be a key.
    throw invalidConfig(path, text.trim() === '' ? 'it is empty' : 'it is not JSON');
  }
  const problem = shapeProblem(value);
  if (problem !== undefined) throw invalidConfig(path, problem);
  return value as ConfigFile;
}

function shapeProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'it is not a JSON object';
  const { settings = {}, profiles = {} } = value;
  if (!isObject(settings)) return '"settings" is not an object';
  if (!isObject(profiles)) return '"profiles" is not an object';
  for (const [name, profile] of Object.entries(profiles)) {
    const place = `profiles[${JSON.stringify(name)}]`;
    if (!isObject(profile)) return `${place} is not an object`;
    const wrong = PROFILE_TEXTS.find((field) => !['string', 'undefined'].includes(typeof profile[field]));
    if (wrong !== undefined) return `${place}.${wrong} is not a string`;
    const headers = profile.headers ?? {};
    if (!isObject(headers)) return `${place}.headers is not an object`;
    const header = Object.keys(headers).find((name) => typeof headers[name] !== 'string');
    if (header !== undefined) return `${place}.headers[${JSON.stringify(header)}] is not a string`;
  }
  return undefined;
}

function readText(path: string, warn: Warn | undefined): string | undefined {
  let content: FileContent;
  try {
    content = readOwnFile(resolveLinks(path), MAX_BYTES);
  } catch (error) {
    // When a part of HOME is not a folder, there is no config file either.
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    if (error instanceof AppError) throw invalidConfig(path, error.message, OTHER_FOLDER);
    if (isNotRegularFile(error)) throw invalidConfig(path, ioReason(error));
    throw ioError('read the config file', path, error, OTHER_FOLDER);
  }
  checkPermissions(path, content.stats.mode, warn);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content.bytes);
  } catch {
    throw invalidConfig(path, 'it is not UTF-8 text');
  }
}

/** Follows the link of a config file that is kept elsewhere, among dotfiles. @throws {AppError} for another user's link. */
function resolveLinks(path: string): string {
  if (!lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) return path;
  const target = followLinks(path);
  assertOwnedPath(dirname(target));
  return target;
}

/** The mode of a file that exists is never changed: this program may not have created it. */
function checkPermissions(path: string, mode: number, warn: Warn | undefined): void {
  const fix = `chmod 600 ${shellWord(path)}`;
  if ((mode & WRITABLE_BY_OTHERS) !== 0) throw invalidConfig(path, 'other users can write to it', fix);
  if ((mode & READABLE_BY_OTHERS) !== 0) warn?.(`other users can read ${path}: ${fix}`);
}

function invalidConfig(path: string, reason: string, hint?: string): AppError {
  const reset = `correct it, or start over: mv ${shellWord(path)} ${shellWord(`${path}.bak`)} && restaurant login`;
  return new AppError('bad_config', `cannot use the config file ${path}: ${reason}`, { hint: hint ?? reset });
}

/**
 * Lets `change` edit the newest content of the config file and saves it: whole or not at all, one process after the other.
 * Saves nothing when `change` throws.
 * @throws {AppError} `bad_config` when the file is damaged (it is left alone); `io_error`; `in_use`.
 */
export async function updateConfig(path: string, change: (file: ConfigFile) => void): Promise<void> {
  // Loaded before others have to wait for the lock.
  const { default: Conf } = await import('conf');
  try {
    ensurePrivateFolder(dirname(path));
    await withLock(
      path,
      () => {
        const file = readConfig(path);
        change(file);
        write(Conf, path, file);
      },
      LOCK_WAIT_MS,
    );
  } catch (error) {
    throw error instanceof AppError && error.code === 'io_error'
      ? ioError('write', path, error, OTHER_FOLDER)
      : error;
  }
}

/** Writes the file with `conf`, which replaces it as a whole. The caller holds the lock. */
function write(Conf: typeof import('conf').default, path: string, file: ConfigFile): void {
  const target = resolveLinks(path);
  const extension = extname(target);
  const text = `${JSON.stringify(file, undefined, 2)}\n`;
  try {
    assertRoom(target, text);
    const conf = new Conf<ConfigFile>({
      cwd: dirname(target),
      configName: basename(target, extension),
      fileExtension: extension.slice(1),
      configFileMode: 0o600,
      clearInvalidConfig: false,
      accessPropertiesByDotNotation: false,
      serialize: () => text,
      deserialize: () => file,
    });
    conf.store = file;
  } catch (error) {
    throw ioError('write', path, error);
  }
  // Those of killed writers, which may hold a key. Nobody else writes: the caller holds the lock.
  deleteFiles(dirname(target), Number.POSITIVE_INFINITY, (name) =>
    name.startsWith(`${basename(target)}.tmp-`),
  );
}

/**
 * On a full disk, `conf` saves a part of the text and reports nothing, so a trial shows first that there is room.
 * @throws the system's error when there is none.
 */
function assertRoom(target: string, text: string): void {
  const trial = `${target}.tmp-0`;
  try {
    rmSync(trial, { force: true });
    writeFileSync(trial, text, { flag: 'wx', mode: 0o600 });
  } finally {
    rmSync(trial, { force: true });
  }
}

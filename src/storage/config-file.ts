import { lstatSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { AppError, failure } from '../errors.ts';
import { type Hint, type Message, restaurant, system } from '../hint.ts';
import { decodeUtf8, isObject, type JsonObject, tryParseJson } from '../util/json.ts';
import {
  type FileContent,
  ioError,
  ioReason,
  isMissing,
  isNotRegularFile,
  perform,
  readOwnFile,
  sweepTemps,
  TEMP_NAME,
  writeFileAtomic,
} from './files.ts';
import { withLock } from './lock.ts';
import { OwnFolder } from './store.ts';
import { assertOwnPath, sharing } from './trust.ts';

export interface Profile {
  key?: string;
  /** The only origin that the key may be sent to. */
  key_origin?: string;
  base_url?: string;
  endpoint?: string;
  headers?: Record<string, string>;
  [key: string]: unknown;
}

export interface ConfigFile {
  settings?: JsonObject;
  profiles?: Record<string, Profile>;
  [key: string]: unknown;
}

type ConfigWarn = (message: Message) => void;

const MAX_BYTES = 1_048_576;
const LOCK_WAIT_MS = 15_000;
const PROFILE_TEXTS = ['key', 'key_origin', 'base_url', 'endpoint'] as const;
const OTHER_FOLDER: Hint = {
  text: 'set HOME or RESTAURANT_CONFIG_DIR to a folder that only you can write to',
};

export function profileOf(file: ConfigFile, name: string): Profile {
  file.profiles ??= {};
  const profile = Object.hasOwn(file.profiles, name) ? (file.profiles[name] ?? {}) : {};
  file.profiles[name] = profile;
  return profile;
}

export const serviceOf = ({ endpoint, base_url, key_origin }: Profile): string | undefined =>
  endpoint ?? base_url ?? key_origin;

/** Reads the config file; `{}` if it is missing. @throws {AppError} `bad_config`; `io_error` */
export function readConfig(path: string, warn?: ConfigWarn): ConfigFile {
  const text = readText(path, warn);
  return text === undefined ? {} : parseConfig(path, text);
}

function parseConfig(path: string, text: string): ConfigFile {
  const value = tryParseJson(text);
  // Without the parser's message, which quotes the text, which may be a key.
  if (value === undefined) throw invalidConfig(path, text.trim() === '' ? 'it is empty' : 'it is not JSON');
  const problem = shapeProblem(value);
  if (problem !== undefined) throw invalidConfig(path, problem);
  const file = value as ConfigFile;
  for (const profile of Object.values(file.profiles ?? {})) {
    // A key that was pasted into the file may have blanks around it.
    const key = profile.key?.trim();
    if (key) profile.key = key;
    else delete profile.key;
  }
  return file;
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

function readText(path: string, warn: ConfigWarn | undefined): string | undefined {
  let content: FileContent;
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    // A link leads to a config file that is stored elsewhere, such as with dotfiles.
    content = readOwnFile(assertOwnPath(path), MAX_BYTES);
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (error instanceof AppError) throw failure('bad_config', error.message, OTHER_FOLDER);
    if (isNotRegularFile(error)) throw invalidConfig(path, ioReason(error));
    throw ioError('read the config file', path, error, OTHER_FOLDER);
  }
  checkPermissions(path, content, warn);
  const text = decodeUtf8(content.bytes);
  if (text === undefined) throw invalidConfig(path, 'it is not UTF-8 text');
  return text;
}

/** Permissions are never changed, because this program may not have created the file. */
function checkPermissions(path: string, { stats }: FileContent, warn: ConfigWarn | undefined): void {
  const { isWritable, isReadable } = sharing(stats);
  const command = system('chmod 600', path);
  if (isWritable) throw invalidConfig(path, 'other users can write to it', { command });
  if (isReadable) warn?.({ text: `other users can read ${path}`, command });
}

function invalidConfig(path: string, reason: string, hint?: Hint): AppError {
  const reset: Hint = [
    { text: 'correct it, or start over', command: system('mv', path, `${path}.bak`) },
    { text: 'then', command: restaurant('login') },
  ];
  return failure('bad_config', `cannot use the config file ${path}: ${reason}`, hint ?? reset);
}

/** Changes the file atomically, under a lock. @throws {AppError} `bad_config`; `io_error`; `in_use`; errors of `change` */
export async function updateConfig(path: string, change: (file: ConfigFile) => void): Promise<void> {
  const { default: Conf } = await import('conf');
  await lockConfig(path, () => {
    const file = readConfig(path);
    change(file);
    write(Conf, path, file);
  });
}

/** Deletes the temporary files of killed processes, which may contain a key. @throws {AppError} `io_error`; `in_use` */
export async function sweepConfig(path: string): Promise<void> {
  const target = assertOwnPath(path);
  const folder = new OwnFolder(dirname(target));
  const leftovers = () => folder.names(tempNames(target));
  if (leftovers().length > 0) await lockConfig(path, () => folder.deleteFiles(leftovers()));
}

async function lockConfig(path: string, run: () => void): Promise<void> {
  try {
    new OwnFolder(dirname(path)).create();
    await withLock(path, run, LOCK_WAIT_MS);
  } catch (error) {
    throw error instanceof AppError && error.code === 'io_error'
      ? ioError('write', path, error, OTHER_FOLDER)
      : error;
  }
}

/** Temporary files of `conf` and of this program, which the lock protects; not those of the lock. */
const tempNames = (target: string): RegExp =>
  new RegExp(`^${basename(target).replaceAll(/[^\w-]/g, '\\$&')}\\.tmp-|${TEMP_NAME.source}`);

function write(Conf: typeof import('conf').default, path: string, file: ConfigFile): void {
  const target = assertOwnPath(path);
  const text = `${JSON.stringify(file, undefined, 2)}\n`;
  if (Buffer.byteLength(text) > MAX_BYTES) {
    throw failure('io_error', `cannot write ${path}: it would be larger than 1 MB`, {
      command: restaurant('config', 'list'),
    });
  }
  new OwnFolder(dirname(target)).sweep(tempNames(target));
  sweepTemps(dirname(target));
  // On a full disk, `conf` writes a part of the text without an error.
  writeFileAtomic(target, text, { durable: false, confirm: () => false });
  perform('write', path, () => {
    const conf = new Conf<ConfigFile>({
      cwd: dirname(target),
      configName: basename(target),
      fileExtension: '',
      configFileMode: 0o600,
      clearInvalidConfig: false,
      accessPropertiesByDotNotation: false,
      serialize: () => text,
      deserialize: () => file,
    });
    conf.store = file;
  });
}

import { closeSync, fchmodSync, fstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError, systemCode } from '../errors.ts';
import { tightenFolder } from './atomic.ts';
import { ioError, ioReason, shellWord } from './io-error.ts';
import { isNoFile, openPlain, readAll } from './plain.ts';

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
    throw damaged(path, text.trim() === '' ? 'it is empty' : 'it is not JSON');
  }
  if (!isObject(value)) throw damaged(path, 'it holds no JSON object');
  const { settings, profiles } = value;
  if (settings !== undefined && !isObject(settings)) throw damaged(path, '"settings" is not an object');
  if (profiles !== undefined && !isObject(profiles)) throw damaged(path, '"profiles" is not an object');
  for (const [name, profile] of Object.entries(profiles ?? {})) checkProfile(path, name, profile);
  return value;
}

function checkProfile(path: string, name: string, profile: unknown): void {
  const place = `profiles[${JSON.stringify(name)}]`;
  if (!isObject(profile)) throw damaged(path, `${place} is not an object`);
  for (const field of PROFILE_TEXTS) {
    const value = profile[field];
    if (value !== undefined && typeof value !== 'string') {
      throw damaged(path, `${place}.${field} is not a string`);
    }
  }
}

function readText(path: string, warn: Warn | undefined): string | undefined {
  let file: number;
  try {
    file = openPlain(path);
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
  return isNoFile(error) ? damaged(path, ioReason(error)) : ioError('read the config file', path, error);
}

function decode(path: string, bytes: Uint8Array): string {
  try {
    // The decoder drops a byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw damaged(path, 'it is not UTF-8 text');
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

function damaged(path: string, why: string): AppError {
  return new AppError('bad_config', `the config file ${path} cannot be used: ${why}`, {
    hint: `correct it, or start afresh: mv ${shellWord(path)} ${shellWord(`${path}.bak`)} && restaurant login`,
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

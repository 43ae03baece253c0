import { lstatSync, readdirSync, renameSync, rmdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../errors.ts';
import { createFolders } from './files.ts';
import { isSafePath } from './trust.ts';

const VERSION_NAME = /^v[\d.]+-\w+$/;
const COMMAND_NAME = /^[a-z]+$/;
const CODE_NAME = /\.cjs\.bin(?:\.\d+\.tmp)?$/;
const KEEP_MS = 30 * 86_400_000;
const KEEP_TEMP_MS = 3_600_000;

/** Writes two copies of compiled code, and deletes old code. A folder that is not writable only costs time. */
export function storeCode(folder: string, files: ReadonlyMap<string, Buffer>): void {
  if (files.size === 0) return;
  attempt(() => {
    createFolders(folder);
    if (!isSafePath(folder)) return;
    for (const [name, code] of files) writeCode(join(folder, name), code);
    deleteCode(join(folder, '..', '..'), Date.now());
  });
}

function writeCode(path: string, code: Buffer): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, Buffer.concat([code, code]), { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}

/**
 * Deletes compiled code in a folder that the caller has checked, while other processes may write there.
 * @param now in milliseconds since the epoch: code of the last 30 days is kept
 */
export function deleteCode(folder: string, now = Number.POSITIVE_INFINITY): void {
  for (const version of subfolders(folder, VERSION_NAME)) {
    for (const command of subfolders(version, COMMAND_NAME)) {
      for (const path of entries(command, CODE_NAME)) {
        const keepMs = path.endsWith('.tmp') ? KEEP_TEMP_MS : KEEP_MS;
        attempt(() => lstatSync(path).mtimeMs < now - keepMs && unlinkSync(path));
      }
      attempt(() => rmdirSync(command));
    }
    attempt(() => rmdirSync(version));
  }
  attempt(() => rmdirSync(folder));
}

const entries = (folder: string, pattern: RegExp): string[] =>
  (attempt(() => readdirSync(folder)) ?? [])
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name));

const subfolders = (folder: string, pattern: RegExp): string[] =>
  entries(folder, pattern).filter((path) => attempt(() => lstatSync(path).isDirectory()));

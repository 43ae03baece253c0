import { lstatSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { attempt } from '../errors.ts';
import { TEMP_NAME } from './files.ts';
import { OwnFolder } from './store.ts';

const VERSION_NAME = /^v[\d.]+-\w+$/;
const COMMAND_NAME = /^[a-z]+$/;
const CODE_NAME = new RegExp(`\\.cjs\\.bin$|${TEMP_NAME.source}`);
const KEEP_MS = 30 * 86_400_000;

/** Writes two copies of compiled code, and deletes old code. A folder that is not writable only costs time. */
export function storeCode(path: string, files: ReadonlyMap<string, Buffer>): void {
  if (files.size === 0) return;
  const folder = new OwnFolder(path, 'code');
  for (const [name, code] of files) attempt(() => folder.write(name, Buffer.concat([code, code])));
  deleteCode(join(path, '..', '..'), Date.now() - KEEP_MS);
}

/** Other processes may write there meanwhile. Never throws. @param before last modified, in milliseconds since the epoch */
export function deleteCode(path: string, before?: number): void {
  for (const version of subfolders(path, VERSION_NAME)) {
    for (const command of subfolders(version, COMMAND_NAME)) {
      new OwnFolder(command).sweep(CODE_NAME, before);
      attempt(() => rmdirSync(command));
    }
    attempt(() => rmdirSync(version));
  }
  attempt(() => rmdirSync(path));
}

const subfolders = (folder: string, pattern: RegExp): string[] =>
  (attempt(() => readdirSync(folder)) ?? [])
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name))
    .filter((path) => attempt(() => lstatSync(path).isDirectory()));

import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { BIN, baseEnv, type StartOptions, start, withFolders } from '../helpers/process.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

/** A folder with the launcher that npm writes (cmd-shim). Its name has a space, as `C:\Program Files` does. */
export function installCommand(name = 'restaurant', script = BIN): string {
  const folder = join(tempFolder(), 'Program Files');
  mkdirSync(folder);
  writeFileSync(join(folder, `${name}.cmd`), `@ECHO off\r\n"${process.execPath}" "${script}" %*\r\n`);
  return folder;
}

/** Variables of a new home, with a folder on the PATH. */
export function envWith(folder: string, home = tempFolder()): Record<string, string> {
  const { SystemRoot = '', ComSpec = '', PATHEXT = '', PATH = '' } = process.env;
  const env = { ...baseEnv(), ...withFolders({ HOME: home }), SystemRoot, ComSpec, PATHEXT };
  return { ...definedOf(env), PATH: [folder, PATH].join(delimiter) };
}

const definedOf = (env: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );

/** Runs a line in cmd.exe. */
export const cmd = (line: string, options: StartOptions) =>
  start('cmd', ['/d', '/s', '/c', `"${line}"`], { ...options, verbatim: true }).ended;

// Files of coding agents and MCP clients, below the user's home or in a project.

import { rmdirSync, type Stats, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { failure, systemCode } from '../errors.ts';
import { system } from '../hint.ts';
import {
  type AtomicOptions,
  createFolders,
  type FileContent,
  ioError,
  openRegular,
  perform,
  readAll,
  whenFree,
  writeFileAtomic,
} from './files.ts';
import { assertOwnPath, walkPath } from './trust.ts';

export interface AgentFile {
  readonly path: string;
  /** The folder of the project that it belongs to, whose files come from others. Undefined: a file of the user. */
  readonly project?: string | undefined;
}

/** @returns undefined for no file. @throws {AppError} `io_error` */
export function readAgentFile(file: AgentFile, max: number): FileContent | undefined {
  const path = resolveAgentFile(file);
  return perform('read', path, () => {
    try {
      return readAll(openRegular(path), max);
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  });
}

interface WriteOptions extends AtomicOptions {
  /** Whether a link of that name is replaced. */
  readonly replacesLink?: boolean;
}

/** @returns whether it was written; see `confirm` in {@link AtomicOptions}. @throws {AppError} `io_error`; `in_use` */
export function writeAgentFile(
  file: AgentFile,
  text: string,
  { replacesLink = false, ...options }: WriteOptions,
): boolean {
  const resolve = () => resolveAgentFile(file, replacesLink);
  const folder = dirname(resolve());
  perform('create the folder', folder, () => createFolders(folder, 0o777));
  return writeFileAtomic(resolve(), text, options);
}

/** Deletes a file, and its folder if it is empty then. @throws {AppError} `io_error` */
export function deleteAgentFile(file: AgentFile): void {
  const path = resolveAgentFile(file);
  try {
    whenFree(() => unlinkSync(path));
    rmdirSync(dirname(path));
  } catch (error) {
    // The folder may contain other files.
    if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw ioError('delete', file.path, error);
  }
}

/**
 * Nobody but this user and root can change what the path of a user's file leads to; in a project, no link is followed.
 * @returns the path without links. @throws {AppError} `io_error`
 */
function resolveAgentFile({ path, project }: AgentFile, replacesLink = false): string {
  return perform('read', path, () => {
    if (project !== undefined) return walkPath(path, refuseLink, project);
    return replacesLink ? join(assertOwnPath(dirname(path)), basename(path)) : assertOwnPath(path);
  });
}

function refuseLink(part: string, stats: Stats): void {
  if (!stats.isSymbolicLink()) return;
  throw failure('io_error', `${part} is a symbolic link, which is not followed`, [
    { text: 'replace the link with a real file or folder, then try again' },
    { text: 'to see it', command: system('ls -l', part) },
  ]);
}

import { rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { App } from '../../app/app.ts';
import { outputPath } from '../../app/output.ts';
import { AppError } from '../../errors.ts';
import { followLinks } from '../../storage/files.ts';
import { ioError } from '../../storage/io-error.ts';
import { tryLock } from '../../storage/lock.ts';
import { shellWord } from '../../util/shell.ts';
import type { Input } from '../read/input.ts';
import type { EnrichOptions } from '../run/options.ts';
import type { ResumeCommand } from '../run/resume-command.ts';
import { openRowFile, type RowFile } from './row-file.ts';

/** An output file that no other process writes during the run. */
export interface OutputFile {
  /** Behind all links. */
  readonly path: string;
  /** As the user wrote it. */
  readonly name: string;
  readonly exists: boolean;
  /** A device or pipe, which cannot be read, cut or resumed. */
  readonly device: boolean;
  /** Time of the first run, in milliseconds since the epoch. */
  readonly createdAt: number | undefined;
  release(): void;
}

/** The rows of a run that requests failed rows again; it replaces the output when it is done. */
const retryPath = (path: string): string => `${path}.retry`;

/**
 * Claims the output file for this run; undefined for stdout.
 * @param options `lock`: false for a run that writes nothing
 * @throws {AppError} `in_use` where another process writes it; `usage` where it exists, or is the input; `io_error`
 */
export function claimOutput(
  app: App,
  input: Input,
  { resume, force }: EnrichOptions,
  { lock, command }: { readonly lock: boolean; readonly command: ResumeCommand },
): OutputFile | undefined {
  const wanted = outputPath(app);
  if (wanted === undefined) return undefined;
  const name = app.globals.output ?? wanted;
  const path = attempt(name, () => followLinks(wanted));
  const found = attempt(name, () => statSync(path, { bigint: true, throwIfNoEntry: false }));
  if (found?.isDirectory() === true) {
    throw new AppError('io_error', `${name} is a folder`, { hint: 'name a file: -o <folder>/out.csv' });
  }
  // Writing over the list while it is read would lose it.
  if (found !== undefined && input.identity?.dev === found.dev && input.identity.ino === found.ino) {
    throw new AppError('usage', `${name} is the input itself`, {
      hint: 'write to another file: restaurant enrich … -o out.csv',
    });
  }
  const folder = dirname(path);
  if (attempt(name, () => statSync(folder, { throwIfNoEntry: false })) === undefined) {
    throw new AppError('io_error', `cannot write ${name}: there is no folder ${folder}`, {
      hint: `mkdir -p ${shellWord(folder)}`,
    });
  }
  const device = found !== undefined && !found.isFile();
  if (device && resume) {
    throw new AppError('usage', `--resume needs a file, and ${name} is a device`, {
      hint: 'restaurant enrich … -o out.csv --resume',
    });
  }
  const held = device || !lock ? undefined : tryLock(path);
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats !== undefined && !device && !resume && !force) {
      throw new AppError('usage', `${name} exists`, {
        hint: `continue with it: ${command('--resume')}, or start again: ${command('--force')}`,
      });
    }
    return {
      path,
      name,
      device,
      exists: stats !== undefined,
      createdAt: stats === undefined || stats.birthtimeMs <= 0 ? undefined : stats.birthtimeMs,
      release: () => held?.release(),
    };
  } catch (error) {
    held?.release();
    throw error;
  }
}

/** The file that a run writes, and the finished output whose failed rows it requests again. */
export interface OpenOutput {
  readonly file: RowFile;
  readonly previous: RowFile | undefined;
}

/**
 * Opens the files of a run. Where failed rows are requested again, or were when a run was stopped, the rows go into a file
 * beside the output, so that the output stays whole until all of them are written.
 */
export function openOutput(
  { path, exists, device }: OutputFile,
  { resume, retryErrors }: EnrichOptions,
): OpenOutput {
  if (device) return { file: openRowFile(path, 'old'), previous: undefined };
  const retry = retryPath(path);
  const hasRetry = statSync(retry, { throwIfNoEntry: false }) !== undefined;
  const mode = exists ? statSync(path).mode & 0o777 : undefined;
  if (!resume || !exists) {
    for (const old of [path, retry]) attempt(old, () => rmSync(old, { force: true }));
    return { file: openRowFile(path, 'new', mode), previous: undefined };
  }
  const file = openRowFile(path, 'old');
  if (!retryErrors && !hasRetry) return { file, previous: undefined };
  return { file: openRowFile(retry, hasRetry ? 'old' : 'new', mode), previous: file };
}

function attempt<T>(name: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw ioError('write', name, error);
  }
}

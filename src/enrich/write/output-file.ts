import { rmSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { App } from '../../app/app.ts';
import { outputPath } from '../../app/output.ts';
import { AppError } from '../../errors.ts';
import { followLinks } from '../../storage/files.ts';
import { ioError } from '../../storage/io-error.ts';
import { type Lock, tryLock } from '../../storage/lock.ts';
import { shellWord } from '../../util/shell.ts';
import type { Input } from '../read/input.ts';
import type { EnrichOptions } from '../run/options.ts';
import type { ResumeCommand } from '../run/resume-command.ts';
import { openRowFile, type RowFile } from './row-file.ts';

/** An output file that no other process writes meanwhile. */
export interface OutputFile {
  /** Behind all links. */
  readonly path: string;
  /** As the user wrote it. */
  readonly name: string;
  readonly exists: boolean;
  /** A device or pipe: it cannot be read, cut or taken up again. */
  readonly device: boolean;
  /** When the first run made it, in milliseconds since the epoch. */
  readonly createdAt: number | undefined;
  release(): void;
}

/** The rows of a run that asks failed rows again; it takes the place of the output when it is done. */
const retryPath = (path: string): string => `${path}.retry`;

/**
 * Takes the output file for this run; undefined for stdout.
 * @param taking `lock`: false for a run that only looks; `command`: the commands for an output that stands already
 * @throws {AppError} `in_use` where another process writes it; `usage` where it stands already, or is the input;
 *   `io_error`
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
  const facts = attempt(name, () => statSync(path, { throwIfNoEntry: false }));
  if (facts?.isDirectory() === true) {
    throw new AppError('io_error', `${name} is a folder`, { hint: 'name a file: -o <folder>/out.csv' });
  }
  refuseInput(input, path, name);
  refuseNoFolder(path, name);
  const device = facts !== undefined && !facts.isFile();
  if (device && resume) {
    throw new AppError('usage', `--resume needs a file, and ${name} is none`, {
      hint: 'restaurant enrich … -o out.csv --resume',
    });
  }
  const held = device || !lock ? undefined : tryLock(path);
  try {
    const now = statSync(path, { throwIfNoEntry: false });
    if (now !== undefined && !device && !resume && !force) throw exists(name, command);
    return placeOf({ path, name, facts: now, device, held });
  } catch (error) {
    held?.release();
    throw error;
  }
}

function placeOf({
  path,
  name,
  facts,
  device,
  held,
}: {
  path: string;
  name: string;
  facts: Stats | undefined;
  device: boolean;
  held: Lock | undefined;
}): OutputFile {
  return {
    path,
    name,
    device,
    exists: facts !== undefined,
    createdAt: facts === undefined || facts.birthtimeMs <= 0 ? undefined : facts.birthtimeMs,
    release: () => held?.release(),
  };
}

/** What a run writes to, and the finished output whose failed rows it asks again. */
export interface OpenOutput {
  readonly file: RowFile;
  readonly previous: RowFile | undefined;
}

/**
 * Opens the files of a run. Where failed rows are asked again, or were when a run was stopped, the rows go into a file
 * beside the output, so that the output stays whole until all are there.
 */
export function openOutput(
  { path, exists: isThere, device }: OutputFile,
  { resume, retryErrors }: EnrichOptions,
  now: () => number,
): OpenOutput {
  if (device) return { file: openRowFile(path, 'old', now), previous: undefined };
  const retry = retryPath(path);
  const retried = statSync(retry, { throwIfNoEntry: false }) !== undefined;
  if (!resume || !isThere) {
    const mode = isThere ? statSync(path).mode & 0o777 : undefined;
    for (const old of [path, retry]) attempt(old, () => rmSync(old, { force: true }));
    return { file: openRowFile(path, 'new', now, mode), previous: undefined };
  }
  if (!retryErrors && !retried) return { file: openRowFile(path, 'old', now), previous: undefined };
  const before = openRowFile(path, 'old', now);
  const mode = statSync(path).mode & 0o777;
  return { file: openRowFile(retry, retried ? 'old' : 'new', now, mode), previous: before };
}

/** Writing over the list while it is read would lose it. */
function refuseInput({ identity }: Input, path: string, name: string): void {
  const output = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (identity === undefined || output === undefined) return;
  if (identity.dev !== output.dev || identity.ino !== output.ino) return;
  throw new AppError('usage', `${name} is the input itself`, {
    hint: 'write to another file: restaurant enrich … -o out.csv',
  });
}

function refuseNoFolder(path: string, name: string): void {
  const folder = dirname(path);
  if (attempt(name, () => statSync(folder, { throwIfNoEntry: false })) !== undefined) return;
  throw new AppError('io_error', `cannot write ${name}: there is no folder ${folder}`, {
    hint: `mkdir -p ${shellWord(folder)}`,
  });
}

function exists(name: string, command: ResumeCommand): AppError {
  return new AppError('usage', `${name} exists`, {
    hint: `continue with it: ${command('--resume')}, or start again: ${command('--force')}`,
  });
}

function attempt<T>(name: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw ioError('write', name, error);
  }
}

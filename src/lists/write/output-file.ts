import { lstatSync, rmSync, type Stats, statSync } from 'node:fs';
import type { App } from '../../app/app.ts';
import { checkOutputFile } from '../../app/output-file.ts';
import { usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { ioError, perform, whenFree } from '../../storage/files.ts';
import { tryLock } from '../../storage/lock.ts';
import { openDevice, type UserDevice } from '../../storage/user-files.ts';
import type { UserPath } from '../../storage/user-paths.ts';
import type { Input } from '../read/input.ts';
import { RowFile } from './row-file.ts';

export interface OutputFile {
  readonly path: string;
  readonly name: string;
  readonly exists: boolean;
  readonly device: UserPath | undefined;
  /** Start of the first run, in milliseconds since the epoch. */
  readonly createdAt: number | undefined;
  release(): void;
}

/** @throws {AppError} `in_use` if another process writes it; `usage` if it is the input; `io_error` */
export function claimOutput(app: App, input: Input, resume: boolean): OutputFile | undefined {
  const target = checkOutputFile(app, true);
  if (target === undefined) return undefined;
  const name = app.globals.output ?? target.path;
  assertNotInput(name, target.path, input);
  if (target.entry !== 'device') return claimFile(name, target.path, app.globals.dryRun);
  if (resume)
    throw usage(`--resume needs a file, and ${name} is a device`, {
      command: again({ '--output': 'out.csv' }),
    });
  return { path: target.path, name, exists: true, device: target, createdAt: undefined, release() {} };
}

/** Overwriting the list while it is read would lose data. */
function assertNotInput(name: string, path: string, { file }: Input): void {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined || file?.stats.dev !== stats.dev || file.stats.ino !== stats.ino) return;
  throw usage(`${name} is the input itself`, {
    command: again({ '--output': name.replace(/(\.\w+)?$/, '-enriched$1') }),
  });
}

function claimFile(name: string, path: string, dryRun = false): OutputFile {
  const lock = dryRun ? undefined : tryLock(path);
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    const createdAt = stats === undefined || stats.birthtimeMs <= 0 ? undefined : stats.birthtimeMs;
    const release = () => lock?.release();
    return { path, name, device: undefined, exists: stats !== undefined, createdAt, release };
  } catch (error) {
    lock?.release();
    throw error;
  }
}

export async function openRowDevice(
  target: UserPath,
  signal: AbortSignal,
): Promise<Pick<UserDevice, 'write' | 'close'>> {
  const failed = (error: unknown): never => {
    throw ioError('write', target.path, error);
  };
  const device = await openDevice(target, signal).catch(failed);
  return { write: (text) => device.write(text).catch(failed), close: device.close };
}

/**
 * Opens the file that a run writes. If failed rows are retried, or an earlier retry was stopped, rows are written to a
 * file next to the output. The output stays complete, as `previous`, until all of them are written.
 */
export function openRowFiles(
  { path, exists }: OutputFile,
  { resume, retryErrors }: { readonly resume?: true; readonly retryErrors?: true },
): { readonly file: RowFile; readonly previous?: RowFile } {
  const retry = `${path}.retry`;
  if (!resume || !exists) {
    const mode = exists ? modeOf(path) : undefined;
    for (const old of [path, retry]) remove(old);
    return { file: RowFile.create(path, mode) };
  }
  const file = RowFile.open(path);
  const hasRetry = statOf(retry) !== undefined;
  if (!retryErrors && !hasRetry) return { file };
  return { file: hasRetry ? RowFile.openOwn(retry) : RowFile.create(retry, modeOf(path)), previous: file };
}

const statOf = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });

function modeOf(path: string): number | undefined {
  const stats = statOf(path);
  return stats?.isFile() ? stats.mode & 0o777 : undefined;
}

const remove = (path: string): void =>
  perform('write', path, () => whenFree(() => rmSync(path, { force: true })));

import { closeSync, constants, fstatSync, lstatSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.ts';
import { ensurePrivateFolder } from './atomic.ts';
import { isNotRegularFile, openOwnFile, writeAll } from './files.ts';
import { quarantine, type Warn } from './state.ts';

/** A list of times, in milliseconds since the epoch. */
export interface TimeLog {
  append(time: number): void;
  /** Returns the times of the 24 hours before `end`, and possibly earlier ones. */
  read(end: number): readonly number[];
}

export const DAY_MS = 86_400_000;
/** Enough for about 300,000 times. Of a larger file, only the end is read. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const KEEP_DAYS = 7;
const DAY_NAME = /^\.\d{4}-\d\d-\d\d$/;
const APPEND = constants.O_WRONLY | constants.O_APPEND;

/** Opens a log for this process only. */
export function openMemoryLog(times: number[]): TimeLog {
  return { append: (time) => void times.push(time), read: () => times };
}

/**
 * Opens a log that processes share: a text file `<name>.<date>` for each day (UTC), with one time per line. It is only
 * appended to, which does not require a lock. Each time follows a line break, so that a line that was cut off does not
 * affect the next one. A file with other content is renamed, also without a lock. Processes that do this at the same
 * time may rename each other's new files, so the few requests counted there are lost, like those in the damaged file.
 * @param warn called if a file with other content was renamed
 */
export function openFileLog(folder: string, name: string, warn?: Warn): TimeLog {
  const pathOf = (time: number): string =>
    join(folder, `${name}.${new Date(time).toISOString().slice(0, 10)}`);

  /**
   * Deletes old files. Compares their names, not the clock, because a clock that is temporarily ahead must not delete
   * days that still count.
   */
  function deleteOldDays(): void {
    const days = readdirSync(folder).filter(
      (file) => file.startsWith(name) && DAY_NAME.test(file.slice(name.length)),
    );
    for (const day of days.sort().slice(0, -KEEP_DAYS)) {
      rmSync(join(folder, day), { recursive: true, force: true });
    }
  }

  function openToAppend(path: string): number {
    try {
      return openOwnFile(path, APPEND);
    } catch (error) {
      if (isNotRegularFile(error)) quarantine(path, warn);
      else if (systemCode(error) !== 'ENOENT') throw error;
      ensurePrivateFolder(folder);
      deleteOldDays();
      return openOwnFile(path, APPEND | constants.O_CREAT);
    }
  }

  return {
    append(time) {
      const file = openToAppend(pathOf(time));
      try {
        writeAll(file, Buffer.from(`\n${time}`));
      } finally {
        closeSync(file);
      }
    },
    read(end) {
      return [pathOf(end - DAY_MS), pathOf(end)].flatMap((path) => {
        const times = readTimes(path);
        if (times === undefined) quarantine(path, warn);
        return times ?? [];
      });
    },
  };
}

/** Returns the times in a file, ignoring other lines; undefined if the file contains only other lines. */
function readTimes(path: string): number[] | undefined {
  // Checked first, because creating the error of a failed open takes much longer.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
  let file: number;
  try {
    file = openOwnFile(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    if (isNotRegularFile(error)) return undefined;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, MAX_READ_BYTES));
    const length = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    const lines = bytes
      .toString('latin1', 0, length)
      .split('\n')
      .filter((line) => line.trim() !== '');
    const times = lines.map(Number).filter((time) => time >= 0);
    return times.length === 0 && lines.length > 0 ? undefined : times;
  } finally {
    closeSync(file);
  }
}

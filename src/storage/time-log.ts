import { closeSync, constants, fstatSync, lstatSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { systemCode } from '../errors.ts';
import { isNotRegularFile, writeAll } from './files.ts';
import type { OwnFolder, Warn } from './own-folder.ts';

export interface TimeLog {
  append(time: number): void;
  remove(time: number): void;
  /** The times within 24 hours of `now`, and possibly others. */
  read(now: number): readonly number[];
}

export const DAY_MS = 86_400_000;
/** About 300,000 times. Of a larger file, only the end is read. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const KEEP_DAYS = 7;
const APPEND = constants.O_WRONLY | constants.O_APPEND;

export function openMemoryLog(times: number[]): TimeLog {
  return {
    append: (time) => void times.push(time),
    remove: (time) => void times.splice(times.lastIndexOf(time), 1),
    read: () => times,
  };
}

/**
 * A file `<name>.<date>` for each day (UTC), with one time per line; a negative one takes that time back. It is only
 * appended to, which needs no lock. Each time follows a line break, in case the line before it was cut off. A file with
 * other content is renamed, also without a lock; the few requests that others count meanwhile are lost with it.
 */
export function openFileLog(folder: OwnFolder, name: string, warn?: Warn): TimeLog {
  const days = new RegExp(`^${name.replaceAll('.', '\\.')}\\.\\d{4}-\\d\\d-\\d\\d$`);
  const fileOf = (time: number): string => `${name}.${new Date(time).toISOString().slice(0, 10)}`;

  // By name, because a clock that is ahead for a while must not delete days that count.
  const deleteOldDays = () => folder.deleteFiles(folder.names(days).sort().slice(0, -KEEP_DAYS));

  function openToAppend(file: string): number {
    try {
      return folder.open(file, APPEND);
    } catch (error) {
      if (isNotRegularFile(error)) folder.setAside(file, warn);
      else if (systemCode(error) !== 'ENOENT') throw error;
      folder.create();
      deleteOldDays();
      return folder.open(file, APPEND | constants.O_CREAT);
    }
  }

  function writeLine(day: number, text: string): void {
    const file = openToAppend(fileOf(day));
    try {
      writeAll(file, Buffer.from(`\n${text}`));
    } finally {
      closeSync(file);
    }
  }

  return {
    append: (time) => writeLine(time, `${time}`),
    remove: (time) => writeLine(time, `-${time}`),
    read: (now) =>
      [now - DAY_MS, now, now + DAY_MS].flatMap((day) => {
        const times = readTimes(folder, fileOf(day));
        if (times === undefined) folder.setAside(fileOf(day), warn);
        return times ?? [];
      }),
  };
}

function readTimes(folder: OwnFolder, name: string): number[] | undefined {
  // Much faster than the error of a failed open.
  if (lstatSync(join(folder.path, name), { throwIfNoEntry: false }) === undefined) return [];
  let file: number;
  try {
    file = folder.open(name);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return [];
    if (isNotRegularFile(error)) return undefined;
    throw error;
  }
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, MAX_READ_BYTES));
    const length = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return parseTimes(bytes.toString('latin1', 0, length));
  } finally {
    closeSync(file);
  }
}

function parseTimes(text: string): number[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const numbers = lines.map(Number);
  const times = numbers.filter((time) => time >= 0);
  if (times.length === 0 && lines.length > 0) return undefined;
  for (const time of numbers.filter((each) => each < 0)) {
    const index = times.lastIndexOf(-time);
    if (index !== -1) times.splice(index, 1);
  }
  return times;
}

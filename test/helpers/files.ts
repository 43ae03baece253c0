import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, onTestFinished } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { tempFolder } from './temp-folder.ts';

/** Returns the error with which a function fails. */
export function errorOf(run: () => unknown): AppError {
  try {
    run();
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
  throw new Error('did not fail');
}

/** Returns the mode of a file, such as `600`. */
export const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

/** A folder of a test. The names of its files may be paths. */
export class TestFolder {
  path: string;

  constructor(path = tempFolder()) {
    this.path = path;
  }

  at = (...names: readonly string[]): string => join(this.path, ...names);

  list = (name = ''): string[] => readdirSync(this.at(name)).sort();

  read = (name: string): string => readFileSync(this.at(name), 'utf8');

  modes = (...names: readonly string[]): string[] => names.map((name) => modeOf(this.at(name)));

  /** Creates a file and the folders of its path, which are private by default. @returns its path */
  write(name: string, content: string | Uint8Array = '', mode = 0o600): string {
    const path = this.at(name);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, content);
    chmodSync(path, mode);
    return path;
  }
}

/** An empty folder for each test of a file. */
export function useFolder(): TestFolder {
  const folder = new TestFolder();
  beforeEach(() => {
    folder.path = tempFolder();
  });
  return folder;
}

/** An empty folder in memory, where Linux has one: for a test that would wait for the disk a thousand times. */
export function memoryFolder(): string {
  if (!existsSync('/dev/shm')) return tempFolder();
  const path = mkdtempSync('/dev/shm/restaurant-test-');
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** For the rest of the test, files have neither owners nor modes, as on Windows. */
export function onWindows(): void {
  const { geteuid } = process;
  const setTo = (value: unknown) => Object.defineProperty(process, 'geteuid', { value, configurable: true });
  setTo(undefined);
  onTestFinished(() => void setTo(geteuid));
}

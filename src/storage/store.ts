import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { AppError } from '../errors.ts';
import { ensurePrivateFolder, sweepTemps } from './atomic.ts';
import { ioError } from './io-error.ts';
import { type Clock, withLock } from './lock.ts';
import { type ConfigFile, configPath, parseConfig, readConfig, type Warn } from './read.ts';
import { tempName } from './temp-name.ts';
import { flushFolder, followOwnLinks } from './write.ts';

/** The config file, for those who change it. Reading alone needs only `read.ts`. */
export interface ConfigStore {
  readonly path: string;
  /** Whether there is a config file. */
  exists(): boolean;
  /** @throws {AppError} `bad_config`, `io_error`. */
  read(): ConfigFile;
  /**
   * Lets `change` edit the newest content and saves it: whole or not at all, one process after the other.
   * Nothing is saved when `change` throws.
   * @throws {AppError} `bad_config` when the file is damaged (it is left alone); `io_error`; `in_use`.
   */
  update(change: (file: ConfigFile) => void | Promise<void>): Promise<void>;
}

export interface StoreOptions {
  /** Told when a folder or file was open to other users and is not any more. */
  readonly warn?: Warn;
  /** For waiting on another process that writes. Default: the system's clock. */
  readonly clock?: Clock;
}

type ConfClass = typeof import('conf').default;

const LOCK_WAIT_MS = 15_000;

/** Opens the config file of this folder. Touches nothing until asked. */
export function openStore(configDir: string, { warn, clock }: StoreOptions = {}): ConfigStore {
  const path = configPath(configDir);
  return {
    path,
    exists: () => existsSync(path),
    read: () => readConfig(path, warn),
    async update(change) {
      const Conf = await loadConf();
      if (ensurePrivateFolder(configDir))
        warn?.(`${configDir} was open to other users; now it is yours alone`);
      await withLock(
        path,
        async () => {
          const file = readConfig(path, warn);
          await change(file);
          replace(Conf, path, file);
        },
        { waitMs: LOCK_WAIT_MS, ...(clock === undefined ? {} : { clock }) },
      );
    },
  };
}

/**
 * conf writes a new file beside the old one; what arrived is compared before it takes the old one's place, since on a
 * full disk conf loses the tail of a file without a word.
 */
function replace(Conf: ConfClass, path: string, file: ConfigFile): void {
  const target = targetOf(path);
  const folder = dirname(target);
  const name = tempName();
  const temp = join(folder, name);
  const text = `${JSON.stringify(file, undefined, 2)}\n`;
  // What could not be read again is not written.
  parseConfig(path, text);
  // We hold the lock: whatever lies there was left by a killed writer, and may hold a key that was forgotten since.
  sweepTemps(folder, Number.POSITIVE_INFINITY);
  try {
    const conf = new Conf<ConfigFile>({
      cwd: folder,
      configName: name.slice(0, -'.tmp'.length),
      fileExtension: 'tmp',
      configFileMode: 0o600,
      clearInvalidConfig: false,
      accessPropertiesByDotNotation: false,
      serialize: () => text,
    });
    conf.store = file;
    if (readFileSync(temp, 'utf8') !== text) {
      throw new AppError(
        'io_error',
        `cannot write ${path}: the disk took only a part of it, as when it is full`,
      );
    }
    flushFile(temp);
    renameSync(temp, target);
    flushFolder(folder);
  } catch (error) {
    throw ioError('write', path, error);
  } finally {
    rmSync(temp, { force: true });
  }
}

/** Where a config file that is a link is written. */
function targetOf(path: string): string {
  try {
    return followOwnLinks(path);
  } catch (error) {
    throw ioError('write', path, error);
  }
}

/**
 * conf brings signal handlers that kill the process (to delete its temporary files, which we sweep ourselves): with
 * them a first Ctrl-C would count as two. SIGXFSZ gets an idle handler, because without any it would end the process
 * now, where Node lets the write fail.
 */
async function loadConf(): Promise<ConfClass> {
  const before = new Map(signalNames().map((name) => [name, process.listeners(name)]));
  const { default: Conf } = await import('conf');
  for (const name of signalNames()) {
    for (const listener of process.listeners(name)) {
      if (before.get(name)?.includes(listener)) continue;
      if (name === 'SIGXFSZ') process.on(name, () => {});
      process.removeListener(name, listener);
    }
  }
  return Conf;
}

function signalNames(): NodeJS.Signals[] {
  return process.eventNames().filter((name): name is NodeJS.Signals => String(name).startsWith('SIG'));
}

function flushFile(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

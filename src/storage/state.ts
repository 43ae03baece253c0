import { lstatSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ioError, isNotRegularFile, OTHER_STATE_FOLDER } from './files.ts';
import { OwnFolder, type Warn } from './own-folder.ts';

/** Its methods never throw, because state is not essential. */
export interface JsonFile<T> {
  read(): T | undefined;
  write(value: T): boolean;
  forget(): void;
}

const MAX_BYTES = 16 * 1024 * 1024;

/** @param decode returns undefined for an invalid value; its file is then renamed */
export function openJsonFile<T>(
  path: string | undefined,
  decode: (value: Readonly<Record<string, unknown>>) => T | undefined,
  warn: Warn = () => {},
): JsonFile<T> {
  if (path === undefined) return { read: () => undefined, write: () => false, forget: () => {} };
  const folder = new OwnFolder(dirname(path));
  const name = basename(path);
  const fail = (action: string, error: unknown) =>
    warn(`${ioError(action, path, error).message}; ${OTHER_STATE_FOLDER}`, OTHER_STATE_FOLDER);

  return {
    read() {
      try {
        const content = folder.read(name, MAX_BYTES);
        if (content === undefined) return undefined;
        const value = decode(Object(JSON.parse(content.bytes.toString('utf8'))));
        if (value === undefined) folder.setAside(name, warn);
        return value;
      } catch (error) {
        if (error instanceof SyntaxError || isNotRegularFile(error)) folder.setAside(name, warn);
        else fail('read', error);
        return undefined;
      }
    },
    write(value) {
      try {
        folder.create();
        folder.sweepTemps();
        if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory()) folder.setAside(name, warn);
        folder.write(name, `${JSON.stringify(value)}\n`);
        return true;
      } catch (error) {
        fail('write', error);
        return false;
      }
    },
    forget() {
      try {
        folder.deleteFiles([name]);
      } catch (error) {
        fail('delete', error);
      }
    },
  };
}

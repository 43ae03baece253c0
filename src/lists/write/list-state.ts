import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '../../client/endpoint.ts';
import { openJsonFile } from '../../storage/state.ts';
import { isObject, type JsonObject } from '../../util/json.ts';
import type { Columns } from '../match/columns.ts';
import { FIELDS } from '../match/headers.ts';
import { CheckpointMismatch } from './checkpoint.ts';
import type { AddedColumn } from './row-codec.ts';

/**
 * Opens what is known about the list at `path`. It is stored in the state folder, because the list contains only rows,
 * and is forgotten if another file replaces the list.
 */
function openListState<T extends object>(
  stateDir: string | undefined,
  path: string,
  suffix: string,
  decode: (stored: JsonObject) => T | undefined,
) {
  const file = stateDir && join(stateDir, 'lists', `${hash('sha256', path)}${suffix}.json`);
  const store = openJsonFile(file, (stored) => {
    const { identity } = stored;
    const value = typeof identity === 'string' ? decode(stored) : undefined;
    return value && { identity, ...value };
  });
  return {
    read(): T | undefined {
      const stored = store.read();
      return stored?.identity === identityOf(path) ? stored : undefined;
    },
    write(value: T): void {
      const identity = identityOf(path);
      if (identity !== undefined) store.write({ ...value, identity });
    },
  };
}

/** Identifies the file, even if another one replaces it: inode numbers alone are reused. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`;
}

export interface CheckedTimes {
  /** Start of a refresh that has not ended, in milliseconds since the epoch. */
  readonly startedAt?: number | undefined;
  /** Times of the last lookups, in milliseconds since the epoch, by id. */
  readonly ids: Readonly<Record<string, number>>;
}

export const NEVER_CHECKED: CheckedTimes = { ids: {} };

export const openCheckedTimes = (stateDir: string | undefined, path: string) =>
  openListState(stateDir, path, '-checked', ({ startedAt, ids }): CheckedTimes | undefined =>
    isObject(ids)
      ? {
          startedAt: typeof startedAt === 'number' ? startedAt : undefined,
          ids: ids as Record<string, number>,
        }
      : undefined,
  );

/** The path of the list from which the file at `path` was exported. */
export const openExportSource = (stateDir: string | undefined, path: string) =>
  openListState(stateDir, path, '-export', ({ list }) => (typeof list === 'string' ? { list } : undefined));

/** Values that the results depend on but that the output does not contain. */
export type Fingerprint = Readonly<Record<string, string | undefined>>;

/** The fingerprint of the run that started the output at `path`. */
export const openFingerprint = (stateDir: string | undefined, path: string) =>
  openListState(stateDir, path, '', ({ options }) =>
    isObject(options) ? { options: options as Fingerprint } : undefined,
  );

interface FingerprintSource {
  readonly options: {
    readonly city?: string | undefined;
    readonly defaultCity?: string | undefined;
    readonly fields?: string | undefined;
    readonly loose?: boolean;
    readonly added: readonly AddedColumn[];
  };
  readonly columns: Omit<Columns, 'query'>;
}

/**
 * Opens the fingerprint of the run that started an output: its options and service. It is stored in the state folder,
 * because the output contains only rows. If it is missing, or belongs to another file of that name, every run may
 * resume. The key is not part of it, because a replaced key is a reason to resume.
 */
export function openRunFingerprint(
  stateDir: string | undefined,
  { path, name }: { readonly path: string; readonly name: string },
  { options: { city, defaultCity, fields, loose, added }, columns }: FingerprintSource,
  service: URL,
) {
  const store = openFingerprint(stateDir, path);
  const current: Fingerprint = {
    // A sandbox has a new port each time.
    'base-url': isLoopback(service)
      ? 'http://127.0.0.1'
      : `${service.origin}${service.pathname}`.replace(/\/api\/mcp$/, ''),
    city: city ?? (columns.city === undefined ? defaultCity : undefined),
    fields,
    ...Object.fromEntries(FIELDS.map((field) => [`${field}-column`, columns[field]])),
    loose: loose ? 'yes' : undefined,
    add: added.length === 0 ? undefined : added.map(({ name, path: from }) => `${name}=${from}`).join('\n'),
  };
  return {
    /** @throws {CheckpointMismatch} if the run that started the output had other options */
    check(): void {
      const stored = store.read()?.options;
      if (stored === undefined) return;
      const other = Object.keys(current).find((each) => stored[each] !== current[each]);
      if (other === undefined) return;
      const [first, now] = [stored[other], current[other]].map((value) =>
        value === undefined ? `no --${other}` : `--${other} '${value}'`,
      );
      throw new CheckpointMismatch(`${name} was started with ${first}, and this run has ${now}`);
    },
    save: () => store.write({ options: current }),
  };
}

import { hash } from 'node:crypto';
import { join } from 'node:path';
import { openJsonFile } from '../../storage/state.ts';
import { isObject } from '../../util/object.ts';
import { identityOf } from '../write/checkpoint.ts';

export interface CheckedTimes {
  /** Start of a refresh that has not ended, in milliseconds since the epoch. */
  readonly startedAt?: number | undefined;
  /** Times of the last lookups, in milliseconds since the epoch, by id. */
  readonly ids: Readonly<Record<string, number>>;
}

/** Returns nothing for a list that another file has replaced. */
export function readCheckedTimes(stateDir: string | undefined, path: string): CheckedTimes {
  const stored = open(stateDir, path).read();
  return stored !== undefined && stored.identity === identityOf(path) ? stored : { ids: {} };
}

export function writeCheckedTimes(stateDir: string | undefined, path: string, times: CheckedTimes): void {
  const identity = identityOf(path);
  if (identity !== undefined) open(stateDir, path).write({ ...times, identity });
}

const open = (stateDir: string | undefined, path: string) =>
  openJsonFile(
    stateDir === undefined ? undefined : join(stateDir, 'lists', `${hash('sha256', path)}-checked.json`),
    ({ identity, startedAt, ids }): (CheckedTimes & { identity: string }) | undefined =>
      typeof identity === 'string' && isObject(ids)
        ? {
            identity,
            startedAt: typeof startedAt === 'number' ? startedAt : undefined,
            ids: ids as Record<string, number>,
          }
        : undefined,
  );

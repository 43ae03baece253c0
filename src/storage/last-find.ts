import { join } from 'node:path';
import { type JsonFile, openJsonFile, type Warn } from './json-file.ts';

/** The rows of the last search, for `lookup 2`. */
export interface LastFind {
  readonly endpoint: string;
  /** When it was asked, in milliseconds since the epoch. */
  readonly at: number;
  /** Ids in the order of the rows shown. */
  readonly ids: readonly string[];
  /** Names in the same order. */
  readonly names: readonly string[];
}

/** Remembers the rows of a search. Never throws; what fails is told to `warn`. */
export function saveLastFind(stateDir: string | undefined, find: LastFind, warn?: Warn): void {
  const { endpoint, at, ids, names } = find;
  open(stateDir, warn).write({ endpoint, at, ids, names });
}

/** The rows of the last search, or undefined when there is none to rely on. A damaged file is set aside. */
export function readLastFind(stateDir: string | undefined, warn?: Warn): LastFind | undefined {
  return open(stateDir, warn).read();
}

function open(stateDir: string | undefined, warn: Warn | undefined): JsonFile<LastFind> {
  return openJsonFile(stateDir === undefined ? undefined : join(stateDir, 'last-find.json'), decode, warn);
}

function decode(value: unknown): LastFind | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { endpoint, at, ids, names } = value as Record<string, unknown>;
  if (typeof endpoint !== 'string' || typeof at !== 'number') return undefined;
  if (!isTexts(ids) || !isTexts(names) || ids.length !== names.length) return undefined;
  return { endpoint, at, ids, names };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

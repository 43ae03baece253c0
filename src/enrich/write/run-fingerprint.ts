import { hash } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type JsonFile, openJsonFile } from '../../storage/state.ts';
import type { Plan } from '../run/plan.ts';
import { CheckpointMismatch } from './checkpoint.ts';

/** Options that the answers follow from and that the output does not tell. */
const NAMES = ['city', 'fields', 'name-column', 'city-column', 'id-column'] as const;
type Told = Readonly<Partial<Record<(typeof NAMES)[number], string>>>;

interface First {
  /** The output file that was begun with them. */
  readonly identity: string;
  readonly options: Told;
}

/** Of outputs that nobody goes on with any more. */
const FORGET_AFTER_MS = 30 * 86_400_000;

/**
 * The options with which the run that made an output was begun, kept beside the state of the program, so that the output
 * stays pure. It is advice alone: where it is missing, or of another file of that name, nothing is refused.
 */
export interface FirstOptions {
  /** @throws {CheckpointMismatch} where the run that made the output had other options */
  check(): void;
  /** Keeps those of this run, which made the output or goes on with it. */
  keep(): void;
}

export function openFirstOptions(
  stateDir: string | undefined,
  { path, name }: { readonly path: string; readonly name: string },
  plan: Pick<Plan, 'options' | 'columns'>,
  now: number,
): FirstOptions {
  const folder = stateDir === undefined ? undefined : join(stateDir, 'lists');
  const file = folder === undefined ? undefined : join(folder, `${hash('sha256', path)}.json`);
  const kept: JsonFile<First> = openJsonFile(file, decode);
  const told = toldOf(plan);
  return {
    check() {
      const first = kept.read();
      if (first === undefined || first.identity !== identityOf(path)) return;
      const other = NAMES.find((each) => first.options[each] !== told[each]);
      if (other !== undefined) throw changed(name, other, first.options[other], told[other]);
    },
    keep() {
      const identity = identityOf(path);
      if (identity === undefined || folder === undefined) return;
      kept.write({ identity, options: told });
      sweep(folder, now);
    },
  };
}

function toldOf({ options: { columns: given, level }, columns }: Pick<Plan, 'options' | 'columns'>): Told {
  const all = {
    city: columns.city === undefined ? (given.city ?? given.defaultCity) : undefined,
    fields: level,
    'name-column': columns.name,
    'city-column': columns.city,
    'id-column': columns.id,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

function changed(
  name: string,
  option: string,
  first: string | undefined,
  now: string | undefined,
): CheckpointMismatch {
  const flag = (value: string | undefined): string =>
    value === undefined ? `no --${option}` : `--${option} '${value}'`;
  return new CheckpointMismatch(`${name} was begun with ${flag(first)}, and this run has ${flag(now)}`);
}

/** Tells the file from another that takes its place: its number alone is given out again. */
function identityOf(path: string): string | undefined {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false });
  return facts === undefined ? undefined : `${facts.dev} ${facts.ino} ${facts.birthtimeNs}`;
}

function decode(value: unknown): First | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { identity, options } = value as Record<string, unknown>;
  if (typeof identity !== 'string' || typeof options !== 'object' || options === null) return undefined;
  return { identity, options: options as Told };
}

function sweep(folder: string, now: number): void {
  try {
    for (const each of readdirSync(folder)) {
      const path = join(folder, each);
      if (now - statSync(path).mtimeMs > FORGET_AFTER_MS) rmSync(path, { force: true });
    }
  } catch {
    // What cannot be cleared away does no harm; the next run tries again.
  }
}

import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openJsonFile } from '../../storage/state.ts';
import type { Plan } from '../run/plan.ts';
import { CheckpointMismatch } from './checkpoint.ts';

/** Options that change the results and are not visible in the output. */
const NAMES = ['city', 'fields', 'name-column', 'city-column', 'id-column', 'loose'] as const;
type Options = Readonly<Partial<Record<(typeof NAMES)[number], string>>>;

interface Stored {
  /** The output file that was started with them. */
  readonly identity: string;
  readonly options: Options;
}

/**
 * The options of the run that started an output, stored in the state folder, so that the output holds rows alone. They
 * only protect: where they are missing, or belong to another file of that name, nothing is refused.
 */
export interface RunFingerprint {
  /** @throws {CheckpointMismatch} where the run that started the output had other options */
  check(): void;
  /** Stores the options of this run. */
  save(): void;
}

export function openRunFingerprint(
  stateDir: string | undefined,
  { path, name }: { readonly path: string; readonly name: string },
  plan: Pick<Plan, 'options' | 'columns'>,
): RunFingerprint {
  const folder = stateDir === undefined ? undefined : join(stateDir, 'lists');
  const file = folder === undefined ? undefined : join(folder, `${hash('sha256', path)}.json`);
  const store = openJsonFile<Stored>(file, decode);
  const options = optionsOf(plan);
  return {
    check() {
      const stored = store.read();
      if (stored === undefined || stored.identity !== identityOf(path)) return;
      const other = NAMES.find((each) => stored.options[each] !== options[each]);
      if (other === undefined) return;
      const flag = (value: string | undefined): string =>
        value === undefined ? `no --${other}` : `--${other} '${value}'`;
      const [first, now] = [flag(stored.options[other]), flag(options[other])];
      throw new CheckpointMismatch(`${name} was started with ${first}, and this run has ${now}`);
    },
    save() {
      const identity = identityOf(path);
      if (identity === undefined || folder === undefined) return;
      store.write({ identity, options });
    },
  };
}

function optionsOf({
  options: { city, defaultCity, fields, loose },
  columns,
}: Pick<Plan, 'options' | 'columns'>): Options {
  const all = {
    city: city ?? (columns.city === undefined ? defaultCity : undefined),
    fields,
    'name-column': columns.name,
    'city-column': columns.city,
    'id-column': columns.id,
    loose: loose ? 'yes' : undefined,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Distinguishes the file from another that takes its place: an inode number alone is used again. */
function identityOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.dev} ${stats.ino} ${stats.birthtimeNs}`;
}

function decode(value: unknown): Stored | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { identity, options } = value as Record<string, unknown>;
  if (typeof identity !== 'string' || typeof options !== 'object' || options === null) return undefined;
  return { identity, options: options as Options };
}

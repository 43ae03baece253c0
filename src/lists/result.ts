import { usage } from '../errors.ts';
import { again } from '../hint.ts';
import { valueAt } from '../output/records.ts';
import type { RowResult } from './match/match.ts';
import { DEFAULT_PREFIX } from './row.ts';

/** Fields of the restaurant. The others are fields of the result itself. */
const RESTAURANT_FIELDS = [
  'name',
  'address',
  'city',
  'neighborhood',
  'lat',
  'lng',
  'cuisine_tags',
  'grade',
  'coverage_level',
] as const;

/** Fields of a result, in the order of their columns. Column names consist of the prefix and a field name. */
export const RESULT_FIELDS = [
  'status',
  'match',
  'candidates',
  'id',
  ...RESTAURANT_FIELDS,
  'details',
  'error',
  'similarity',
  'distance_m',
] as const;
type ResultField = (typeof RESULT_FIELDS)[number];
const OF_RESTAURANT: ReadonlySet<ResultField> = new Set(RESTAURANT_FIELDS);

/** Fields that are numbers, also where they are empty, or texts in a CSV. */
export const NUMBER_FIELDS: readonly string[] = ['candidates', 'lat', 'lng', 'similarity', 'distance_m'];

/** A column with a value from the details. */
export interface AddedColumn {
  readonly name: string;
  readonly path: string;
}

export interface ResultOptions {
  readonly prefix: string;
  readonly added: readonly AddedColumn[];
  readonly hasDetails: boolean;
}

/** The columns that every view appends to those of the list. */
export class ResultColumns {
  readonly prefix: string;
  readonly fields: readonly ResultField[];
  readonly added: readonly AddedColumn[];

  constructor({ prefix, added, hasDetails }: ResultOptions) {
    this.prefix = prefix;
    this.added = added;
    this.fields = RESULT_FIELDS.filter((field) => hasDetails || field !== 'details');
  }

  get names(): string[] {
    return [...this.fields.map((field) => this.prefix + field), ...this.added.map(({ name }) => name)];
  }

  /** The same without the prefix, for a nested object. */
  get keys(): string[] {
    return [...this.fields, ...this.added.map(({ name }) => name)];
  }

  get numbers(): string[] {
    return NUMBER_FIELDS.map((field) => this.prefix + field);
  }

  /** JSON values in the order of the names; undefined where nothing is known. */
  values({ restaurant = {}, ...result }: RowResult): unknown[] {
    const own: Readonly<Record<string, unknown>> = { id: restaurant.service_id, ...result };
    return [
      ...this.fields.map((field) => (OF_RESTAURANT.has(field) ? valueAt(restaurant, field) : own[field])),
      ...this.added.map(({ path }) => valueAt(result.details, path)),
    ];
  }

  isDetails(index: number): boolean {
    return this.fields[index] === 'details';
  }

  /** The name of the member that holds a result in NDJSON. */
  get member(): string {
    return memberName(this.prefix);
  }

  /** Also refuses the names of fields that another run would write. @throws {AppError} `usage` for a name that is there twice */
  assertNew(own: readonly string[], isNested: boolean): void {
    const start = isNested ? '' : this.prefix;
    const added = this.added.map(({ name }) => name);
    const duplicate = repeated([...RESULT_FIELDS.map((field) => start + field), ...added]);
    if (duplicate !== undefined) {
      throw usage(`the column '${duplicate}' would be added twice`, {
        text: 'give each column a different name: --add <column>=<path>',
      });
    }
    const clash = (isNested ? [this.member] : this.names).find((name) => own.includes(name));
    if (clash !== undefined) {
      throw usage(`the list already has a column '${clash}'`, {
        text: 'give the new columns another prefix',
        command: again({ '--prefix': 'found_' }),
      });
    }
  }
}

/** @throws {AppError} `usage` for a prefix that leaves no name */
export function memberName(prefix: string): string {
  const key = prefix.replace(/_{1,100}$/, '');
  if (key !== '') return key;
  throw usage(`--prefix '${prefix}': NDJSON needs a name for the key`, {
    command: again({ '--prefix': DEFAULT_PREFIX }),
  });
}

export function repeated(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => seen.size === seen.add(name).size);
}

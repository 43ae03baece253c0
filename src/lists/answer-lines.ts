import { isRestaurant, LEVELS } from '../client/tools.ts';
import type { FindQuery, Level, Restaurant } from '../client/types.ts';
import { isFilled, isObject, type JsonObject } from '../util/json.ts';
import { isId } from '../util/restaurant.ts';
import type { LineKey } from './answers-index.ts';
import { isRowKey, type RowKey, rowKeyOf, rowKeyText } from './row-key.ts';

/** The members of every line but the first. */
export interface Dated {
  readonly id: string;
  /** Milliseconds since the epoch. In the file: ISO 8601, UTC. */
  readonly at: number;
}

interface FindLine {
  readonly find: FindQuery;
  /** As received; of many, those with the same name and the most similar others. */
  readonly results: readonly Restaurant[];
  /** How many results the service returned, and how many matches it has. */
  readonly received: number;
  readonly total: number;
}

interface LookupLine {
  readonly lookup: { readonly id: string; readonly fields: Level };
  /** null: the service no longer knows the restaurant. Undefined if it equals that of the line `same`. */
  readonly output?: JsonObject | null;
  readonly same?: string;
}

/** A person's decision about the rows with a content. */
export interface DecideLine {
  readonly decide: RowKey;
  /** null: none of the candidates. Undefined with `never`. */
  readonly restaurant?: string | null;
  /** Not to be shown in a review again. */
  readonly never?: true;
}

export interface SaveLine {
  readonly save: { readonly id: string };
  readonly note?: string;
  readonly restaurant?: JsonObject;
}

interface UndoLine {
  readonly undo: string;
}

export interface RunLine {
  readonly run: {
    /** A file in the folder of the answers; null: stdin, or elsewhere. */
    readonly list: string | null;
    readonly options: JsonObject;
    /** Views in the folder of the answers. */
    readonly files: readonly string[];
    readonly elsewhere?: true;
    /** Whether the list has results or ids that the views have replaced. */
    readonly replaced?: true;
  };
}

export interface WroteLine {
  readonly wrote: { readonly file: string; readonly sha256: string };
}

export type LineContent = FindLine | LookupLine | DecideLine | SaveLine | UndoLine | RunLine | WroteLine;

export type AnswerLine = LineContent & Dated;

export const HEADER_START = '{"restaurant":"answers"';
export const LINE_VERSION = 1;
const MAX_ID = 64;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

export const findKey = ({ name, city }: FindQuery): string => `find ${JSON.stringify([name, city])}`;
export const lookupKey = (id: string, level: Level): string => `lookup ${level} ${id}`;
export const decideKey = (rows: RowKey): string => `decide ${rowKeyText(rowKeyOf(rows))}`;
export const wroteKey = (file: string): string => `wrote ${file}`;
export const aboutKey = (id: string): string => `about ${id}`;

export type LineKindName = 'find' | 'lookup' | 'decide' | 'save' | 'undo' | 'run' | 'wrote';
export type LineOf<K extends LineKindName> = Extract<AnswerLine, Readonly<Record<K, unknown>>>;

interface LineKind {
  isValid(line: JsonObject): boolean;
  keys(line: AnswerLine): (string | LineKey)[];
}

const kind = <K extends LineKindName>(
  isValid: LineKind['isValid'],
  keys: (line: LineOf<K>) => (string | LineKey)[],
): LineKind => ({ isValid, keys: keys as LineKind['keys'] });

const isText = (value: unknown): value is string => typeof value === 'string';

const LINE_KINDS: Readonly<Record<LineKindName, LineKind>> = {
  find: kind<'find'>(
    ({ find, results, received, total }) =>
      isObject(find) &&
      [find.name, find.city].every(isFilled) &&
      Array.isArray(results) &&
      results.every(isRestaurant) &&
      [received, total].every((count) => Number.isSafeInteger(count) && Number(count) >= 0),
    ({ find, results }) => [
      findKey(find),
      ...firstOfEach(results).map((each) => ({
        key: aboutKey(each.service_id),
        shape: shapeOf('search', each),
      })),
    ],
  ),
  lookup: kind<'lookup'>(
    ({ lookup, output, same }) =>
      isObject(lookup) &&
      isFilled(lookup.id) &&
      LEVELS.some((level) => level === lookup.fields) &&
      (same === undefined ? output === null || isObject(output) : isFilled(same)),
    ({ lookup: { id, fields }, output, same }) => [
      lookupKey(id, fields),
      {
        key: aboutKey(id),
        shape: same === undefined ? shapeOf(fields, output) : limited(`${fields} same ${same}`),
      },
    ],
  ),
  decide: kind<'decide'>(
    ({ decide, restaurant, never }) =>
      isRowKey(decide) &&
      (never === undefined
        ? restaurant === null || (isText(restaurant) && isId(restaurant))
        : never === true && restaurant === undefined),
    ({ decide }) => ['decide', decideKey(decide)],
  ),
  save: kind<'save'>(
    ({ save, note, restaurant }) =>
      isObject(save) &&
      isText(save.id) &&
      isId(save.id) &&
      (note === undefined || isText(note)) &&
      (restaurant === undefined || isObject(restaurant)),
    ({ save }) => ['save', aboutKey(save.id)],
  ),
  undo: kind<'undo'>(
    ({ undo }) => isFilled(undo),
    () => ['undo'],
  ),
  run: kind<'run'>(
    ({ run }) =>
      isObject(run) &&
      (run.list === null || isPlainName(run.list)) &&
      isObject(run.options) &&
      Array.isArray(run.files) &&
      run.files.every(isPlainName),
    () => ['run'],
  ),
  wrote: kind<'wrote'>(
    ({ wrote }) => isObject(wrote) && isFileName(wrote.file) && isFilled(wrote.sha256),
    ({ wrote }) => [wroteKey(wrote.file)],
  ),
};

const KIND_NAMES = Object.keys(LINE_KINDS) as LineKindName[];

/** The name of a file in the same folder, on this system. */
const isFileName = (name: unknown): name is string =>
  isFilled(name) && !/[/\0]/.test(name) && name !== '.' && name !== '..';

/** The name of a file in the same folder, on every system. */
export const isPlainName = (name: unknown): name is string => isFileName(name) && !/[\\:]/.test(name);

const kindOf = (value: object): LineKindName | undefined =>
  KIND_NAMES.find((each) => Object.hasOwn(value, each));

/** Each restaurant once: of a repeated one, the first counts. */
const firstOfEach = (results: readonly Restaurant[]): Restaurant[] => [
  ...new Map([...results].reverse().map((each) => [each.service_id, each])).values(),
];

/** A longer list of members is not compared. */
const MAX_SHAPE = 600;

/** Equal for answers of one level with the same members. */
function shapeOf(level: Level | 'search', record: object | null | undefined): string | undefined {
  return limited(`${level} ${record ? JSON.stringify(Object.keys(record)) : String(record)}`);
}

const limited = (shape: string): string | undefined => (shape.length <= MAX_SHAPE ? shape : undefined);

export function keysOf(line: AnswerLine): LineKey[] {
  const name = kindOf(line);
  const keys = name === undefined ? [] : LINE_KINDS[name].keys(line);
  return keys.map((key) => (typeof key === 'string' ? { key } : key));
}

/** `other` for a line that this version does not know, undefined for a damaged one. */
export function decodeLine(value: unknown): AnswerLine | 'other' | undefined {
  if (!isObject(value)) return undefined;
  const name = kindOf(value);
  if (name === undefined) return 'other';
  const { isValid } = LINE_KINDS[name];
  const { id, at } = value;
  const time = isText(at) && TIME.test(at) ? Date.parse(at) : Number.NaN;
  if (!isFilled(id) || id.length > MAX_ID || Number.isNaN(time) || !isValid(value)) return undefined;
  return { ...value, id, at: time } as unknown as AnswerLine;
}

export const encodeLine = ({ id, at, ...content }: AnswerLine): string =>
  JSON.stringify({ id, at: new Date(at).toISOString(), ...content });

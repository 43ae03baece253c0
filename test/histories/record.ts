// What an answers file means, read again from its lines, independent of the code under test.

export interface RowContent {
  readonly name: string;
  readonly city: string;
  /** Absent if the list has no such column. */
  readonly address?: string;
}

interface Line {
  readonly id: string;
  readonly at: string;
  readonly find?: { readonly name: string; readonly city: string };
  readonly lookup?: { readonly id: string; readonly fields?: string };
  readonly decide?: RowContent;
  readonly restaurant?: string | null;
  readonly undo?: string;
  readonly never?: true;
}

/** A decision of a person about rows: the restaurant, or null for none of the candidates. */
export interface Decided {
  readonly content: RowContent;
  readonly restaurant: string | null;
}

/** A decision as recorded. */
export interface Recorded extends Decided {
  readonly id: string;
  readonly at: string;
}

export interface Answered {
  /** When each search was answered, by its query. */
  readonly finds: ReadonlyMap<string, string>;
  /** When each lookup was answered, by id and level. */
  readonly lookups: ReadonlyMap<string, string>;
  /** The decisions that count, by content. */
  readonly decisions: ReadonlyMap<string, Recorded>;
}

export const findKey = ({ name, city }: RowContent): string => JSON.stringify([name.trim(), city.trim()]);
export const lookupKey = (id: string, fields = 'basic'): string => JSON.stringify([id, fields]);
export const contentKey = ({ name, city, address }: RowContent): string =>
  JSON.stringify([name.trim(), city.trim(), address?.trim() ?? null]);

function linesOf(text: string): Line[] {
  return text.split('\n').flatMap((line) => {
    try {
      const value: unknown = JSON.parse(line);
      return typeof value === 'object' && value !== null && 'at' in value && 'id' in value
        ? [value as Line]
        : [];
    } catch {
      return [];
    }
  });
}

/** Returns the ids of lines that are taken back. An undo that is taken back itself does not count. */
function undone(lines: readonly Line[]): ReadonlySet<string> {
  const undosOf = new Map<string, Line[]>();
  for (const line of lines)
    if (line.undo !== undefined) undosOf.set(line.undo, [...(undosOf.get(line.undo) ?? []), line]);
  const counts = (line: Line, seen: readonly string[] = []): boolean =>
    !(undosOf.get(line.id) ?? []).some((undo) => !seen.includes(undo.id) && counts(undo, [...seen, undo.id]));
  return new Set(lines.filter((line) => !counts(line)).map(({ id }) => id));
}

/** The later one last. Ids decide between lines of the same time. */
const byTime = (one: Pick<Line, 'id' | 'at'>, other: Pick<Line, 'id' | 'at'>): number =>
  one.at.localeCompare(other.at) || one.id.localeCompare(other.id);

/** Returns the id of the newest line that takes a line back. */
export const undoOf = (text: string, id: string): string | undefined =>
  linesOf(text)
    .filter(({ undo }) => undo === id)
    .sort(byTime)
    .at(-1)?.id;

/** Returns all decisions, also those that do not count, the last one last. */
export const decisionsIn = (text: string): Recorded[] =>
  [...new Map(linesOf(text).map((line) => [line.id, line])).values()]
    .sort(byTime)
    .flatMap(({ id, at, decide, restaurant = null, never }) =>
      decide === undefined || never === true ? [] : [{ id, at, content: decide, restaurant }],
    );

export function readRecord(text: string): Answered {
  const all = linesOf(text);
  const back = undone(all);
  const lines = all.filter(({ id }) => !back.has(id)).sort(byTime);
  const [finds, lookups] = [new Map<string, string>(), new Map<string, string>()];
  const decisions = new Map<string, Recorded>();
  for (const { id, at, find, lookup, decide, restaurant, never } of lines) {
    if (find !== undefined) finds.set(JSON.stringify([find.name, find.city]), at);
    if (lookup !== undefined) lookups.set(lookupKey(lookup.id, lookup.fields), at);
    if (decide === undefined || never === true) continue;
    // The last one is the newest, also after an older one about the same content.
    decisions.delete(contentKey(decide));
    decisions.set(contentKey(decide), { content: decide, restaurant: restaurant ?? null, id, at });
  }
  return { finds, lookups, decisions };
}

/** Returns the last decision that applies to a row of a list. */
export function lastDecision(
  rows: readonly RowContent[],
  decisions: ReadonlyMap<string, Recorded>,
): Recorded | undefined {
  const applied = rows.flatMap((row) => decisionOf(row, rows, decisions) ?? []);
  return applied.sort(byTime).at(-1);
}

/** Returns the decision that applies to a row: its own, or the newest of those that agree with it after a change of columns. */
export function decisionOf<D extends Decided>(
  row: RowContent,
  rows: readonly RowContent[],
  decisions: ReadonlyMap<string, D>,
): D | undefined {
  const own = decisions.get(contentKey(row));
  if (own !== undefined) return own;
  const hasAddress = row.address !== undefined;
  const agreeing = [...decisions.values()].filter(
    ({ content }) => (content.address !== undefined) !== hasAddress && findKey(content) === findKey(row),
  );
  const contents = new Set(rows.filter((each) => findKey(each) === findKey(row)).map(contentKey));
  const restaurants = new Set(agreeing.map(({ restaurant }) => restaurant));
  return contents.size === 1 && restaurants.size === 1 ? agreeing.at(-1) : undefined;
}

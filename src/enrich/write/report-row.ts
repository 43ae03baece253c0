import { guardFormula } from '../../output/csv.ts';
import type { PageColumn, PageRow } from '../../output/html/document.ts';
import { entriesOf, pageCell, pointCell } from '../../output/html/rows.ts';
import { cellAt, isRecord } from '../../output/records.ts';
import { parseExactOrNone, stringifyRawNumbers } from '../../util/exact-json.ts';
import type { InputRow } from '../read/row.ts';
import { type AddedColumn, FACT_NAMES, nestedKey } from './appended.ts';

/** What an enriched list is listed with; everything else is among the details. */
export const REPORT_COLUMNS: readonly PageColumn[] = [
  { label: 'Name', kind: 'name' },
  { label: 'Status', kind: 'status' },
  { label: 'Found', kind: 'text' },
  { label: 'Grade', kind: 'grade' },
  { label: 'Cuisine', kind: 'text' },
  { label: 'Address', kind: 'text' },
];
const IN_CELLS: readonly string[] = [
  'status',
  'name',
  'grade',
  'cuisine_tags',
  'address',
  'lat',
  'lng',
  'details',
];

export interface ReportRows {
  /** Columns of the output. */
  readonly header: readonly string[];
  readonly prefix: string;
  readonly added: readonly AddedColumn[];
  /** Whether formulas were neutralised in it. */
  readonly guarded: boolean;
  /** The columns that name a row, best first. */
  readonly named: readonly string[];
}

type Fields = readonly (readonly [key: string, value: unknown])[];

/** Makes rows of a page of rows of an enriched output. */
export function reportRow(options: ReportRows): (row: InputRow) => PageRow {
  const names = [...FACT_NAMES, ...options.added.map(({ name }) => name)];
  return (row) => {
    const { own, facts } = row.kind === 'cells' ? cells(row.cells) : object(row.value);
    const fact = (name: string): unknown => facts.get(name) ?? undefined;
    const { details } = Object.fromEntries(facts);
    const more = [...facts].filter(
      ([name, value]) => !IN_CELLS.includes(name) && value !== null && value !== '',
    );
    return {
      c: [
        nameIn(row) ?? pageCell(own[0]?.[1]),
        ...['status', 'name', 'grade', 'cuisine_tags', 'address'].map((name) => pageCell(fact(name))),
      ],
      ...pointCell({ lat: degrees(fact('lat')), lng: degrees(fact('lng')) }),
      d: [
        ['In the list', { pairs: entriesOf(own) }],
        ...entriesOf(more),
        ...entriesOf(isRecord(details) ? [['details', stringifyRawNumbers(details)]] : []),
      ],
    };
  };

  function nameIn(row: InputRow): string | number | null {
    const cells = options.named.map((column) =>
      pageCell(row.kind === 'cells' ? row.cells[options.header.indexOf(column)] : cellAt(row.value, column)),
    );
    return cells.find((cell) => cell !== null) ?? null;
  }

  function cells(values: readonly string[]): { own: Fields; facts: ReadonlyMap<string, unknown> } {
    const width = options.header.length - names.length;
    const own = options.header.slice(0, width).map((key, place) => [key, values[place]] as const);
    const facts = names.map((name, place) => {
      const value = unguarded(values[width + place] ?? '');
      return [name, name === 'details' ? parseExactOrNone(value) : value] as const;
    });
    return { own, facts: new Map(facts) };
  }

  function object(value: Record<string, unknown>): { own: Fields; facts: ReadonlyMap<string, unknown> } {
    const key = nestedKey(options.prefix);
    const found = value[key];
    const own = Object.entries(stringifyRawNumbers(value)).filter(([each]) => each !== key);
    return { own, facts: new Map(isRecord(found) ? Object.entries(found) : []) };
  }

  function unguarded(text: string): string {
    const bare = text.slice(1);
    return options.guarded && text.startsWith("'") && guardFormula(bare) === text ? bare : text;
  }
}

function degrees(value: unknown): unknown {
  return typeof value === 'string' && /^-?\d{1,3}(?:\.\d+)?$/.test(value) ? Number(value) : value;
}

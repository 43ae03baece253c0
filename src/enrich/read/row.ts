/** Formats of the list and of the output. */
export const LIST_FORMATS = ['csv', 'tsv', 'ndjson'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

/** A row of a CSV or TSV: as many cells as the header has. */
export interface CellRow {
  readonly kind: 'cells';
  /** Line of the input on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A line of NDJSON. */
export interface ObjectRow {
  readonly kind: 'object';
  readonly line: number;
  /** The JSON text as received, without blanks around it. */
  readonly text: string;
  readonly value: Record<string, unknown>;
}

export type InputRow = CellRow | ObjectRow;

/** A fault of the input. */
export interface Problem {
  readonly line: number;
  /** As in `line 7 <what>`. */
  readonly what: string;
  /** Bytes in another encoding: the likely one, where there is one. */
  readonly encoding?: string | undefined;
}

/** Receives faults as they are found. Reading stops where it throws. */
export type OnProblem = (problem: Problem) => void;

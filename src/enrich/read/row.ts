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
  /** The JSON text as it stood, without blanks around it. */
  readonly text: string;
  readonly value: Record<string, unknown>;
}

export type InputRow = CellRow | ObjectRow;

/** What is wrong with the input at a line. */
export interface Problem {
  readonly line: number;
  /** As in `line 7 <what>`. */
  readonly what: string;
}

/** Gets the problems of an input as they are found. Where it throws, reading stops there. */
export type OnProblem = (problem: Problem) => void;

/** Forms of input and output. */
export const LIST_FORMATS = ['csv', 'tsv', 'ndjson'] as const;
export type ListFormat = (typeof LIST_FORMATS)[number];

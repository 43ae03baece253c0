/** A word that could stand at the cursor. */
export interface Candidate {
  readonly value: string;
  /** What it is, for shells that show it. */
  readonly about: string;
}

/** What could stand at the cursor. */
export interface Offered {
  readonly candidates: readonly Candidate[];
  /** Files could too; their paths begin behind so many characters of the word. */
  readonly filesBehind?: number;
}

export const FAILURES: readonly {
  readonly title: string;
  readonly words: readonly string[];
  readonly faults: readonly string[];
  readonly attempts: number;
  readonly exit: number;
  readonly settings?: Readonly<Record<string, string>>;
}[];

import { appendFileSync } from 'node:fs';
import { inject } from 'vitest';

/** The result of one fault, or of several counted together. Times are milliseconds since the epoch. */
export interface FaultCount {
  readonly group: string;
  readonly tried: number;
  readonly survived: number;
  readonly from: number;
  readonly to: number;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The file to which each fault appends a line. */
    faultTally: string;
  }
}

/** Runs the check of one fault, or of `tried` faults together, and records the result. */
export async function countFault(group: string, check: () => Promise<void>, tried = 1): Promise<void> {
  const from = Date.now();
  let survived = 0;
  try {
    await check();
    survived = tried;
  } finally {
    const line: FaultCount = { group, tried, survived, from, to: Date.now() };
    appendFileSync(inject('faultTally'), `${JSON.stringify(line)}\n`);
  }
}

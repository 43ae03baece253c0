import { AppError } from '../errors.ts';

/** All faults that the sandbox can inject, and what they apply to. */
const FAULT_TARGETS = {
  401: 'any',
  403: 'any',
  429: 'any',
  500: 'any',
  503: 'any',
  reset: 'any',
  hang: 'any',
  slow: 'request',
  truncate: 'request',
  html: 'request',
  'bad-json': 'request',
  'bad-text': 'tool',
  'tool-error': 'tool',
  'rpc-error': 'request',
  'sse-cut': 'request',
  'wrong-id': 'request',
  huge: 'request',
} as const;

export type FaultKind = `${keyof typeof FAULT_TARGETS}`;
export const FAULT_KINDS = Object.keys(FAULT_TARGETS) as FaultKind[];

/** A fault, and how often it is injected. */
export interface Fault {
  readonly kind: FaultKind;
  /** Share of the requests, 0 to 1. */
  readonly rate: number;
  /** Limits the fault to the first requests. */
  readonly first?: number;
}

/** The kinds of requests: a tool call can fail in more ways than a notification. */
type FaultTarget = 'tool' | 'request' | 'other';

/**
 * Parses `<kind>`, `<kind>:<rate>` (0 to 1) or `<kind>:<n>x` (the first n requests).
 * @throws {AppError} `usage`
 */
export function parseFault(text: string): Fault {
  const [, name = text, often = '1'] = /^([^:]*):(.*)$/s.exec(text) ?? [];
  const kind = FAULT_KINDS.find((known) => known === name);
  if (kind === undefined) {
    throw usageError(`unknown fault ${JSON.stringify(name)}; known faults: ${FAULT_KINDS.join(', ')}`);
  }
  if (/^[1-9]\d{0,8}x$/.test(often)) return { kind, rate: 1, first: Number.parseInt(often, 10) };
  if (/^(0|1|0?\.\d{1,9}|[01]\.0*)$/.test(often)) return { kind, rate: Number(often) };
  throw usageError(
    `invalid rate ${JSON.stringify(often)} for the fault ${kind}: use 0 to 1, or 3x for the first three requests`,
  );
}

/** Returns a function that chooses the fault of each request: the first in the list that applies and is due. */
export function createFaults(
  faults: readonly Fault[],
  random: () => number,
): (target: FaultTarget) => FaultKind | undefined {
  const seen = faults.map(() => 0);
  return (target) => {
    for (const [index, { kind, rate, first }] of faults.entries()) {
      const needed = FAULT_TARGETS[kind];
      const applies = needed === 'any' || needed === target || (needed === 'request' && target === 'tool');
      if (!applies) continue;
      const before = seen[index] ?? 0;
      seen[index] = before + 1;
      if (first !== undefined ? before < first : random() < rate) return kind;
    }
    return undefined;
  };
}

function usageError(message: string): AppError {
  return new AppError('usage', message, { hint: 'restaurant sandbox --fault 503:0.2' });
}

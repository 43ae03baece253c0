import { AppError } from '../errors.ts';

/** What can be made to go wrong. */
export const FAULT_KINDS = [
  '401',
  '403',
  '429',
  '500',
  '503',
  'reset',
  'hang',
  'slow',
  'truncate',
  'html',
  'bad-json',
  'bad-text',
  'tool-error',
  'rpc-error',
  'sse-cut',
  'wrong-id',
  'huge',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** A fault, and how often it strikes. */
export interface Fault {
  readonly kind: FaultKind;
  /** Share of the requests, 0 to 1. */
  readonly rate: number;
  /** Strikes only the first so many requests. */
  readonly first?: number;
}

/** What a request is, as far as faults care: a tool call can fail in more ways than a notification. */
export type Target = 'tool' | 'request' | 'other';

/** Faults that need a `tools/call`, and those that need a request with an answer. All others strike anything. */
const TOOL_FAULTS: readonly FaultKind[] = ['bad-text', 'tool-error'];
const ANSWER_FAULTS: readonly FaultKind[] = [
  'slow',
  'truncate',
  'html',
  'bad-json',
  'rpc-error',
  'sse-cut',
  'wrong-id',
  'huge',
];

/**
 * Reads `<kind>`, `<kind>:<rate>` (0 to 1) or `<kind>:<n>x` (the first n requests).
 * @throws {AppError} `usage`
 */
export function parseFault(text: string): Fault {
  const colon = text.indexOf(':');
  const name = colon < 0 ? text : text.slice(0, colon);
  const often = colon < 0 ? '1' : text.slice(colon + 1);
  const kind = FAULT_KINDS.find((known) => known === name);
  if (kind === undefined) {
    throw wrong(`unknown fault ${JSON.stringify(name)}; known are ${FAULT_KINDS.join(', ')}`);
  }
  if (/^\d{1,9}x$/.test(often)) return { kind, rate: 1, first: Number.parseInt(often, 10) };
  if (/^(0|1|0?\.\d{1,9}|[01]\.0*)$/.test(often)) return { kind, rate: Number(often) };
  throw wrong(
    `${JSON.stringify(often)} is no rate for the fault ${kind}: give 0 to 1, or 3x for the first three requests`,
  );
}

/** Chooses the fault of each request: the first of the list that applies to it and strikes. */
export function createFaults(
  faults: readonly Fault[],
  random: () => number,
): (target: Target) => FaultKind | undefined {
  const seen = faults.map(() => 0);
  return (target) => {
    for (const [place, { kind, rate, first }] of faults.entries()) {
      if (!applies(kind, target)) continue;
      const before = seen[place] ?? 0;
      seen[place] = before + 1;
      if (first !== undefined ? before < first : random() < rate) return kind;
    }
    return undefined;
  };
}

function applies(kind: FaultKind, target: Target): boolean {
  if (TOOL_FAULTS.includes(kind)) return target === 'tool';
  return target !== 'other' || !ANSWER_FAULTS.includes(kind);
}

function wrong(message: string): AppError {
  return new AppError('usage', message, { hint: 'restaurant sandbox --fault 503:0.2' });
}

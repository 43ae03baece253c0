import { setImmediate } from 'node:timers/promises';
import { formatDuration, formatNumber, plural } from '../util/format.ts';
import { searchesFor } from './match/searches.ts';
import {
  type Lack,
  type Question,
  REASONS,
  type Reason,
  type Resolution,
  type ResolveOptions,
  requestKey,
} from './resolve.ts';

export interface DueRow {
  /** In the list, from 0. */
  readonly index: number;
  readonly lack: Lack;
}

export interface Due {
  /** Number of rows in the list. */
  readonly total: number;
  /** The rows that were asked longest ago, or never, come first. */
  readonly rows: readonly DueRow[];
  /** Rows by the reason why they are due. */
  readonly reasons: Readonly<Record<Reason, number>>;
  readonly requests: number;
  /** Includes the requests that depend on the answers. */
  readonly requestsAtMost: number;
}

const TURN = 512;

/**
 * Finds the rows that lack an answer. @param first only that many rows are asked for
 */
export async function findDue(
  questions: Iterable<Question>,
  resolveRow: (question: Question) => Resolution,
  options: ResolveOptions,
  { first = Number.POSITIVE_INFINITY, signal }: { first?: number | undefined; signal: AbortSignal },
): Promise<Due> {
  const rows: DueRow[] = [];
  const reasons: Record<Reason, number> = { new: 0, older: 0, details: 0, loose: 0 };
  const asked = new Set<string>();
  let further = 0;
  let total = 0;
  for (const question of questions) {
    const index = total;
    total += 1;
    if (total % TURN === 0) {
      await setImmediate();
      signal.throwIfAborted();
    }
    const { lack, result } = index < first ? resolveRow(question) : {};
    if (lack === undefined) continue;
    rows.push({ index, lack });
    reasons[lack.reason] += 1;
    further += countFurther(asked, lack, question, result?.match === 'gone', options);
    asked.add(requestKey(lack.request));
  }
  const requests = [...asked].filter((key) => !key.startsWith(CONTENT)).length;
  const sorted = rows.sort((one, other) => askedAt(one) - askedAt(other) || one.index - other.index);
  return { total, rows: sorted, reasons, requests, requestsAtMost: requests + further };
}

const CONTENT = 'content\0';

const askedAt = ({ lack }: DueRow): number => lack.askedAt ?? 0;

/** The requests that the answer to a search may lead to: further searches, and the details of what they find. */
function countFurther(
  asked: Set<string>,
  { request }: Lack,
  { key }: Question,
  isGone: boolean,
  { fields, loose }: ResolveOptions,
): number {
  if (request.kind === 'lookup') return 0;
  // The same name at another place may be another restaurant, with details of its own.
  const content = `${CONTENT}${JSON.stringify(key)}`;
  const isNewContent = !asked.has(content);
  asked.add(content);
  const lookups = isNewContent && (fields !== undefined || isGone) ? 1 : 0;
  if (!loose || asked.has(requestKey(request))) return lookups;
  const searches = searchesFor({ name: key.name ?? '', city: key.city ?? '' });
  const at = searches.findIndex((query) => requestKey({ kind: 'find', query }) === requestKey(request));
  return lookups + searches.length - 1 - at;
}

const REASON_TEXTS: Readonly<Record<Reason, string>> = {
  new: 'new',
  older: 'answered before',
  details: 'without details',
  loose: 'for --loose',
};

/** `12 of 3,000 rows are due: 8 new, 1 older than 7 days, 3 without details; 12 requests` */
export function dueLine({ rows, total, reasons, requests }: Due, olderMs: number | undefined): string {
  const older = olderMs ? formatDuration(olderMs) : undefined;
  if (rows.length === 0) return `nothing is due in ${plural(total, 'row')}`;
  const parts = REASONS.filter((reason) => reasons[reason] > 0).map((reason) => {
    const text = reason === 'older' && older !== undefined ? `older than ${older}` : REASON_TEXTS[reason];
    return `${formatNumber(reasons[reason])} ${text}`;
  });
  const verb = rows.length === 1 ? 'is' : 'are';
  return `${formatNumber(rows.length)} of ${plural(total, 'row')} ${verb} due: ${parts.join(', ')}; ${plural(requests, 'request')}`;
}

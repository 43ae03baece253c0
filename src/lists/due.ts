import { formatDuration, formatNumber, plural } from '../util/format.ts';
import { searchesFor } from './match/searches.ts';
import {
  type Lack,
  type LackReason,
  type Question,
  REASONS,
  type Resolution,
  type ResolveOptions,
  requestKey,
} from './resolve.ts';
import { rowKeyText } from './row-key.ts';

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
  readonly reasons: Readonly<Record<LackReason, number>>;
  readonly requests: number;
  /** Includes further searches, and the lookups of what searches find. */
  readonly requestsAtMost: number;
}

export class DueRows {
  readonly #options: ResolveOptions;
  readonly #rows: DueRow[] = [];
  readonly #reasons: Record<LackReason, number> = { new: 0, older: 0, details: 0, loose: 0 };
  readonly #requests = new Set<string>();
  /** Searches that are sent if those before them find nothing. */
  readonly #searches = new Set<string>();
  /** Contents of rows whose details are looked up once a search has found them. */
  readonly #lookups = new Set<string>();

  constructor(options: ResolveOptions) {
    this.#options = options;
  }

  add(index: number, { key }: Question, { lack, result }: Resolution): void {
    if (lack === undefined) return;
    this.#rows.push({ index, lack });
    this.#reasons[lack.reason] += 1;
    const request = requestKey(lack.request);
    this.#requests.add(request);
    if (lack.request.kind === 'lookup') return;
    const { fields, loose } = this.#options;
    // The same name at another place may be another restaurant, with details of its own.
    if (fields !== undefined || result.match === 'gone') this.#lookups.add(rowKeyText(key));
    if (!loose) return;
    const searches = searchesFor({ name: key.name ?? '', city: key.city ?? '' });
    const keys = searches.map((query) => requestKey({ kind: 'find', query }));
    for (const each of keys.slice(keys.indexOf(request) + 1)) this.#searches.add(each);
  }

  ofAll(total: number): Due {
    const searches = new Set([...this.#requests, ...this.#searches]);
    return {
      total,
      rows: this.#rows.sort((one, other) => askedAt(one) - askedAt(other) || one.index - other.index),
      reasons: this.#reasons,
      requests: this.#requests.size,
      requestsAtMost: searches.size + this.#lookups.size,
    };
  }
}

const askedAt = ({ lack }: DueRow): number => lack.askedAt ?? 0;

const REASON_TEXTS: Readonly<Record<LackReason, string>> = {
  new: 'new',
  older: 'answered before',
  details: 'without details',
  loose: 'for --loose',
};

/** `12 of 3,000 rows are due: 8 new, 1 older than 7 days, 3 without details; 12 requests` */
export function dueLine(due: Due, olderMs: number | undefined): string {
  const { rows, total, requests } = due;
  if (rows.length === 0) return `nothing is due in ${plural(total, 'row')}`;
  const verb = rows.length === 1 ? 'is' : 'are';
  return `${formatNumber(rows.length)} of ${plural(total, 'row')} ${verb} due: ${reasonsOf(due, olderMs)}; ${plural(requests, 'request')}`;
}

export function reasonsOf({ reasons }: Due, olderMs: number | undefined): string {
  const older = olderMs ? formatDuration(olderMs) : undefined;
  return REASONS.filter((reason) => reasons[reason] > 0)
    .map((reason) => {
      const text = reason === 'older' && older !== undefined ? `older than ${older}` : REASON_TEXTS[reason];
      return `${formatNumber(reasons[reason])} ${text}`;
    })
    .join(', ');
}

import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '../errors.ts';
import { ioReason } from './io-error.ts';
import { type History, openFileLog, openMemoryLog } from './log.ts';
import type { LedgerRecord, RecordType } from './record.ts';
import { blockAt, blockOfClaim, DAY_MS, heldUntil, type Usage, usageAt, type Wait } from './windows.ts';

export interface LedgerOptions {
  /** Undefined where no state folder is known: the count is this process's alone then. */
  readonly stateDir: string | undefined;
  readonly key: string;
  readonly endpoint: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Requests in any 60 seconds; 0 = no limit. */
  readonly perMinute: number;
  /** Requests in any 24 hours; 0 = no limit. */
  readonly perDay: number;
  /** Told once when the count cannot be shared with other processes. */
  readonly warn?: (message: string) => void;
}

export type Reservation = { readonly granted: true } | ({ readonly granted: false } & Wait);

/** The count of requests made with one key at one endpoint, shared by all processes. Never throws for its files. */
export interface Ledger {
  /** Counts one HTTP try, whatever the limits say. Not for one that was reserved. */
  record(): void;
  /** Asks for one request now. When granted it is counted; no process together with others gets more than the limits. */
  reserve(): Reservation;
  /** The service asks to wait: nobody is granted a request until then (milliseconds since the epoch; at most a day). */
  pauseUntil(until: number): void;
  usage(): Usage;
  /** Until when the service asked this process or another to wait, in milliseconds since the epoch. */
  pausedUntil(): number | undefined;
  /** Closes its files; what is counted afterwards opens them again. */
  close(): void;
}

const EMPTY: History = { records: [], holds: [] };
/** A claim that took longer (a suspended machine, a set clock) was judged by a time that is past. */
const MAX_DELAY_MS = 400;
const MAX_TRIES = 5;

/** Opens the ledger of a key and an endpoint. Touches nothing until asked. */
export function openLedger(options: LedgerOptions): Ledger {
  const { stateDir, key, endpoint, now, warn, ...limits } = options;
  const folder = stateDir === undefined ? undefined : join(stateDir, 'budget');
  let log = folder === undefined ? openMemoryLog(EMPTY) : openFileLog(folder, fileName(key, endpoint));
  let shared = folder !== undefined;

  function append(record: LedgerRecord): void {
    try {
      log.append(record);
    } catch (error) {
      fallBack(error, attempt(() => log.read(now() - DAY_MS)) ?? EMPTY);
      log.append(record);
    }
  }

  const read = (): History => reading(() => log.read(now() - DAY_MS));

  function reading<T>(look: () => T): T {
    try {
      return look();
    } catch (error) {
      fallBack(error, EMPTY);
      return look();
    }
  }

  function fallBack(error: unknown, history: History): void {
    attempt(() => log.close());
    log = openMemoryLog(history);
    if (!shared) return;
    shared = false;
    const why = error instanceof AppError ? error.message : `${folder}: ${ioReason(error)}`;
    warn?.(`requests are counted for this run alone: ${why}`);
  }

  return {
    record() {
      append(newRecord('request', now()));
    },
    reserve() {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const claim = newRecord('claim', now());
        const before = blockAt(read(), limits, claim.at);
        if (before !== undefined) return { granted: false, ...before };
        append(claim);
        const block = blockOfClaim(read(), claim, limits);
        if (block === undefined && Math.abs(now() - claim.at) <= MAX_DELAY_MS) return { granted: true };
        append({ ...claim, type: 'cancel' });
        if (block !== undefined) return { granted: false, ...block };
      }
      return { granted: false, freeAt: now() + MAX_DELAY_MS, window: 'minute' };
    },
    pauseUntil(until) {
      const at = now();
      if (until > at) append({ ...newRecord('hold', at), until: Math.min(until, at + DAY_MS) });
    },
    usage: () => usageAt(read(), limits, now()),
    pausedUntil: () =>
      heldUntil(
        reading(() => log.holds(now() - DAY_MS)),
        now(),
      ),
    close: () => log.close(),
  };
}

function newRecord(type: RecordType, at: number): LedgerRecord {
  // The last 48 bits of it are random, and it is far quicker than bytes asked for one by one.
  return { type, at: Math.trunc(at), until: 0, id: Number.parseInt(randomUUID().slice(-12), 16) };
}

/** SHA-256, so that neither the key nor the endpoint can be read from a listing. */
function fileName(key: string, endpoint: string): string {
  return createHash('sha256')
    .update(JSON.stringify([key, endpoint]))
    .digest('hex');
}

function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

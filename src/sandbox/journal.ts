import type { IncomingMessage } from 'node:http';
import type { KeyKind, SandboxRequest } from './types.ts';

/** Requests that are remembered. */
export const JOURNAL_LENGTH = 10_000;
/** Bytes of their bodies that are remembered, the newest first. */
const BODY_BYTES = 8 * 1024 * 1024;

/** A request under way: its status is filled in when it is answered. */
export type JournalEntry = { -readonly [K in keyof SandboxRequest]: SandboxRequest[K] };

/** What came in. */
export interface Journal {
  readonly requests: readonly SandboxRequest[];
  add(entry: JournalEntry): void;
  /** Adds the body, which was so many bytes long, to its entry. */
  fill(entry: JournalEntry, body: unknown, bytes: number): void;
}

/** Remembers the last 10,000 requests, without their keys; of those further back than 8 MiB of bodies not the body. */
export function createJournal(): Journal {
  const requests: SandboxRequest[] = [];
  const bodies: { entry: JournalEntry; bytes: number }[] = [];
  let held = 0;
  return {
    requests,
    add(entry) {
      requests.push(entry);
      if (requests.length > JOURNAL_LENGTH) requests.shift();
    },
    fill(entry, body, bytes) {
      entry.body = body;
      bodies.push({ entry, bytes });
      held += bytes;
      while (held > BODY_BYTES) {
        const oldest = bodies.shift();
        if (oldest === undefined) return;
        oldest.entry.body = undefined;
        held -= oldest.bytes;
      }
    },
  };
}

/** The entry of a request that has just come. */
export function openEntry(request: IncomingMessage, key: KeyKind, time: number): JournalEntry {
  const path = request.url ?? '';
  return {
    method: request.method ?? '',
    path,
    headers: headersOf(request),
    key,
    body: undefined,
    status: 0,
    time,
  };
}

/** Headers by lower-case name, without `authorization`; repeated ones joined with a comma. */
export function headersOf(request: IncomingMessage): Record<string, string> {
  const pairs = Object.entries(request.headersDistinct).map(([name, values = []]) => [
    name,
    values.join(', '),
  ]);
  return Object.fromEntries(pairs.filter(([name]) => name !== 'authorization'));
}

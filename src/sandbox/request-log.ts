import type { IncomingMessage } from 'node:http';
import type { KeyKind, SandboxRequest } from './types.ts';

const MAX_REQUESTS = 10_000;
const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** A request in progress: its body and status are filled in later. */
export type LogEntry = { -readonly [K in keyof SandboxRequest]: SandboxRequest[K] };

/** The last requests that were received, without their keys. */
export interface RequestLog {
  readonly requests: readonly SandboxRequest[];
  /** Adds a request that has just arrived at `time`, in milliseconds. */
  add(request: IncomingMessage, key: KeyKind, time: number): LogEntry;
  /** Adds the body to its entry; `bytes` is its length. */
  setBody(entry: LogEntry, body: unknown, bytes: number): void;
}

/** Keeps 10,000 requests, and 8 MiB of bodies, the newest ones. */
export function createRequestLog(): RequestLog {
  const requests: SandboxRequest[] = [];
  const bodies: { entry: LogEntry; bytes: number }[] = [];
  let storedBytes = 0;
  return {
    requests,
    add(request, key, time) {
      const { method = '', url: path = '' } = request;
      const headers = plainHeaders(request);
      const entry = { method, path, headers, key, body: undefined, status: 0, time };
      requests.push(entry);
      if (requests.length > MAX_REQUESTS) requests.shift();
      return entry;
    },
    setBody(entry, body, bytes) {
      entry.body = body;
      bodies.push({ entry, bytes });
      storedBytes += bytes;
      while (storedBytes > MAX_BODY_BYTES) {
        const oldest = bodies.shift();
        if (oldest === undefined) return;
        oldest.entry.body = undefined;
        storedBytes -= oldest.bytes;
      }
    },
  };
}

/** Returns the headers by lower-case name, without `authorization`; repeated ones are joined with a comma. */
function plainHeaders({ headersDistinct }: IncomingMessage): Record<string, string> {
  const entries = Object.entries(headersDistinct).filter(([name]) => name !== 'authorization');
  return Object.fromEntries(entries.map(([name, values = []]) => [name, values.join(', ')]));
}

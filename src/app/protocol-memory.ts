import { join } from 'node:path';
import type { DetectedProtocol } from '../client/mcp/protocol.ts';
import type { Warn } from '../storage/store.ts';
import { type JsonFile, openJsonFile } from '../storage/store.ts';
import { sha256Hex } from '../util/sha256.ts';

/** Each endpoint has its own file, so no lock is needed. */
export function openProtocolMemory(
  stateDir: string | undefined,
  endpoint: string,
  warn?: Warn,
): JsonFile<DetectedProtocol> {
  const path = stateDir === undefined ? undefined : join(stateDir, 'protocol', `${sha256Hex(endpoint)}.json`);
  return openJsonFile(path, decodeProtocol, warn);
}

function decodeProtocol({ era, version }: Readonly<Record<string, unknown>>): DetectedProtocol | undefined {
  if (typeof era !== 'string' || !['string', 'undefined'].includes(typeof version)) return undefined;
  return { era, ...(typeof version === 'string' ? { version } : {}) };
}

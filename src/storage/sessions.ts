import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ioReason } from './io-error.ts';
import { openJsonFile, type Warn } from './json-file.ts';

/** The protocol that an endpoint was found to speak. */
export interface LearnedProtocol {
  readonly era: string;
  /** Protocol version that was agreed on. */
  readonly version?: string;
}

/** What one endpoint speaks. Never throws. */
export interface SessionMemory {
  read(): LearnedProtocol | undefined;
  write(value: LearnedProtocol): void;
  forget(): void;
}

/** Opens the memory of one endpoint: a file of its own, so that processes need no lock. */
export function openSessionMemory(
  stateDir: string | undefined,
  endpoint: string,
  warn?: Warn,
): SessionMemory {
  const name = createHash('sha256').update(endpoint).digest('hex');
  const path = stateDir === undefined ? undefined : join(stateDir, 'protocol', `${name}.json`);
  const file = openJsonFile(path, decode, warn);
  return {
    read() {
      const found = file.read();
      if (found?.endpoint !== endpoint) return undefined;
      return { era: found.era, ...(found.version === undefined ? {} : { version: found.version }) };
    },
    write({ era, version }) {
      file.write({ endpoint, era, version });
    },
    forget() {
      if (path === undefined) return;
      try {
        rmSync(path, { force: true });
      } catch (error) {
        warn?.(`cannot delete ${path}: ${ioReason(error)}`);
      }
    },
  };
}

interface Remembered {
  endpoint: string;
  era: string;
  version: string | undefined;
}

function decode(value: unknown): Remembered | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { endpoint, era, version } = value as Record<string, unknown>;
  if (typeof endpoint !== 'string' || typeof era !== 'string') return undefined;
  if (version !== undefined && typeof version !== 'string') return undefined;
  return { endpoint, era, version };
}

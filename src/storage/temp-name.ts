import { randomUUID } from 'node:crypto';

/** Names that `tempName` gives, also with what a library adds for its own temporary file. */
export const TEMP_NAME = /^\.restaurant-[0-9a-f]{16}\.tmp(?:\.tmp-[0-9a-f]+)?$/;

/** A new name for a temporary file. Short, so that a long target name does not overflow the system's limit. */
export function tempName(): string {
  return `.restaurant-${randomUUID().replaceAll('-', '').slice(-16)}.tmp`;
}

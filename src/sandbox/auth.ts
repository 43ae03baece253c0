import { Refusal } from './refusal.ts';
import type { KeyKind, SandboxKeys } from './types.ts';

/** The keys that every sandbox knows. */
export const KEYS: SandboxKeys = {
  free: 'sk_service_demo_free',
  paid: 'sk_service_demo_paid',
  revoked: 'sk_service_demo_revoked',
};

/** What a caller may do. */
export interface Access {
  /** The levels `standard` and `premium` are open. */
  readonly paid: boolean;
  /** Whose quota the request counts against. */
  readonly account: string;
}

/**
 * Judges the `Authorization` headers of a request (all of them, as they came).
 * Well formed is exactly one of `Bearer <key>`, with one space.
 */
export function keyKind(headers: readonly string[] | undefined): KeyKind {
  const [header, second] = headers ?? [];
  if (header === undefined) return 'none';
  const key = /^Bearer ([\x21-\x7e]+)$/.exec(header)?.[1];
  if (key === undefined || second !== undefined) return 'unknown';
  if (key === KEYS.free) return 'free';
  if (key === KEYS.paid) return 'paid';
  return key === KEYS.revoked ? 'revoked' : 'unknown';
}

/**
 * What a key opens.
 * @throws {Refusal} 401 for every key but the free and the paid one. The key is never repeated.
 */
export function authorize(kind: KeyKind, auth: boolean): Access {
  if (!auth) return { paid: true, account: 'open' };
  if (kind === 'free' || kind === 'paid') return { paid: kind === 'paid', account: kind };
  throw unauthorized(PROBLEMS[kind]);
}

/** The 401 as the service gives it. */
export function unauthorized(message: string): Refusal {
  return new Refusal(401, 'unauthorized', message, { 'WWW-Authenticate': 'Bearer' });
}

const PROBLEMS = {
  none: 'the Authorization header is missing',
  revoked: 'this API key was revoked',
  unknown: 'the API key is unknown, or the Authorization header is not "Bearer <key>" with one space',
} as const;

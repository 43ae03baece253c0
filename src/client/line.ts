import type { Context } from '../context.ts';
import type { AppError } from '../errors.ts';
import type { RequestHeaders } from './http/headers.ts';
import type { CallLimits, Transport } from './http/transport.ts';
import type { StatusContext } from './rpc/errors.ts';
import type { Policy, RateGate, RetryLimits } from './rpc/retry.ts';
import type { InputRequest } from './types.ts';

export interface LineEvents {
  /** Called before every HTTP request that counts against the quota. An error that it throws ends the call. */
  onRequest?(): void | Promise<void>;
  /** Called before each wait for a retry. */
  onWait?(wait: { ms: number; error: AppError }): void;
  /** Called after a 429 with Retry-After; `until` is in ms since the epoch. */
  onRateLimited?(until: number): void | Promise<void>;
}

/** The state and options that all calls of a client share. */
export interface Line extends LineEvents, StatusContext, RetryLimits, Pick<Context, 'sleep'> {
  readonly transport: Transport;
  readonly headers: RequestHeaders;
  readonly gate: RateGate;
  lastId: number;
  mask(text: string): string;
  /** Called with the protocol violations of a response that is accepted nevertheless. */
  note(text: string): void;
}

/** The limits of one call, which may take several requests. */
export interface CallState extends CallLimits {
  readonly policy: Policy;
  /** Extended by waits that the service or the quota requires. */
  deadline: number;
  /** A request for input that was refused, because nobody can provide it. */
  refused?: InputRequest;
}

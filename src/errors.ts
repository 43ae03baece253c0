import type { Hint } from './hint.ts';

interface KindEntry {
  readonly exit: number;
  /** Of an exit code that is not an error. */
  readonly meaning?: string;
  /** The `code` strings of its errors, with their meanings. */
  readonly codes: Readonly<Record<string, string>>;
}

/** Every kind of failure, with its exit code and its codes. Part of the public interface. */
const KINDS = {
  unexpected: { exit: 1, codes: { unexpected: 'internal error in this program' } },
  usage: {
    exit: 2,
    codes: {
      usage: 'an option or argument is invalid',
      no_service: 'no service is configured',
      bad_input: 'an input file or stdin is not in the expected format',
      bad_config: 'a setting or the config file is invalid',
    },
  },
  not_found: { exit: 3, codes: { not_found: 'the id, tool, or row does not exist' } },
  auth: {
    exit: 4,
    codes: {
      no_key: 'no API key',
      bad_key: 'the API key is malformed',
      unauthorized: 'the service rejected the API key (401)',
      forbidden: 'the API key does not have permission (403)',
      plan_required: 'the requested fields require a paid key',
    },
  },
  rate_limit: {
    exit: 5,
    codes: {
      rate_limited: 'the rate limit of the service is exceeded (429)',
      budget_spent: 'the quota counted on this machine is used up',
    },
  },
  network: {
    exit: 6,
    codes: {
      network: 'the service cannot be reached (DNS, connection refused, or connection reset)',
      timeout: 'no response within the time limit',
      tls: 'the TLS connection failed',
    },
  },
  service: {
    exit: 7,
    codes: {
      http_error: 'the service returned an HTTP error',
      rpc_error: 'the service returned a JSON-RPC error',
      tool_error: 'the tool ran and failed',
      bad_response: 'the response cannot be read',
    },
  },
  partial: { exit: 8, codes: { partial: 'some rows or ids failed' } },
  local: {
    exit: 9,
    codes: {
      io_error: 'a file, the disk, or stdout failed',
      in_use: 'another process is writing that file',
    },
  },
  changed: { exit: 10, meaning: 'saved --refresh --exit-code: something changed', codes: {} },
  interrupted: { exit: 130, codes: { interrupted: 'stopped by Ctrl-C (130) or SIGTERM (143)' } },
} as const satisfies Readonly<Record<string, KindEntry>>;

export type Kind = keyof typeof KINDS;
export type Code = { [K in Kind]: keyof (typeof KINDS)[K]['codes'] }[Kind];

const ENTRIES = Object.entries<KindEntry>(KINDS);
const RETRYABLE: readonly Code[] = ['rate_limited', 'budget_spent', 'network', 'timeout', 'in_use'];

export const EXIT_CODES = Object.fromEntries(ENTRIES.map(([kind, { exit }]) => [kind, exit])) as Readonly<
  Record<Kind, number>
>;

/** The kind of every `code` that an error can carry. */
export const KIND_OF = Object.fromEntries(
  ENTRIES.flatMap(([kind, { codes }]) => Object.keys(codes).map((code) => [code, kind])),
) as Readonly<Record<Code, Kind>>;

export const exitCodes = () => [
  { exit: 0, kind: 'success', meaning: 'success, even if nothing was found', codes: [] },
  ...ENTRIES.map(([kind, { exit, meaning: about, codes }]) => ({
    exit,
    kind,
    ...(about !== undefined && { meaning: about }),
    codes: Object.entries(codes).map(([code, meaning]) => ({ code, meaning })),
  })),
];

/**
 * What failed, more precisely than the code: it decides whether a request is retried, and which hint fits. `refused`: the
 * connection was refused, so nothing was sent. `reset`: it was closed before the response. `cut_off`: it was closed during
 * the response. `incomplete`: the response ended normally but is not complete.
 */
export type Reason =
  | 'refused'
  | 'closed'
  | 'connect_timeout'
  | 'unreachable'
  | 'dns'
  | 'proxy'
  | 'reset'
  | 'cut_off'
  | 'incomplete'
  | 'time'
  | 'not_http'
  | 'not_tls'
  | 'certificate_time'
  | 'unknown_authority'
  | 'too_large'
  | 'web_page'
  | 'other_host'
  | 'mcp_version'
  | 'input_required'
  | 'max_wait'
  | 'no_time'
  | 'invalid_url'
  | 'has_query'
  | 'invalid_header'
  | 'authorization_header'
  | 'invalid_proxy'
  | 'plain_http';

/** Facts about an error, in addition to its code and message. */
export interface ErrorDetails {
  /** Advice for a person at a terminal. Not set by the client. */
  readonly hint?: Hint | undefined;
  readonly retryable?: boolean;
  readonly status?: number;
  /** Seconds to wait before a retry. */
  readonly retryAfter?: number;
  readonly restaurantId?: string;
  /** `error.code` of a JSON-RPC error. */
  readonly rpcCode?: number | string;
  /** Request id that the service put in a response header. */
  readonly requestId?: string;
  readonly reason?: Reason;
  /** host:port of the service, if the message names it. */
  readonly host?: string;
  /** The explanation of the service, shortened. */
  readonly serviceMessage?: string;
  /** The limit that a response exceeds, in bytes. */
  readonly limit?: number;
  /** The configured protocol, if the service may use another one. */
  readonly protocol?: string;
  readonly tool?: string;
  /** The requested details, if they may require a paid key. */
  readonly level?: string;
  /** The option of the client that is invalid. */
  readonly option?: 'baseUrl' | 'endpoint';
  /** A valid URL in place of an invalid one. */
  readonly url?: string;
  readonly variable?: string;
  readonly cause?: unknown;
}

/** The error class of this program. Thrown where an error occurs, reported once in run.ts. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly retryable: boolean;
  readonly details: ErrorDetails;

  constructor(code: Code, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.retryable = details.retryable ?? RETRYABLE.includes(code);
    this.details = details;
  }

  withMessage(message: string, details: ErrorDetails = {}): AppError {
    return new AppError(this.code, message, { ...this.details, ...details });
  }

  withHint(hint: Hint): AppError {
    const error = new AppError(this.code, this.message, { ...this.details, hint });
    if (this.stack !== undefined) error.stack = this.stack;
    return error;
  }

  get kind(): Kind {
    return KIND_OF[this.code];
  }
}

/** An error of this machine or its user, with what to do about it. */
export const failure = (code: Code, message: string, hint?: Hint, cause?: unknown): AppError =>
  new AppError(code, message, { hint, cause });

export const usage = (message: string, hint?: Hint): AppError => failure('usage', message, hint);

/** The reader of our stdout closed the pipe (EPIPE). Not a failure: the run ends silently with exit code 0. */
export class PipeClosed extends Error {
  override readonly name = 'PipeClosed';
}

export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Returns the system's `code` of an error (`ENOENT`, `ECONNRESET`, …), or undefined. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

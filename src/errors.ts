import type { Hint } from './hint.ts';

/** The exit code of each kind of failure. Part of the public interface. */
export const EXIT_CODES = {
  unexpected: 1,
  usage: 2,
  not_found: 3,
  auth: 4,
  rate_limit: 5,
  network: 6,
  service: 7,
  partial: 8,
  local: 9,
  /** Not an error: `saved --refresh --exit-code` found changes. */
  changed: 10,
  interrupted: 130,
} as const;

export type Kind = keyof typeof EXIT_CODES;

interface CodeEntry {
  readonly kind: Kind;
  readonly meaning: string;
  readonly retryable?: true;
}

/** Every `code` string that an error can carry. Part of the public interface. */
export const CODES = {
  unexpected: {
    kind: 'unexpected',
    meaning: 'internal error in this program',
  },
  usage: {
    kind: 'usage',
    meaning: 'an option or argument is invalid',
  },
  no_service: {
    kind: 'usage',
    meaning: 'no service is configured',
  },
  bad_input: {
    kind: 'usage',
    meaning: 'an input file or stdin is not in the expected format',
  },
  bad_config: {
    kind: 'usage',
    meaning: 'a setting or the config file is invalid',
  },
  not_found: {
    kind: 'not_found',
    meaning: 'the id, tool, or row does not exist',
  },
  no_key: { kind: 'auth', meaning: 'no API key' },
  bad_key: { kind: 'auth', meaning: 'the API key is malformed' },
  unauthorized: { kind: 'auth', meaning: 'the service rejected the API key (401)' },
  forbidden: {
    kind: 'auth',
    meaning: 'the API key does not have permission (403)',
  },
  plan_required: {
    kind: 'auth',
    meaning: 'the requested fields require a paid key',
  },
  rate_limited: {
    kind: 'rate_limit',
    meaning: 'the rate limit of the service is exceeded (429)',
    retryable: true,
  },
  budget_spent: {
    kind: 'rate_limit',
    meaning: 'the quota counted on this machine is used up',
    retryable: true,
  },
  network: {
    kind: 'network',
    meaning: 'the service cannot be reached (DNS, connection refused, or connection reset)',
    retryable: true,
  },
  timeout: {
    kind: 'network',
    meaning: 'no response within the time limit',
    retryable: true,
  },
  tls: {
    kind: 'network',
    meaning: 'the TLS connection failed',
  },
  http_error: {
    kind: 'service',
    meaning: 'the service returned an HTTP error',
  },
  rpc_error: {
    kind: 'service',
    meaning: 'the service returned a JSON-RPC error',
  },
  tool_error: {
    kind: 'service',
    meaning: 'the tool ran and failed',
  },
  bad_response: {
    kind: 'service',
    meaning: 'the response cannot be read',
  },
  partial: {
    kind: 'partial',
    meaning: 'some rows or ids failed',
  },
  io_error: {
    kind: 'local',
    meaning: 'a file, the disk, or stdout failed',
  },
  in_use: {
    kind: 'local',
    meaning: 'another process is writing that file',
    retryable: true,
  },
  interrupted: {
    kind: 'interrupted',
    meaning: 'stopped by Ctrl-C (130) or SIGTERM (143)',
  },
} as const satisfies Record<string, CodeEntry>;

export type Code = keyof typeof CODES;

/** The exit codes that are not errors. */
const NO_ERRORS = new Map([
  ['success', 'success, even if nothing was found'],
  ['changed', 'saved --refresh --exit-code: something changed'],
]);

export const exitCodes = () =>
  Object.entries({ success: 0, ...EXIT_CODES }).map(([kind, exit]) => {
    const codes = Object.entries(CODES).filter(([, entry]) => entry.kind === kind);
    const about = NO_ERRORS.get(kind);
    return {
      exit,
      kind,
      ...(about !== undefined && { meaning: about }),
      codes: codes.map(([code, { meaning }]) => ({ code, meaning })),
    };
  });

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
  /** The tool that failed. */
  readonly tool?: string;
  /** The requested details, if they may require a paid key. */
  readonly level?: string;
  /** The option of the client that is invalid. */
  readonly option?: 'baseUrl' | 'endpoint';
  /** A valid URL in place of an invalid one. */
  readonly url?: string;
  /** The environment variable that is invalid. */
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
    const entry: CodeEntry = CODES[code];
    this.code = code;
    this.retryable = details.retryable ?? entry.retryable ?? false;
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
    return CODES[this.code].kind;
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

/** Returns the result of work that may fail, or undefined. */
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

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
  interrupted: 130,
} as const;

export type Kind = keyof typeof EXIT_CODES;

interface CodeEntry {
  readonly kind: Kind;
  /** The meaning, for the help topic. */
  readonly meaning: string;
  readonly hint: Hint;
  readonly retryable?: true;
}

/** Every `code` string that an error can carry. Part of the public interface. */
export const CODES = {
  unexpected: {
    kind: 'unexpected',
    meaning: 'internal error in this program',
    hint: 'run the command again with --verbose and report what it prints',
  },
  usage: { kind: 'usage', meaning: 'an option or argument is invalid', hint: 'restaurant --help' },
  no_service: {
    kind: 'usage',
    meaning: 'no service is configured',
    hint: 'restaurant login --base-url <url>, or try it offline with --demo',
  },
  bad_input: {
    kind: 'usage',
    meaning: 'an input file or stdin is not in the expected format',
    hint: 'restaurant help formats',
  },
  bad_config: {
    kind: 'usage',
    meaning: 'a setting or the config file is invalid',
    hint: 'restaurant status shows each setting and where it comes from',
  },
  not_found: {
    kind: 'not_found',
    meaning: 'the id, tool, or row does not exist',
    hint: 'restaurant find <name> --city <city>',
  },
  no_key: { kind: 'auth', meaning: 'no API key', hint: 'restaurant login' },
  bad_key: { kind: 'auth', meaning: 'the API key is malformed', hint: 'restaurant login' },
  unauthorized: { kind: 'auth', meaning: 'the service rejected the API key (401)', hint: 'restaurant login' },
  forbidden: {
    kind: 'auth',
    meaning: 'the API key does not have permission (403)',
    hint: 'restaurant status --check',
  },
  plan_required: {
    kind: 'auth',
    meaning: 'the requested fields require a paid key',
    hint: 'restaurant lookup <id> --fields basic works with every key',
  },
  rate_limited: {
    kind: 'rate_limit',
    meaning: 'the rate limit of the service is exceeded (429)',
    hint: 'restaurant status shows the quota',
    retryable: true,
  },
  budget_spent: {
    kind: 'rate_limit',
    meaning: 'the quota counted on this machine is used up',
    hint: 'restaurant status shows when requests are available again',
    retryable: true,
  },
  network: {
    kind: 'network',
    meaning: 'the service cannot be reached (DNS, connection refused, or connection reset)',
    hint: 'check the URL and the network: restaurant status --check',
    retryable: true,
  },
  timeout: {
    kind: 'network',
    meaning: 'no response within the time limit',
    hint: 'allow more time with --timeout 2m',
    retryable: true,
  },
  tls: {
    kind: 'network',
    meaning: 'the TLS connection failed',
    hint: 'check the URL with restaurant status; a private CA goes into NODE_EXTRA_CA_CERTS',
  },
  http_error: {
    kind: 'service',
    meaning: 'the service returned an HTTP error',
    hint: 'restaurant status --check',
  },
  rpc_error: {
    kind: 'service',
    meaning: 'the service returned a JSON-RPC error',
    hint: 'add --verbose to see the request and response, or: restaurant status --check',
  },
  tool_error: {
    kind: 'service',
    meaning: 'the tool ran and failed',
    hint: 'add --verbose to see the request and response, or: restaurant status --check',
  },
  bad_response: {
    kind: 'service',
    meaning: 'the response cannot be read',
    hint: 'add --verbose to see the request and response, or: restaurant status --check --verbose',
  },
  partial: {
    kind: 'partial',
    meaning: 'some rows or ids failed',
    hint: 'each failed row shows its error; run those again',
  },
  io_error: {
    kind: 'local',
    meaning: 'a file, the disk, or stdout failed',
    hint: 'restaurant status shows the files in use',
  },
  in_use: {
    kind: 'local',
    meaning: 'another process is writing that file',
    hint: 'wait for the other process, or name another file with -o',
    retryable: true,
  },
  interrupted: {
    kind: 'interrupted',
    meaning: 'stopped by Ctrl-C (130) or SIGTERM (143)',
    hint: 'run the command again',
  },
} as const satisfies Record<string, CodeEntry>;

export type Code = keyof typeof CODES;

/** The exit codes with their error codes, for the documentation. */
export const exitCodes = () =>
  Object.entries(EXIT_CODES).map(([kind, exit]) => {
    const codes = Object.entries(CODES).filter(([, entry]) => entry.kind === kind);
    return { exit, kind, codes: codes.map(([code, { meaning }]) => ({ code, meaning })) };
  });

/**
 * Why an HTTP request failed, which determines whether it is retried. `refused`: the connection was refused, so nothing
 * was sent. `reset`: the connection was closed before the response. `cut_off`: it was closed during the response.
 * `incomplete`: the response ended normally but is not complete.
 */
export type Reason =
  | 'refused'
  | 'connect_timeout'
  | 'unreachable'
  | 'dns'
  | 'proxy'
  | 'reset'
  | 'cut_off'
  | 'incomplete'
  | 'time';

/** Details of an error, in addition to its code and message. */
export interface ErrorDetails {
  /** Default: the hint of the code. */
  readonly hint?: Hint | undefined;
  /** Default: that of the code. */
  readonly retryable?: boolean;
  /** HTTP status of the reply. */
  readonly status?: number;
  /** Seconds to wait before a retry. */
  readonly retryAfter?: number;
  readonly restaurantId?: string;
  /** `error.code` of a JSON-RPC error. */
  readonly rpcCode?: number | string;
  /** Request id that the service put in a response header. */
  readonly requestId?: string;
  /** Why there was no readable response. */
  readonly reason?: Reason;
  readonly cause?: unknown;
}

/** The error class of this program. Thrown where an error occurs, reported once in cli.ts. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly hint: Hint;
  readonly retryable: boolean;
  readonly details: ErrorDetails;

  constructor(code: Code, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    const entry: CodeEntry = CODES[code];
    this.code = code;
    this.hint = details.hint ?? entry.hint;
    this.retryable = details.retryable ?? entry.retryable ?? false;
    this.details = details;
  }

  /** Returns the same error with another message; `details` override its own. */
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

/** The reader of our stdout closed the pipe (EPIPE). Not a failure: the run ends silently with exit code 0. */
export class PipeClosed extends Error {
  override readonly name = 'PipeClosed';
}

/** Returns the system's `code` of an error (`ENOENT`, `ECONNRESET`, …), or undefined. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

import { again, type Hint, restaurant, slot } from './hint.ts';

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
  readonly meaning: string;
  readonly hint: Hint;
  readonly retryable?: true;
}

const LOGIN: Hint = { command: restaurant('login') };
const CHECK = restaurant('status', '--check');
const SHOW_EXCHANGE: Hint = [
  {
    text: 'see the request and the response',
    command: again({ '--verbose': true }, { without: ['--quiet'] }),
  },
  { text: 'or check the service', command: CHECK },
];

/** Every `code` string that an error can carry. Part of the public interface. */
export const CODES = {
  unexpected: {
    kind: 'unexpected',
    meaning: 'internal error in this program',
    hint: { text: 'report what this prints', command: again({ '--verbose': true }) },
  },
  usage: {
    kind: 'usage',
    meaning: 'an option or argument is invalid',
    hint: { command: restaurant('--help') },
  },
  no_service: {
    kind: 'usage',
    meaning: 'no service is configured',
    hint: [
      { command: restaurant('login', '--base-url', slot('url')) },
      { text: 'or try it with sample data', command: again({ '--demo': true }) },
    ],
  },
  bad_input: {
    kind: 'usage',
    meaning: 'an input file or stdin is not in the expected format',
    hint: { command: restaurant('help', 'formats') },
  },
  bad_config: {
    kind: 'usage',
    meaning: 'a setting or the config file is invalid',
    hint: { text: 'see each setting and where it comes from', command: restaurant('status') },
  },
  not_found: {
    kind: 'not_found',
    meaning: 'the id, tool, or row does not exist',
    hint: { command: restaurant('find', slot('name'), '--city', slot('city')) },
  },
  no_key: { kind: 'auth', meaning: 'no API key', hint: LOGIN },
  bad_key: { kind: 'auth', meaning: 'the API key is malformed', hint: LOGIN },
  unauthorized: { kind: 'auth', meaning: 'the service rejected the API key (401)', hint: LOGIN },
  forbidden: {
    kind: 'auth',
    meaning: 'the API key does not have permission (403)',
    hint: { command: CHECK },
  },
  plan_required: {
    kind: 'auth',
    meaning: 'the requested fields require a paid key',
    hint: {
      text: 'basic details work with every key',
      command: restaurant('lookup', slot('id'), '--fields', 'basic'),
    },
  },
  rate_limited: {
    kind: 'rate_limit',
    meaning: 'the rate limit of the service is exceeded (429)',
    hint: { text: 'see the quota', command: restaurant('status') },
    retryable: true,
  },
  budget_spent: {
    kind: 'rate_limit',
    meaning: 'the quota counted on this machine is used up',
    hint: { text: 'see when requests are available again', command: restaurant('status') },
    retryable: true,
  },
  network: {
    kind: 'network',
    meaning: 'the service cannot be reached (DNS, connection refused, or connection reset)',
    hint: { text: 'check the URL and the network', command: CHECK },
    retryable: true,
  },
  timeout: {
    kind: 'network',
    meaning: 'no response within the time limit',
    hint: { text: 'allow more time', command: again({ '--timeout': '2m' }) },
    retryable: true,
  },
  tls: {
    kind: 'network',
    meaning: 'the TLS connection failed',
    hint: [
      { text: 'check the URL', command: restaurant('status') },
      { text: 'a private CA goes into NODE_EXTRA_CA_CERTS' },
    ],
  },
  http_error: {
    kind: 'service',
    meaning: 'the service returned an HTTP error',
    hint: { command: CHECK },
  },
  rpc_error: {
    kind: 'service',
    meaning: 'the service returned a JSON-RPC error',
    hint: SHOW_EXCHANGE,
  },
  tool_error: {
    kind: 'service',
    meaning: 'the tool ran and failed',
    hint: SHOW_EXCHANGE,
  },
  bad_response: {
    kind: 'service',
    meaning: 'the response cannot be read',
    hint: SHOW_EXCHANGE,
  },
  partial: {
    kind: 'partial',
    meaning: 'some rows or ids failed',
    hint: { text: 'each failed row shows its error; run those again' },
  },
  io_error: {
    kind: 'local',
    meaning: 'a file, the disk, or stdout failed',
    hint: { text: 'see the files in use', command: restaurant('status') },
  },
  in_use: {
    kind: 'local',
    meaning: 'another process is writing that file',
    hint: { text: 'wait for the other process, or name another file with -o' },
    retryable: true,
  },
  interrupted: {
    kind: 'interrupted',
    meaning: 'stopped by Ctrl-C (130) or SIGTERM (143)',
    hint: { text: 'run the command again' },
  },
} as const satisfies Record<string, CodeEntry>;

export type Code = keyof typeof CODES;

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
  | 'closed'
  | 'connect_timeout'
  | 'unreachable'
  | 'dns'
  | 'proxy'
  | 'reset'
  | 'cut_off'
  | 'incomplete'
  | 'time';

export interface ErrorDetails {
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

export const usage = (message: string, hint?: Hint): AppError => new AppError('usage', message, { hint });

/** The reader of our stdout closed the pipe (EPIPE). Not a failure: the run ends silently with exit code 0. */
export class PipeClosed extends Error {
  override readonly name = 'PipeClosed';
}

/** Returns the system's `code` of an error (`ENOENT`, `ECONNRESET`, …), or undefined. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

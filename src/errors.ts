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
  | 'proxied_dns'
  | 'reset'
  | 'cut_off'
  | 'incomplete'
  | 'time'
  | 'not_http'
  | 'not_tls'
  | 'certificate_name'
  | 'certificate_time'
  | 'unknown_authority'
  | 'too_large'
  | 'web_page'
  | 'other_host'
  | 'mcp_version'
  | 'input_required'
  | 'invalid_url'
  | 'has_query'
  | 'invalid_header'
  | 'authorization_header'
  | 'invalid_proxy'
  | 'plain_http';

/** Facts about an error, in addition to its code. */
export interface ErrorDetails {
  /** Advice for a person at a terminal. Not set by the client. */
  readonly hint?: Hint | undefined;
  readonly retryable?: boolean | undefined;
  readonly status?: number | undefined;
  /** Seconds to wait before a retry. */
  readonly retryAfter?: number | undefined;
  readonly restaurantId?: string;
  /** `error.code` of a JSON-RPC error. */
  readonly rpcCode?: number | string | undefined;
  /** Request id that the service put in a response header. */
  readonly requestId?: string | undefined;
  readonly reason?: Reason | undefined;
  /** host:port of the service. */
  readonly host?: string;
  /** The explanation of the service, shortened. */
  readonly serviceMessage?: string | undefined;
  /** The part of a response that reports the failure, if it is not the HTTP status. */
  readonly layer?: 'rpc' | 'tool';
  /** The fault of a response: "the response is not UTF-8". */
  readonly problem?: string;
  readonly attempts?: number;
  /** Why no further attempt was made. */
  readonly stoppedBy?: 'retries' | 'max_wait' | 'deadline';
  /** The wait that the service asked for, ms. */
  readonly askedWaitMs?: number;
  /** When the quota or a pause ends, if that is too long to wait, ms since the epoch. */
  readonly freeAt?: number;
  /** The time limit that was exceeded, or that the asked wait exceeds, ms. */
  readonly limitMs?: number;
  /** How far an exchange got until it failed. */
  readonly phase?: 'connecting' | 'waiting' | 'reading';
  /** The code of a system error, such as `ECONNREFUSED`. */
  readonly systemCode?: string;
  /** The names in a certificate. */
  readonly names?: string | undefined;
  /** The input that a tool requested, and that nobody can provide. */
  readonly requested?: string;
  /** The last characters of the key that was sent. */
  readonly keySuffix?: string | undefined;
  /** The configured protocol, if the service may use another one. */
  readonly protocol?: string;
  readonly tool?: string | undefined;
  /** The requested details, if they may require a paid key. */
  readonly level?: string | undefined;
  /** The option of the client that is invalid. */
  readonly option?: 'baseUrl' | 'endpoint';
  /** A valid URL in place of an invalid one. */
  readonly url?: string;
  readonly variable?: string;
  /** The file or tool that failed, named before the message. */
  readonly about?: string;
  /** A result of the failure, named after the message: "nothing was saved". */
  readonly consequence?: string;
  readonly cause?: unknown;
}

/** The message, or a function that makes it from the facts when it is read. */
type Sentence = string | ((code: Code, facts: ErrorDetails) => string);

/** The error class of this program. Thrown where an error occurs, reported once in run.ts. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: Code;
  readonly #sentence: Sentence;
  #details: ErrorDetails;

  constructor(code: Code, sentence: Sentence, details: ErrorDetails = {}) {
    super(undefined, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.#sentence = sentence;
    this.#details = details;
  }

  override get message(): string {
    const sentence = this.#sentence;
    const { about, consequence } = this.#details;
    const text = typeof sentence === 'string' ? sentence : sentence(this.code, this.#details);
    return `${about === undefined ? '' : `${about}: `}${text}${consequence === undefined ? '' : `; ${consequence}`}`;
  }

  get details(): ErrorDetails {
    return this.#details;
  }

  get retryable(): boolean {
    return this.#details.retryable ?? RETRYABLE.includes(this.code);
  }

  get kind(): Kind {
    return KIND_OF[this.code];
  }

  /** Adds what is known now. An error is made once, where it occurs, and passed on with more facts. */
  add(facts: ErrorDetails): this {
    this.#details = { ...this.#details, ...facts };
    return this;
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

/** Returns the hint of the error that some work throws, if any. */
export async function hintOfFailure(work: () => unknown): Promise<Hint | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return error.details.hint;
  }
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

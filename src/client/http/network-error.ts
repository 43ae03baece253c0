import { AppError, type Code, type ErrorDetails, systemCode } from '../../errors.ts';
import { formatDuration } from '../../util/duration.ts';
import { excerpt } from '../../util/excerpt.ts';
import { isLoopback } from '../endpoint.ts';

/**
 * What broke an exchange. `refused`: no connection came about, nothing was sent. `reset`: closed without an answer.
 * `cut_off`: closed inside the answer. `incomplete`: the answer ended in good order but is not all there.
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

/** An exchange that ended without a readable answer, with its reason for the decision to try again. */
export class ExchangeError extends AppError {
  readonly reason: Reason;

  constructor(code: Code, reason: Reason, message: string, details: ErrorDetails = {}) {
    super(code, message, details);
    this.reason = reason;
  }
}

/** The same error with another message (and details), its reason kept. */
export function withMessage(error: AppError, message: string, details: ErrorDetails = {}): AppError {
  const all = { ...error.details, hint: error.hint, retryable: error.retryable, ...details };
  return error instanceof ExchangeError
    ? new ExchangeError(error.code, error.reason, message, all)
    : new AppError(error.code, message, all);
}

/** Where an exchange stood when it broke. */
export type Phase = 'connecting' | 'waiting' | 'reading';

export interface NetworkFailure {
  readonly target: URL;
  /** The proxy in between, without credentials. */
  readonly proxy: URL | undefined;
  readonly phase: Phase;
  readonly connectMs: number;
  /** What the HTTP parser made of it. */
  readonly judgement: 'malformed' | 'cut_off' | undefined;
}

/** Codes of the system, OpenSSL and undici for a broken exchange, by what they mean. */
const UNREACHABLE = [
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EACCES',
  'EPERM',
];
const CLOSED = [
  'ECONNRESET',
  'EPIPE',
  'ECONNABORTED',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'ERR_STREAM_PREMATURE_CLOSE',
];
const MALFORMED = ['UND_ERR_HEADERS_OVERFLOW', 'ERR_ASSERTION'];
const NOT_TLS = [
  'EPROTO',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
  'ERR_SSL_HTTP_REQUEST',
];
const TLS =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|CRL_|EPROTO$|UND_ERR_PRX_TLS$)/;

/** What a broken exchange means, judged by its error's `code` and by how far it had come. */
export function networkError(error: unknown, at: NetworkFailure): AppError {
  const code = systemCode(error) ?? '';
  if (at.proxy !== undefined && (at.phase === 'connecting' || code === 'UND_ERR_ABORTED')) {
    if (!TLS.test(code)) return proxyError(error, code, at.proxy);
  }
  if (error instanceof AppError) return error;
  const host = at.target.host;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code.startsWith('EAI_')) {
    const what = code === 'EAI_AGAIN' ? 'cannot be looked up right now' : 'does not exist';
    return broken('dns', `the host name ${at.target.hostname} ${what} (${code})`, error, {
      hint: 'check the URL and the network: restaurant status',
      retryable: code === 'EAI_AGAIN',
    });
  }
  if (code === 'ECONNREFUSED') return refused(error, at.target);
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || (code === 'ETIMEDOUT' && at.phase === 'connecting')) {
    const message = `no connection to ${host} within ${formatDuration(at.connectMs)}`;
    return new ExchangeError('timeout', 'connect_timeout', message, {
      hint: 'check the URL and the network: restaurant status --check',
      cause: error,
    });
  }
  if (UNREACHABLE.includes(code)) return broken('unreachable', `${host} cannot be reached (${code})`, error);
  if (TLS.test(code)) return tlsError(error, code, at.target);
  const badLength = code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  // Before the body it is a head with contradicting lengths.
  if (at.judgement === 'malformed' || MALFORMED.includes(code) || (badLength && at.phase !== 'reading')) {
    return malformed(code, host);
  }
  if (at.phase === 'reading' && (at.judgement === 'cut_off' || badLength || CLOSED.includes(code))) {
    return broken('cut_off', `${host} closed the connection in the middle of its answer`, error);
  }
  if (at.judgement === 'cut_off' || CLOSED.includes(code)) {
    return broken('reset', `${host} closed the connection without an answer`, error);
  }
  return broken('unreachable', `the exchange with ${host} failed${code === '' ? '' : ` (${code})`}`, error);
}

function broken(
  reason: Reason,
  message: string,
  cause: unknown,
  details: { hint?: string; retryable?: boolean } = {},
): ExchangeError {
  return new ExchangeError('network', reason, message, { ...details, cause });
}

function refused(error: unknown, target: URL): ExchangeError {
  // Told where it says more than the host does.
  const tried = addresses(error).filter((address) => address !== target.host);
  const where = tried.length === 0 ? '' : `, tried ${tried.join(' and ')}`;
  return broken('refused', `connection refused by ${target.host}${where}`, error, {
    hint: isLoopback(target)
      ? 'is the sandbox running? restaurant sandbox'
      : 'check the URL: restaurant status --check',
  });
}

/** Addresses that a connection was tried to, of one attempt or of several (AggregateError). */
function addresses(error: unknown): string[] {
  const all: unknown[] = error instanceof AggregateError ? error.errors : [error];
  return all.flatMap((each) => {
    if (typeof each !== 'object' || each === null || !('address' in each) || !('port' in each)) return [];
    const address = String(each.address);
    return [`${address.includes(':') ? `[${address}]` : address}:${String(each.port)}`];
  });
}

function malformed(code: string, host: string): AppError {
  const message =
    code === 'UND_ERR_HEADERS_OVERFLOW'
      ? `the answer of ${host} has more header data than allowed (16 KiB)`
      : `${host} does not answer as an HTTP server should`;
  return new AppError('bad_response', message, { hint: 'check the URL and its port: restaurant status' });
}

function tlsError(error: unknown, code: string, target: URL): AppError {
  const host = target.host;
  const details = { cause: error };
  if (NOT_TLS.includes(code)) {
    const plain = `http://${host}`;
    return new AppError(
      'tls',
      `no TLS connection to ${host} comes about (${code}); it may speak plain HTTP`,
      {
        ...details,
        hint: `try ${plain}: restaurant status --check --base-url ${plain}`,
      },
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = namesIn(error);
    return new AppError(
      'tls',
      `the certificate of ${host} is for ${names ?? 'another host'}, not for ${target.hostname}`,
      details,
    );
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    const when = code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet';
    return new AppError('tls', `the certificate of ${host} ${when}`, {
      ...details,
      hint: "check this machine's clock, then: restaurant status --check",
    });
  }
  return new AppError(
    'tls',
    `the secure connection to ${host} failed: its certificate or TLS is not accepted (${code})`,
    details,
  );
}

function namesIn(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('cert' in error)) return undefined;
  const { cert } = error;
  if (typeof cert !== 'object' || cert === null || !('subjectaltname' in cert)) return undefined;
  return typeof cert.subjectaltname === 'string' ? excerpt(cert.subjectaltname, 100) : undefined;
}

function proxyError(error: unknown, code: string, proxy: URL): AppError {
  const what =
    error instanceof AppError
      ? error.message
      : code === 'ECONNREFUSED'
        ? 'refused the connection'
        : `does not connect${code === '' || code === 'UND_ERR_ABORTED' ? '' : ` (${code})`}`;
  return new ExchangeError('network', 'proxy', `the proxy ${proxy.host} ${what}`, {
    hint: 'check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, then: restaurant status --check',
    cause: error,
  });
}

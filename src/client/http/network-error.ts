import { AppError, type ErrorDetails, type Reason, systemCode } from '../../errors.ts';
import { formatDuration } from '../../util/duration.ts';
import { excerpt } from '../../util/excerpt.ts';

/** The phase of an exchange in which it failed. */
export type Phase = 'connecting' | 'waiting' | 'reading';

/** Error codes of the system, OpenSSL, undici, and `codeOf`, by their meaning. */
const UNREACHABLE = /^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/;
const CLOSED =
  /^(?:ECONNRESET|EPIPE|ECONNABORTED|ETIMEDOUT|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE|UNEXPECTED_END)$/;
const MALFORMED = /^(?:UND_ERR_HEADERS_OVERFLOW|ERR_ASSERTION|UNEXPECTED_DATA)$/;
const NOT_TLS =
  /^(?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/;
const TLS =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|CRL_|EPROTO$)/;

/** Classifies the failure of an exchange by its error's `code` and its phase. */
export function networkError(
  error: unknown,
  { target, phase, connectMs }: { target: URL; phase: Phase; connectMs: number },
): AppError {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  const { host } = target;
  const failed = (reason: Reason, message: string, details: ErrorDetails = {}) =>
    new AppError('network', message, { reason, host, ...details, cause: error });
  if (code.startsWith('EAI_') || code === 'ENOTFOUND') {
    const retryable = code === 'EAI_AGAIN';
    const problem = retryable ? 'cannot be resolved right now' : 'does not exist';
    return failed('dns', `the host name ${target.hostname} ${problem} (${code})`, { retryable });
  }
  if (code === 'ECONNREFUSED') {
    return failed('refused', `connection refused by ${host}`);
  }
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || (code === 'ETIMEDOUT' && phase === 'connecting')) {
    const message = `no connection to ${host} within ${formatDuration(connectMs)}`;
    return new AppError('timeout', message, { reason: 'connect_timeout', host, cause: error });
  }
  if (UNREACHABLE.test(code)) return failed('unreachable', `${host} cannot be reached (${code})`);
  if (TLS.test(code)) return tlsError(error, code, target);
  const isBadLength = code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  // Before the body, this error means that the headers contain different lengths.
  if (MALFORMED.test(code) || (isBadLength && phase !== 'reading')) {
    const message =
      code === 'UND_ERR_HEADERS_OVERFLOW'
        ? `the response from ${host} has more than 16 KiB of headers`
        : `${host} does not respond as an HTTP server`;
    return new AppError('bad_response', message, { reason: 'not_http', host });
  }
  if (phase === 'reading' && (isBadLength || CLOSED.test(code))) {
    return failed('cut_off', `${host} closed the connection in the middle of its response`);
  }
  if (CLOSED.test(code)) {
    return failed('reset', `${host} closed the connection without a response`);
  }
  return failed('unreachable', `the request to ${host} failed${code === '' ? '' : ` (${code})`}`);
}

/** The name of an error for data that undici rejected. */
export const UNEXPECTED_DATA = 'UNEXPECTED_DATA';

/**
 * Returns the code of an error. Errors of undici's HTTP parser have none; their `data` is empty at the end of the input.
 */
function codeOf(error: unknown): string {
  if (error instanceof Error && error.name === UNEXPECTED_DATA) return UNEXPECTED_DATA;
  if (!(error instanceof Error) || error.name !== 'HTTPParserError') return systemCode(error) ?? '';
  return 'data' in error && error.data ? UNEXPECTED_DATA : 'UNEXPECTED_END';
}

/** Codes for a certificate chain that ends in an unknown authority. */
export const UNKNOWN_AUTHORITY = /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_|UNABLE_TO_)/;

function tlsError(error: unknown, code: string, { host, hostname }: URL): AppError {
  const certificate = `the certificate of ${host}`;
  const problems: readonly (readonly [RegExp, string, Reason?])[] = [
    [NOT_TLS, `TLS handshake with ${host} failed (${code}); the server may speak plain HTTP`, 'not_tls'],
    [
      /^ERR_TLS_CERT_ALTNAME_INVALID$/,
      `${certificate} is for ${namesIn(error) ?? 'another host'}, not for ${hostname}`,
    ],
    [/^CERT_HAS_EXPIRED$/, `${certificate} has expired`, 'certificate_time'],
    [/^CERT_NOT_YET_VALID$/, `${certificate} is not valid yet`, 'certificate_time'],
    [
      UNKNOWN_AUTHORITY,
      `${certificate} is not signed by an authority that this machine trusts (${code})`,
      'unknown_authority',
    ],
  ];
  const other = `the TLS connection to ${host} failed: certificate or protocol not accepted (${code})`;
  const [, message = other, reason] = problems.find(([codes]) => codes.test(code)) ?? [];
  return new AppError('tls', message, { host, cause: error, ...(reason && { reason }) });
}

/** Returns the names that a rejected certificate is for, as Node attaches it to its error. */
function namesIn(error: unknown): string | undefined {
  const names = (error as { cert?: { subjectaltname?: unknown } } | null)?.cert?.subjectaltname;
  return typeof names === 'string' ? excerpt(names, 100) : undefined;
}

import { AppError, type Code, type Reason, systemCode } from '../../errors.ts';
import { excerpt, formatDuration } from '../../util/format.ts';

export type Phase = 'connecting' | 'waiting' | 'reading';

interface Failure {
  readonly error: unknown;
  /** The code of the error; empty if it has none. */
  readonly code: string;
  readonly host: string;
  readonly hostname: string;
  readonly connectMs: number;
}

/** The meaning of codes of the system, OpenSSL, undici, and `codeOf`: the error that is reported. */
type Meaning = readonly [
  codes: RegExp,
  as: Code,
  reason: Reason | undefined,
  message: (failure: Failure) => string,
  only?: { readonly phases?: readonly Phase[]; readonly retryable?: boolean },
];

/** Codes for a certificate chain that ends in an unknown authority. */
export const UNKNOWN_AUTHORITY = /^(?:SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_|UNABLE_TO_)/;
const UNREACHABLE = /^(?:EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN|EADDRNOTAVAIL|EACCES|EPERM)$/;
const NOT_TLS =
  /^(?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/;
const TLS =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|ERR_OSSL_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH|CRL_)/;
const CLOSED =
  /^(?:ECONNRESET|EPIPE|ECONNABORTED|ETIMEDOUT|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE|UNEXPECTED_END)$/;
const BAD_LENGTH = /^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/;

const BEFORE_BODY = { phases: ['connecting', 'waiting'] } as const;
const IN_BODY = { phases: ['reading'] } as const;

const noConnection = ({ host, connectMs }: Failure) =>
  `no connection to ${host} within ${formatDuration(connectMs)}`;
const notHttp = ({ host }: Failure) => `${host} does not respond as an HTTP server`;
const cutOff = ({ host }: Failure) => `${host} closed the connection in the middle of its response`;

const MEANINGS: readonly Meaning[] = [
  [
    /^EAI_AGAIN$/,
    'network',
    'dns',
    (it) => `the host name ${it.hostname} cannot be resolved right now (${it.code})`,
  ],
  [
    /^(?:EAI_|ENOTFOUND$)/,
    'network',
    'dns',
    (it) => `the host name ${it.hostname} does not exist (${it.code})`,
    { retryable: false },
  ],
  [/^ECONNREFUSED$/, 'network', 'refused', (it) => `connection refused by ${it.host}`],
  [/^UND_ERR_CONNECT_TIMEOUT$/, 'timeout', 'connect_timeout', noConnection],
  [/^ETIMEDOUT$/, 'timeout', 'connect_timeout', noConnection, { phases: ['connecting'] }],
  [UNREACHABLE, 'network', 'unreachable', (it) => `${it.host} cannot be reached (${it.code})`],
  [
    NOT_TLS,
    'tls',
    'not_tls',
    (it) => `TLS handshake with ${it.host} failed (${it.code}); the server may speak plain HTTP`,
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'tls',
    undefined,
    (it) =>
      `the certificate of ${it.host} is for ${namesIn(it.error) ?? 'another host'}, not for ${it.hostname}`,
  ],
  [/^CERT_HAS_EXPIRED$/, 'tls', 'certificate_time', (it) => `the certificate of ${it.host} has expired`],
  [
    /^CERT_NOT_YET_VALID$/,
    'tls',
    'certificate_time',
    (it) => `the certificate of ${it.host} is not valid yet`,
  ],
  [
    UNKNOWN_AUTHORITY,
    'tls',
    'unknown_authority',
    (it) =>
      `the certificate of ${it.host} is not signed by an authority that this machine trusts (${it.code})`,
  ],
  [
    TLS,
    'tls',
    undefined,
    (it) => `the TLS connection to ${it.host} failed: certificate or protocol not accepted (${it.code})`,
  ],
  [
    /^UND_ERR_HEADERS_OVERFLOW$/,
    'bad_response',
    'not_http',
    (it) => `the response from ${it.host} has more than 16 KiB of headers`,
  ],
  [/^(?:ERR_ASSERTION|UNEXPECTED_DATA)$/, 'bad_response', 'not_http', notHttp],
  // Before the body, this error means that the headers contain different lengths.
  [BAD_LENGTH, 'bad_response', 'not_http', notHttp, BEFORE_BODY],
  [BAD_LENGTH, 'network', 'cut_off', cutOff, IN_BODY],
  [CLOSED, 'network', 'cut_off', cutOff, IN_BODY],
  [CLOSED, 'network', 'reset', (it) => `${it.host} closed the connection without a response`],
  [/^$/, 'network', 'unreachable', (it) => `the request to ${it.host} failed`],
  [/^/, 'network', 'unreachable', (it) => `the request to ${it.host} failed (${it.code})`],
];

export function networkError(
  error: unknown,
  { target, phase, connectMs }: { target: URL; phase: Phase; connectMs: number },
): AppError {
  if (error instanceof AppError) return error;
  const { host, hostname } = target;
  const code = codeOf(error);
  const [, as, reason, message, only] = MEANINGS.find(
    ([codes, , , , { phases } = {}]) => codes.test(code) && (phases?.includes(phase) ?? true),
  ) as Meaning;
  const { retryable } = only ?? {};
  const text = message({ error, code, host, hostname, connectMs });
  return new AppError(as, text, { ...(reason && { reason }), host, retryable, cause: error });
}

export const UNEXPECTED_DATA = 'UNEXPECTED_DATA';

/** Errors of undici's HTTP parser have no code; their `data` is empty at the end of the input. */
function codeOf(error: unknown): string {
  if (error instanceof Error && error.name === UNEXPECTED_DATA) return UNEXPECTED_DATA;
  if (!(error instanceof Error) || error.name !== 'HTTPParserError') return systemCode(error) ?? '';
  return 'data' in error && error.data ? UNEXPECTED_DATA : 'UNEXPECTED_END';
}

function namesIn(error: unknown): string | undefined {
  const names = (error as { cert?: { subjectaltname?: unknown } } | null)?.cert?.subjectaltname;
  return typeof names === 'string' ? excerpt(names, 100) : undefined;
}

import { AppError, type Code, type Reason, systemCode as systemCodeOf } from '../../errors.ts';
import { excerpt } from '../../util/format.ts';
import { ServiceError } from '../service-error.ts';

export type Phase = 'connecting' | 'waiting' | 'reading';

/** The meaning of codes of the system, OpenSSL, undici, and `codeOf`. */
type Meaning = readonly [
  codes: RegExp,
  as: Code,
  reason: Reason | undefined,
  only?: { readonly phases?: readonly Phase[]; readonly retryable?: boolean },
];

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

/** The first that matches counts. */
const MEANINGS: readonly Meaning[] = [
  [/^EAI_AGAIN$/, 'network', 'dns'],
  [/^(?:EAI_|ENOTFOUND$)/, 'network', 'dns', { retryable: false }],
  [/^ECONNREFUSED$/, 'network', 'refused'],
  [/^UND_ERR_CONNECT_TIMEOUT$/, 'timeout', 'connect_timeout'],
  [/^ETIMEDOUT$/, 'timeout', 'connect_timeout', { phases: ['connecting'] }],
  [UNREACHABLE, 'network', 'unreachable'],
  [NOT_TLS, 'tls', 'not_tls'],
  [/^ERR_TLS_CERT_ALTNAME_INVALID$/, 'tls', 'certificate_name'],
  [/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/, 'tls', 'certificate_time'],
  [UNKNOWN_AUTHORITY, 'tls', 'unknown_authority'],
  [TLS, 'tls', undefined],
  [/^(?:UND_ERR_HEADERS_OVERFLOW|ERR_ASSERTION|UNEXPECTED_DATA)$/, 'bad_response', 'not_http'],
  // Before the body, this error means that the headers contain different lengths.
  [BAD_LENGTH, 'bad_response', 'not_http', BEFORE_BODY],
  [BAD_LENGTH, 'network', 'cut_off', IN_BODY],
  [CLOSED, 'network', 'cut_off', IN_BODY],
  [CLOSED, 'network', 'reset'],
  [/^/, 'network', undefined],
];

export function networkError(
  error: unknown,
  { target, phase, connectMs }: { target: URL; phase: Phase; connectMs: number },
): AppError {
  if (error instanceof AppError) return error;
  const systemCode = codeOf(error);
  const [, code, reason, only] = MEANINGS.find(
    ([codes, , , { phases } = {}]) => codes.test(systemCode) && (phases?.includes(phase) ?? true),
  ) as Meaning;
  return new ServiceError(code, {
    host: target.host,
    cause: error,
    limitMs: connectMs,
    ...(reason && { reason }),
    ...(systemCode !== '' && { systemCode }),
    ...(only?.retryable !== undefined && { retryable: only.retryable }),
    ...(reason === 'certificate_name' && { names: namesIn(error) }),
  });
}

export const UNEXPECTED_DATA = 'UNEXPECTED_DATA';

/** Errors of undici's HTTP parser have no code; their `data` is empty at the end of the input. */
function codeOf(error: unknown): string {
  if (error instanceof Error && error.name === UNEXPECTED_DATA) return UNEXPECTED_DATA;
  if (!(error instanceof Error) || error.name !== 'HTTPParserError') return systemCodeOf(error) ?? '';
  return 'data' in error && error.data ? UNEXPECTED_DATA : 'UNEXPECTED_END';
}

function namesIn(error: unknown): string | undefined {
  const names = (error as { cert?: { subjectaltname?: unknown } } | null)?.cert?.subjectaltname;
  return typeof names === 'string' ? excerpt(names, 100) : undefined;
}

import { AppError, type Code, type ErrorDetails, type Reason } from '../errors.ts';
import { excerpt, formatDuration } from '../util/format.ts';
import { mapValues } from '../util/json.ts';

/** The failure of a call. It carries facts only; its message is made from them when it is read. */
export class ServiceError extends AppError {
  constructor(code: Code, facts: ErrorDetails) {
    super(code, sentenceOf, facts);
  }

  /** Changes every text that the message is made from. */
  redact(change: (text: string) => string): this {
    return this.add(
      mapValues({ ...this.details }, (fact) => (typeof fact === 'string' ? change(fact) : fact)),
    );
  }
}

/** A response that cannot be used. @param problem the end of a sentence */
export const badResponse = (problem: string, facts: ErrorDetails = {}): ServiceError =>
  new ServiceError('bad_response', { problem, ...facts });

function sentenceOf(code: Code, facts: ErrorDetails): string {
  const { restaurantId, level, status } = facts;
  const what = `${whatFailed(code, facts)}${whyEnded(facts)}`;
  if (restaurantId === undefined) return what;
  if (code === 'not_found') return `no restaurant ${restaurantId}: ${what}`;
  if (code === 'plan_required' && status === 403 && level !== undefined)
    return `fields ${level} require a paid key: ${what}`;
  return what;
}

function whatFailed(code: Code, facts: ErrorDetails): string {
  const { reason, layer, status, problem, host, serviceMessage } = facts;
  const byReason = reason && BY_REASON[reason];
  if (byReason !== undefined) return byReason(facts);
  if (layer !== undefined) return byLayer(facts);
  if (problem !== undefined) return named(host, problem);
  if (status !== undefined) {
    const text = (BY_STATUS[status] ?? (() => `${host} returned HTTP ${status}`))(facts);
    return serviceMessage === undefined ? text : `${text}: ${serviceMessage}`;
  }
  return code === 'tls'
    ? `the TLS connection to ${host} failed: certificate or protocol not accepted (${facts.systemCode})`
    : `the request to ${host} failed${withCode(facts.systemCode)}`;
}

const named = (host: string | undefined, text: string): string =>
  host === undefined ? text : `${host}: ${text}`;

/** For a JSON-RPC error, or the result of a failed tool. */
function byLayer({ layer, host, rpcCode, serviceMessage }: ErrorDetails): string {
  const number = rpcCode === undefined ? '' : ` (JSON-RPC error ${excerpt(String(rpcCode), 40)})`;
  const what = `${serviceMessage ?? `the ${layer === 'tool' ? 'tool' : 'service'} failed without an error message`}${number}`;
  return serviceMessage === undefined || host === undefined ? named(host, what) : `${host} says: ${what}`;
}

function whyEnded({ stoppedBy, attempts = 1, askedWaitMs, limitMs }: ErrorDetails): string {
  if (stoppedBy === 'retries') return attempts === 1 ? '' : ` (tried ${attempts} times)`;
  if (stoppedBy === undefined) return '';
  if (askedWaitMs === undefined) return '; no time is left for a retry';
  if (stoppedBy === 'max_wait' && limitMs === 0) return '';
  const limit =
    stoppedBy === 'deadline' ? 'less time is left' : `the limit is ${formatDuration(limitMs ?? 0)}`;
  return `; the service asked to wait ${formatDuration(askedWaitMs)}; ${limit}`;
}

type Phrase = (facts: ErrorDetails) => string;

const withCode = (code: string | undefined): string => (code === undefined ? '' : ` (${code})`);

const BY_REASON: Readonly<Partial<Record<Reason, Phrase>>> = {
  dns: ({ host = '', systemCode }) => {
    const name = host.replace(/:\d+$/, '');
    const problem = systemCode === 'EAI_AGAIN' ? 'cannot be resolved right now' : 'does not exist';
    return `the host name ${name} ${problem}${withCode(systemCode)}`;
  },
  refused: ({ host }) => `connection refused by ${host}`,
  connect_timeout: ({ host, limitMs = 0 }) => `no connection to ${host} within ${formatDuration(limitMs)}`,
  unreachable: ({ host, systemCode }) => `${host} cannot be reached${withCode(systemCode)}`,
  proxy: ({ problem = '' }) => problem,
  proxied_dns: ({ problem = '' }) => problem,
  reset: ({ host }) => `${host} closed the connection without a response`,
  cut_off: ({ host }) => `${host} closed the connection in the middle of its response`,
  time: ({ host, limitMs = 0, phase = 'waiting' }) =>
    ({
      connecting: `no connection to ${host} within ${formatDuration(limitMs)}`,
      waiting: `no response from ${host} within ${formatDuration(limitMs)}`,
      reading: `the response from ${host} did not finish within ${formatDuration(limitMs)}`,
    })[phase],
  not_tls: ({ host, systemCode }) =>
    `TLS handshake with ${host} failed${withCode(systemCode)}; the server may speak plain HTTP`,
  certificate_name: ({ host = '', names = 'another host' }) =>
    `the certificate of ${host} is for ${names}, not for ${host.replace(/:\d+$/, '')}`,
  certificate_time: ({ host, systemCode }) =>
    `the certificate of ${host} ${systemCode === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'}`,
  unknown_authority: ({ host, systemCode }) =>
    `the certificate of ${host} is not signed by an authority that this machine trusts${withCode(systemCode)}`,
  input_required: (facts) => {
    if (facts.requested === undefined) return byLayer(facts);
    return named(
      facts.host,
      `the tool requests input, which this command cannot provide: ${facts.requested}`,
    );
  },
  not_http: ({ host, systemCode }) =>
    systemCode === 'UND_ERR_HEADERS_OVERFLOW'
      ? `the response from ${host} has more than 16 KiB of headers`
      : `${host} does not respond as an HTTP server`,
};

const BY_STATUS: Readonly<Record<number, Phrase>> = {
  401: ({ host, keySuffix }) => {
    const what =
      keySuffix === undefined ? 'request, which had no API key' : `API key ending in '${keySuffix}'`;
    return `${host} rejected the ${what} (401)`;
  },
  402: ({ host }) => `${host} requires a paid key for this (402)`,
  403: ({ host }) => `${host} does not allow this with the current key (403)`,
  407: ({ host }) => `the proxy in front of ${host} requires credentials (407)`,
  429: ({ host, retryAfter }) => {
    const pause = retryAfter === undefined ? '' : `, wait ${formatDuration(retryAfter * 1000)}`;
    return `${host}: too many requests (429${pause})`;
  },
};

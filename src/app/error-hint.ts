import { versions } from 'node:process';
import type { AppError, Code, ErrorDetails, Reason } from '../errors.ts';
import { type Advice, again, fragment, type Hint, restaurant, slot } from '../hint.ts';
import { formatDuration } from '../util/format.ts';
import type { App } from './app.ts';
import { currentKeyHint } from './credentials.ts';
import { hintLine } from './hint-line.ts';
import { exampleSearch } from './seen-results.ts';

const LOGIN: Hint = { command: restaurant('login') };
const STATUS = restaurant('status');
const CHECK = restaurant('status', '--check');
const CHECK_BASE_URL: Hint = { text: 'check the base URL', command: STATUS };
const NETWORK_LOGIN: Hint = {
  text: 'check the base URL, and whether this network requires a login first',
  command: STATUS,
};
const PROXY_LOGIN: Hint = {
  text: 'set HTTPS_PROXY to http://user:password@proxy:port, then',
  command: CHECK,
};
const FORBIDDEN_LEVELS: readonly Code[] = ['tool_error', 'rpc_error', 'http_error'];
const SHOW_EXCHANGE: Hint = [
  {
    text: 'see the request and the response',
    command: again({ '--verbose': true }, { without: ['--quiet'] }),
  },
  { text: 'or check the service', command: CHECK },
];

const BY_REASON: Readonly<Partial<Record<Reason, (facts: ErrorDetails) => Hint | undefined>>> = {
  refused: ({ host = '' }) =>
    /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::|$)/.test(host)
      ? { text: 'is the sandbox running?', command: restaurant('sandbox') }
      : undefined,
  connect_timeout: () => BY_CODE.network,
  proxy: ({ status }) =>
    status === 407
      ? PROXY_LOGIN
      : { text: 'check HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, then', command: CHECK },
  proxied_dns: ({ url }) => ({ text: `use ${url}, which resolves names in the proxy, then`, command: CHECK }),
  invalid_proxy: ({ variable = '' }) => ({
    text: 'unset it for one call',
    command: { ...CHECK, env: { [variable]: '' } },
  }),
  not_http: () => ({ text: 'check the URL and its port', command: STATUS }),
  not_tls: ({ host }) => ({
    text: `try http://${host}`,
    command: restaurant('status', '--check', '--base-url', `http://${host}`),
  }),
  certificate_time: () => ({ text: "check this machine's clock, then", command: CHECK }),
  unknown_authority: () => privateCaHint(),
  too_large: () => ({ text: 'search more narrowly' }),
  web_page: () => NETWORK_LOGIN,
  other_host: () => NETWORK_LOGIN,
  mcp_version: () => ({ command: restaurant('status', '--check', '--protocol', 'bare') }),
  input_required: () => ({
    text: 'use a client that can ask you',
    command: restaurant('mcp', 'config', 'claude-code', '--via', 'http'),
  }),
  invalid_url: ({ url, option }) =>
    url === undefined
      ? { text: 'expected a URL like https://<host>' }
      : { command: restaurant('status', option === 'endpoint' ? '--endpoint' : '--base-url', url) },
  has_query: () => ({ text: '--endpoint takes an exact URL' }),
  invalid_header: () => ({ text: 'use the form', command: fragment('-H', 'X-Name: value') }),
  authorization_header: () => [
    { text: 'save the key', command: restaurant('login') },
    { text: 'other services', command: restaurant('config', 'set', 'key-prefix', slot('prefix')) },
  ],
  plain_http: ({ host }) => [
    { text: `use https://${host}` },
    { text: 'or on a network that you trust', command: again({ '--insecure-http': true }) },
  ],
};

const BY_STATUS: Readonly<Record<number, Hint>> = {
  404: CHECK_BASE_URL,
  407: PROXY_LOGIN,
  511: NETWORK_LOGIN,
};

const BY_CODE: Readonly<Record<Code, Hint>> = {
  unexpected: { text: 'report what this prints', command: again({ '--verbose': true }) },
  usage: { command: restaurant('--help') },
  no_service: [
    { text: 'try it with sample data', command: again({ '--demo': true }) },
    { text: 'or log in', command: restaurant('login') },
  ],
  bad_input: { command: restaurant('help', 'formats') },
  bad_config: { text: 'see each setting and where it comes from', command: STATUS },
  not_found: { text: 'to search', command: restaurant('find', '--help') },
  no_key: LOGIN,
  bad_key: { text: 'save a key', command: restaurant('login') },
  unauthorized: LOGIN,
  forbidden: { command: CHECK },
  plan_required: {
    text: 'basic details work with every key',
    command: restaurant('lookup', slot('id'), '--fields', 'basic'),
  },
  rate_limited: { text: 'see the quota', command: STATUS },
  budget_spent: { text: 'see when requests are available again', command: STATUS },
  network: { text: 'check the URL and the network', command: CHECK },
  timeout: { text: 'allow more time', command: again({ '--timeout': '2m' }) },
  tls: [{ text: 'check the URL', command: STATUS }, { text: 'a private CA goes into NODE_EXTRA_CA_CERTS' }],
  http_error: { command: CHECK },
  rpc_error: SHOW_EXCHANGE,
  tool_error: SHOW_EXCHANGE,
  bad_response: SHOW_EXCHANGE,
  partial: { text: 'each failed row shows its error; run those again' },
  io_error: { text: 'see the files in use', command: STATUS },
  in_use: { text: 'wait for the other process, or name another file with -o' },
  interrupted: { text: 'run the command again' },
};

/** Returns what to do about an error at a terminal: its own hint, or the one for its facts, or for its code. */
export const hintFor = (error: AppError): Hint => factHint(error) ?? BY_CODE[error.code];

/** As {@link hintFor}, without the hint for the code. */
export function factHint({ code, details }: AppError): Hint | undefined {
  const { hint, protocol, reason, tool, status = 0 } = details;
  if (hint !== undefined) return hint;
  if (protocol !== undefined) {
    const text = `the service may use another protocol than ${protocol}`;
    return { text, command: restaurant('tools', '--protocol', 'auto') };
  }
  const found = (reason && BY_REASON[reason]?.(details)) ?? waitHint(code, details);
  if (found !== undefined) return found;
  const byLevel = levelHint(code, details);
  if (byLevel !== undefined) return byLevel;
  if (tool !== undefined) return { text: 'see its arguments', command: restaurant('tools', tool) };
  if (status >= 300 && status < 400) return CHECK_BASE_URL;
  return code === 'http_error' || code === 'network' ? BY_STATUS[status] : undefined;
}

/** For a lookup that failed, because of its level or possibly so. */
function levelHint(code: Code, { restaurantId, level }: ErrorDetails): Hint | undefined {
  if (restaurantId === undefined) return undefined;
  const basic = {
    text: 'basic details work with every key',
    command: restaurant('lookup', restaurantId, '--fields', 'basic'),
  };
  if (code === 'plan_required') return basic;
  if (level === undefined || !FORBIDDEN_LEVELS.includes(code)) return undefined;
  return [{ text: `fields ${level} require a paid key` }, basic];
}

/** For a failure after which the service asked for a longer wait than this run allows. */
function waitHint(
  code: Code,
  { retryAfter, askedWaitMs, status, stoppedBy }: ErrorDetails,
): Hint | undefined {
  if (retryAfter === undefined || askedWaitMs === undefined) return undefined;
  // Other waits count against the time of the call.
  const isExtended = status === 429 || code === 'budget_spent';
  const limits = isExtended ? ['--max-wait'] : ['--max-wait', '--timeout'];
  const options = stoppedBy === 'max_wait' ? limits : ['--timeout'];
  const wait = { text: `run the command again in ${formatDuration(retryAfter * 1000)}` };
  if (retryAfter > 86_400) return wait;
  const seconds = retryAfter + 30;
  const time = seconds < 600 ? `${seconds}s` : `${Math.ceil(seconds / 60)}m`;
  const allow: Advice = {
    text: 'or allow it',
    command: again(Object.fromEntries(options.map((option) => [option, time]))),
  };
  return [wait, allow];
}

function privateCaHint(): Hint {
  const [major = 0, minor = 0] = versions.node.split('.').map(Number);
  const isSupported = major > 24 || (major === 24 && minor >= 6) || (major === 22 && minor >= 19);
  const own = { text: 'for a private CA', command: { ...CHECK, env: { NODE_EXTRA_CA_CERTS: 'ca.pem' } } };
  const system = {
    text: 'for the CAs of the system',
    command: { ...CHECK, env: { NODE_USE_SYSTEM_CA: '1' } },
  };
  return isSupported ? [own, system] : own;
}

/** Formats the hint of an error. @param fallback the hint for an error without one */
export const errorHintLine = (app: App, error: AppError, fallback?: Hint): string =>
  hintLine(app, hintInRun(app, error, fallback));

export function hintInRun(app: App, error: AppError, fallback?: Hint): Hint {
  const byRun = error.code === 'unauthorized' ? currentKeyHint(app) : fallback;
  const byCode =
    error.code === 'not_found' ? { text: 'to search', command: exampleSearch(app) } : BY_CODE[error.code];
  return factHint(error) ?? byRun ?? byCode;
}

import { assertMayCarryKey, isLoopback } from '../client/endpoint.ts';
import {
  checkHeader,
  isHarmless,
  parseHeaders,
  type RequestHeaders,
  withHeaders,
} from '../client/http/headers.ts';
import { checkKey, secretsIn } from '../client/key.ts';
import type { TraceContext } from '../client/rpc/envelope.ts';
import { AppError } from '../errors.ts';
import { again, type Command, type Hint, restaurant, slot } from '../hint.ts';
import { SETTING_NAMES } from '../settings/catalog.ts';
import { type SettingView, SOURCES, type Source, variable } from '../settings/settings.ts';
import type { CommandWords } from '../settings/values.ts';
import { serviceOf } from '../storage/config-file.ts';
import { openProtocolStore } from '../storage/state.ts';
import { nearest } from '../util/nearest.ts';
import { parseUrl } from '../util/url.ts';
import type { App } from './app.ts';

export interface FoundEndpoint {
  readonly url: URL;
  readonly source: Source;
}

/**
 * Returns the endpoint from a flag, else the environment, else the profile. From the same source, an exact endpoint
 * overrides the base URL. Undefined for the embedded sandbox.
 * @throws {AppError} `usage` for an invalid URL; `bad_config` if it comes from a variable or the config file
 */
export function configuredEndpoint({ settings, globals }: App): FoundEndpoint | undefined {
  if (globals.demo === true) return undefined;
  const rank = (name: 'endpoint' | 'base-url') => SOURCES.indexOf(settings.raw(name).source);
  const name = rank('endpoint') <= rank('base-url') ? 'endpoint' : 'base-url';
  const { value: url, source } = settings.resolve(name);
  return url && { url, source };
}

/** Returns the settings of the client. @throws {AppError} `usage`, `bad_config` for an invalid setting */
export const clientSettings = ({ settings }: App) => ({
  protocol: settings.get('protocol'),
  timeoutMs: settings.get('timeout'),
  retries: settings.get('retries'),
  maxWaitMs: settings.get('max-wait'),
  maxBodyBytes: settings.get('max-body'),
});

/** Returns the endpoint. @throws {AppError} `no_service`; `usage` for a profile that is not saved; `bad_config` */
export function requireEndpoint(app: App): FoundEndpoint {
  const found = configuredEndpoint(app);
  // If the service is configured elsewhere, the run does not need the damaged config file.
  if (found === undefined || !app.isConfigDamaged) requireProfile(app);
  if (found === undefined) throw new AppError('no_service', 'no service is configured');
  return found;
}

/**
 * Checks that a profile is saved; `default` always counts as saved.
 * @param name default: the profile of this run
 * @throws {AppError} `usage` listing the saved ones; `bad_config` if the config file is damaged
 */
export function requireProfile(app: App, name = app.settings.profileName): void {
  const saved = Object.keys(app.config().profiles ?? {});
  if (name === 'default' || saved.includes(name)) return;
  const { value, source } = app.settings.raw('profile');
  const address = configuredEndpoint(app) === undefined ? ['--base-url', slot('url')] : [];
  const near = nearest(name, saved).map((each) =>
    source === 'flag' && value === name
      ? { text: `did you mean ${each}?`, command: again({ '--profile': each }) }
      : { text: `did you mean ${each}?` },
  );
  const other =
    source === 'config' && value === name
      ? { text: 'use the default profile', command: restaurant('config', 'unset', 'profile') }
      : { text: 'save it', command: restaurant('login', '--profile', name, ...address) };
  throw new AppError('usage', `no profile '${name}'; saved: ${saved.join(', ') || 'none'}`, {
    hint: [...near, other],
  });
}

/** An API key and its source, or a key command that has not been run yet. */
export type FoundKey =
  | {
      readonly source: 'env' | 'config' | 'key-command';
      readonly value: string;
      readonly command?: undefined;
    }
  | { readonly source: 'key-command'; readonly value?: undefined; readonly command: CommandWords };

/**
 * Returns the API key of the environment, else the key command, else the saved key. A saved key is sent only to the
 * service it was saved for; all ports of this machine count as one.
 * @throws {AppError} `bad_key`; `no_key` for a saved key of another service
 */
export function configuredKey(app: App, endpoint: URL | undefined): FoundKey | undefined {
  const prefix = app.settings.get('key-prefix');
  const { environmentKey } = app;
  if (environmentKey !== undefined) {
    return { value: checkKey(environmentKey, prefix, keyHint(app, 'env')), source: 'env' };
  }
  const command = app.settings.get('key-command');
  if (command !== undefined) {
    assertSavedFor(endpoint, profileOrigin(app), 'the key of key-command');
    const value = app.commandKey;
    return value === undefined ? { command, source: 'key-command' } : { value, source: 'key-command' };
  }
  const { key, key_origin: origin } = app.settings.profile;
  if (key === undefined || key === '') return undefined;
  // A key that was saved without a service belongs to the service of its profile.
  assertSavedFor(endpoint, origin ?? profileOrigin(app), 'the saved key');
  return { value: checkKey(key, prefix), source: 'config' };
}

/** Whether the key was saved without a service. */
function isUnbound(app: App, source: FoundKey['source']): boolean {
  if (source === 'config') return app.settings.profile.key_origin === undefined;
  const isSaved = source === 'key-command' && app.settings.raw('key-command').source === 'config';
  return isSaved && profileOrigin(app) === undefined;
}

/** Returns the origin of the service that the profile is for. */
function profileOrigin({ settings: { profile } }: App): string | undefined {
  const url = serviceOf(profile);
  return url === undefined ? undefined : parseUrl(url)?.origin;
}

function assertSavedFor(endpoint: URL | undefined, origin: string | undefined, what: string): void {
  if (endpoint === undefined || origin === undefined || sameService(endpoint, origin)) return;
  throw new AppError('no_key', `${what} belongs to ${origin} and is not sent to ${endpoint.origin}`, {
    hint: {
      text: 'save another',
      command: restaurant('login', '--base-url', endpoint.origin, '--profile', slot('name')),
    },
  });
}

function sameService(endpoint: URL, origin: string): boolean {
  if (endpoint.origin === origin) return true;
  const home = parseUrl(origin);
  return home !== undefined && isLoopback(home) && isLoopback(endpoint);
}

/**
 * Returns the key; an empty string if there is none but additional headers may authenticate.
 * @throws {AppError} `no_key`, `bad_key`; `bad_config` if the config file is damaged
 */
export async function requireKey(
  app: App,
  endpoint: URL,
  headers: RequestHeaders = {},
): Promise<FoundKey & { readonly value: string }> {
  const found = configuredKey(app, endpoint);
  if (found?.command !== undefined) {
    const { runKeyCommand } = await import('./key-command.ts');
    const key = await runKeyCommand(app, found.command);
    app.registerSecret(key);
    app.commandKey = checkKey(key, app.settings.get('key-prefix'), keyHint(app, 'key-command'));
    return { value: app.commandKey, source: 'key-command' };
  }
  if (found !== undefined) return found;
  // A damaged config file may contain the key.
  app.config();
  if (mayAuthenticate(headers)) return { value: '', source: 'config' };
  const { profileName } = app.settings;
  const which = profileName === 'default' ? '' : ` for the profile ${profileName}`;
  throw new AppError('no_key', `no API key${which}`, {
    hint: [{ text: 'set RESTAURANT_API_KEY' }, { text: 'or log in', command: loginCommand(app) }],
  });
}

const mayAuthenticate = (headers: RequestHeaders): boolean =>
  Object.keys(headers).some((name) => !isHarmless(name));

export const loginCommand = ({ settings }: App): Command => restaurant('login', ...settings.profileOption);

/** Returns the hint for a rejected key. A login does not help while the key comes from another source. */
export function keyHint(app: App, source: FoundKey['source']): Hint {
  const command = loginCommand(app);
  return {
    config: { command },
    'key-command': {
      text: 'the key is printed by key-command',
      command: restaurant('config', 'get', 'key-command'),
    },
    env: [
      { text: 'the key is from RESTAURANT_API_KEY: set another there' },
      { text: 'or unset RESTAURANT_API_KEY and log in', command },
    ],
  }[source];
}

/**
 * Returns the additional headers: those of the profile, which are only sent to its own service, overridden by those of
 * the command line.
 * @param raw keeps `${VAR}` in saved values
 * @throws {AppError} `usage`; `bad_config` for a saved header that cannot be used
 */
export function requestHeaders(app: App, endpoint: URL, raw = false): RequestHeaders {
  const origin = profileOrigin(app);
  const isOwn = origin !== undefined && sameService(endpoint, origin);
  const saved = Object.entries((isOwn && app.settings.profile.headers) || {}).map(([name, text]) => {
    return [name, raw ? text : expandVariables(app, name, text)] as const;
  });
  const headers = withHeaders(Object.fromEntries(saved), parseHeaders(app.globals.header ?? []));
  for (const [name, value] of Object.entries(headers)) {
    const isReference = raw && /\$\{\w+\}/.test(value);
    if (!isHarmless(name) && !isReference) for (const secret of secretsIn(value)) app.registerSecret(secret);
  }
  return headers;
}

/**
 * Returns all settings and the saved headers. Header values are hidden unless they are harmless or refer to variables.
 */
export function settingViews({ settings }: App): Record<string, SettingView> {
  const headers = Object.entries(settings.profile.headers ?? {}).map(
    ([name, value]): [string, SettingView] => [
      `header.${name}`,
      { value: shownHeader(name, value), source: 'config' },
    ],
  );
  return Object.fromEntries([...SETTING_NAMES.map((name) => [name, settings.view(name)]), ...headers]);
}

export const SECRET = '…';

export const shownHeader = (name: string, value: string): string =>
  isHarmless(name) || /^(?:(?:Bearer|Basic|Token) +)?\$\{\w+\}$/.test(value) ? value : SECRET;

/** Replaces each `${VAR}` with the value of the variable. */
function expandVariables(app: App, name: string, text: string): string {
  const value = text.replace(/\$\{(\w+)\}/g, (_match, variableName: string) => {
    const found = variable(app.context.env, variableName);
    if (found !== undefined) return found;
    throw new AppError('bad_config', `header.${name}: the variable ${variableName} is not set`, {
      hint: [
        { text: `set the variable ${variableName}` },
        {
          text: 'or',
          command: restaurant('config', 'unset', `header.${name}`, ...app.settings.profileOption),
        },
      ],
    });
  });
  checkHeader(name, value);
  return value;
}

/** Returns the trace context of this run, from the environment. */
export const traceContextOf = (env: App['context']['env']): TraceContext => ({
  traceparent: variable(env, 'TRACEPARENT'),
  tracestate: variable(env, 'TRACESTATE'),
  baggage: variable(env, 'BAGGAGE'),
});

/** Returns whether the service supports MCP, as configured or detected; undefined if unknown. */
export function supportsMcp(app: App): boolean | undefined {
  const protocol = app.settings.get('protocol');
  if (protocol !== 'auto') return protocol !== 'bare';
  const endpoint = configuredEndpoint(app)?.url.href;
  const stored = endpoint === undefined ? undefined : openProtocolStore(app.paths.stateDir, endpoint).read();
  return stored && stored.era !== 'bare';
}

/** The service of a run, and the key for it. */
export interface Target {
  readonly url: URL;
  /** Empty if additional headers authenticate. */
  readonly key: string;
  readonly keyHint?: Hint;
  readonly headers?: RequestHeaders;
  /** The key or its command was saved without a service. It is bound to the first service that accepts it. */
  readonly isUnboundKey?: boolean;
  /** Whether this is the sandbox in this process: nothing is counted or stored. */
  readonly demo: boolean;
}

/** Prefix of the keys of every sandbox. */
const SANDBOX_KEYS = 'sk_service_demo_';

/** Mode of the sandbox for --demo: the plain service, or a full MCP server with a list of its tools. */
export type DemoMode = 'service' | 'mcp';

/**
 * Opens the service of this run. With --demo it starts a sandbox, which is called over HTTP like any service and stops
 * at the end of the run.
 * @throws {AppError} `no_service`, `no_key`, `bad_key`; `usage` if the key would be sent unencrypted
 */
export async function openTarget(app: App, demoMode: DemoMode = 'service'): Promise<Target> {
  if (app.globals.demo === true) {
    app.warnOfIgnoredConfig();
    const { startSandbox } = await import('../sandbox/server.ts');
    const sandbox = await startSandbox({ mode: demoMode, perMinute: 0, perDay: 0 });
    app.onClose(() => sandbox.close());
    return { url: new URL(sandbox.endpoint), key: sandbox.keys.paid, demo: true };
  }
  const { url, source } = requireEndpoint(app);
  const headers = requestHeaders(app, url);
  const { value: key, source: keySource } = await requireKey(app, url, headers);
  app.warnOfIgnoredConfig();
  if (source === 'config' && isLoopback(url) && key.startsWith(SANDBOX_KEYS)) {
    void app.remark(`sandbox data: the saved service ${url.host} is the sandbox of this machine`);
  }
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  return {
    url,
    key,
    keyHint: keyHint(app, keySource),
    headers,
    isUnboundKey: key !== '' && isUnbound(app, keySource),
    demo: false,
  };
}

/**
 * Returns the service of this run if its endpoint and key are configured. Does not start the sandbox or run the key
 * command.
 */
export function configuredTarget(app: App): Target | undefined {
  const url = configuredEndpoint(app)?.url;
  if (url === undefined) return undefined;
  const headers = requestHeaders(app, url);
  const key = configuredKey(app, url)?.value ?? (mayAuthenticate(headers) ? '' : undefined);
  return key === undefined ? undefined : { url, key, headers, demo: false };
}

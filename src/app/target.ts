import { join } from 'node:path';
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
import { AppError, failure, usage } from '../errors.ts';
import { again, type Command, type Hint, restaurant, slot } from '../hint.ts';
import { SETTING_NAMES } from '../settings/catalog.ts';
import { type SettingView, SOURCES, type Source, variable } from '../settings/settings.ts';
import type { CommandWords } from '../settings/values.ts';
import { serviceOf } from '../storage/config-file.ts';
import { openJsonFile, openProtocolStore } from '../storage/state.ts';
import { mapValues } from '../util/json.ts';
import { nearest } from '../util/nearest.ts';
import { parseUrl } from '../util/url.ts';
import type { App } from './app.ts';

interface ConfiguredEndpoint {
  readonly url: URL;
  readonly source: Source;
}

/** From a flag, else the environment, else the profile; undefined for the embedded sandbox. */
export function configuredEndpoint({ settings, globals }: App): ConfiguredEndpoint | undefined {
  if (globals.demo === true) return undefined;
  // From the same source, an exact endpoint overrides the base URL.
  const rank = (name: 'endpoint' | 'base-url') => SOURCES.indexOf(settings.raw(name).source);
  const name = rank('endpoint') <= rank('base-url') ? 'endpoint' : 'base-url';
  const { value: url, source } = settings.resolve(name);
  return url && { url, source };
}

export function requireEndpoint(app: App): ConfiguredEndpoint {
  const endpoint = configuredEndpoint(app);
  // If the service is configured elsewhere, the run does not need the damaged config file.
  if (endpoint === undefined || !app.config.isDamaged) requireProfile(app);
  if (endpoint === undefined) {
    // A preview cannot show a URL of the embedded sandbox.
    const isPreview = app.globals.dryRun === true || app.globals.curl === true;
    const hint = { command: restaurant('login', '--base-url', slot('url')) };
    throw new AppError('no_service', 'no service is configured', isPreview ? { hint } : {});
  }
  return endpoint;
}

export function requireProfile(app: App, name = app.settings.profileName): void {
  const saved = Object.keys(app.config.file().profiles ?? {});
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
  throw usage(`no profile '${name}'; saved: ${saved.join(', ') || 'none'}`, [...near, other]);
}

function profileOrigin({ settings: { profile } }: App): string | undefined {
  const url = serviceOf(profile);
  return url === undefined ? undefined : parseUrl(url)?.origin;
}

/** All ports of this machine count as one service, because a sandbox has a new port each time. */
function sameService(endpoint: URL, origin: string): boolean {
  if (endpoint.origin === origin) return true;
  const home = parseUrl(origin);
  return home !== undefined && isLoopback(home) && isLoopback(endpoint);
}

export function supportsMcp(app: App): boolean | undefined {
  const protocol = app.settings.get('protocol');
  if (protocol !== 'auto') return protocol !== 'bare';
  const endpoint = configuredEndpoint(app)?.url.href;
  const stored = endpoint === undefined ? undefined : openProtocolStore(app.paths.stateDir, endpoint).read();
  return stored && stored.era !== 'bare';
}

const mayAuthenticate = (headers: RequestHeaders): boolean =>
  Object.keys(headers).some((name) => !isHarmless(name));

/** Those of the command line override those of the profile. @param raw keeps `${VAR}` in saved values */
export function requestHeaders(app: App, endpoint: URL, raw = false): RequestHeaders {
  const origin = profileOrigin(app);
  const isOwn = origin !== undefined && sameService(endpoint, origin);
  const saved = mapValues((isOwn && app.settings.profile.headers) || {}, (text, name) =>
    raw ? text : expandVariables(app, name, text),
  );
  const headers = withHeaders(saved, parseHeaders(app.globals.header ?? []));
  for (const [name, value] of Object.entries(headers)) {
    const isReference = raw && /\$\{\w+\}/.test(value);
    if (!isHarmless(name) && !isReference)
      for (const secret of secretsIn(value)) app.secrets.register(secret);
  }
  return headers;
}

export function settingViews({ settings }: App): Record<string, SettingView> {
  const headers = Object.entries(settings.profile.headers ?? {}).map(
    ([name, value]): [string, SettingView] => [
      `header.${name}`,
      { value: displayHeader(name, value), source: 'config' },
    ],
  );
  return Object.fromEntries([...SETTING_NAMES.map((name) => [name, settings.view(name)]), ...headers]);
}

export const SECRET = '…';

export const displayHeader = (name: string, value: string): string =>
  isHarmless(name) || /^(?:(?:Bearer|Basic|Token) +)?\$\{\w+\}$/.test(value) ? value : SECRET;

function expandVariables(app: App, name: string, text: string): string {
  const value = text.replace(/\$\{(\w+)\}/g, (_match, variableName: string) => {
    const text = variable(app.context.env, variableName);
    if (text !== undefined) return text;
    throw failure('bad_config', `header.${name}: the variable ${variableName} is not set`, [
      { text: `set the variable ${variableName}` },
      { text: 'or', command: restaurant('config', 'unset', `header.${name}`, ...app.settings.profileOption) },
    ]);
  });
  checkHeader(name, value);
  return value;
}

/** The command is not run yet if there is no value. */
export interface ConfiguredKey {
  readonly source: 'env' | 'config' | 'key-command';
  readonly value?: string;
  readonly command?: CommandWords;
}

/** The key of the environment, else the key command, else the saved key. @throws {AppError} `no_key`, `bad_key` */
export function configuredKey(app: App, endpoint: URL | undefined): ConfiguredKey | undefined {
  const prefix = app.settings.get('key-prefix');
  const { environmentKey } = app.secrets;
  if (environmentKey !== undefined) {
    return { value: checkKey(environmentKey, prefix, keyHint(app, 'env')), source: 'env' };
  }
  const command = app.settings.get('key-command');
  if (command !== undefined) {
    assertSavedFor(endpoint, profileOrigin(app), 'the key of key-command');
    const value = app.secrets.commandKey;
    return value === undefined ? { command, source: 'key-command' } : { value, source: 'key-command' };
  }
  const { key, key_origin: origin } = app.settings.profile;
  if (key === undefined || key === '') return undefined;
  // A key that was saved without a service belongs to the service of its profile.
  assertSavedFor(endpoint, origin ?? profileOrigin(app), 'the saved key');
  return { value: checkKey(key, prefix), source: 'config' };
}

function isUnbound(app: App, source: ConfiguredKey['source']): boolean {
  if (source === 'config') return app.settings.profile.key_origin === undefined;
  const isSaved = source === 'key-command' && app.settings.raw('key-command').source === 'config';
  return isSaved && profileOrigin(app) === undefined;
}

function assertSavedFor(endpoint: URL | undefined, origin: string | undefined, what: string): void {
  if (endpoint === undefined || origin === undefined || sameService(endpoint, origin)) return;
  throw failure('no_key', `${what} belongs to ${origin} and is not sent to ${endpoint.origin}`, {
    text: 'save another',
    command: restaurant('login', '--base-url', endpoint.origin, '--profile', slot('name')),
  });
}

/** Runs the key command, if there is one. An empty key means that additional headers may authenticate. */
export async function requireKey(
  app: App,
  endpoint: URL,
  headers: RequestHeaders = {},
): Promise<Required<Pick<ConfiguredKey, 'source' | 'value'>>> {
  const { source = 'config', value, command } = configuredKey(app, endpoint) ?? {};
  if (value !== undefined) return { value, source };
  if (command !== undefined) {
    const { runKeyCommand } = await import('./key-command.ts');
    const key = await runKeyCommand(app, command);
    app.secrets.register(key);
    app.secrets.commandKey = checkKey(key, app.settings.get('key-prefix'), keyHint(app, 'key-command'));
    return { value: app.secrets.commandKey, source };
  }
  // A damaged config file may contain the key.
  app.config.file();
  if (mayAuthenticate(headers)) return { value: '', source: 'config' };
  const { profileName } = app.settings;
  const which = profileName === 'default' ? '' : ` for the profile ${profileName}`;
  throw failure('no_key', `no API key${which}`, [
    { text: 'set RESTAURANT_API_KEY' },
    { text: 'or log in', command: loginCommand(app) },
  ]);
}

/** @throws {AppError} `usage` for words that look like an API key */
export function refuseKey({ secrets }: App, what: string, words: readonly string[]): void {
  if (words.every((word) => secrets.redact(word) === word)) return;
  throw usage(`${what} looks like an API key; nothing was sent`, {
    text: 'to save a key',
    command: restaurant('login'),
  });
}

export const loginCommand = ({ settings }: App): Command => restaurant('login', ...settings.profileOption);

export function currentKeyHint(app: App): Hint | undefined {
  if (app.globals.demo === true) return undefined;
  if (app.secrets.environmentKey !== undefined) return keyHint(app, 'env');
  return keyHint(app, app.settings.get('key-command') === undefined ? 'config' : 'key-command');
}

/** A login does not help while the key comes from another source. */
function keyHint(app: App, source: ConfiguredKey['source']): Hint {
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

export const clientSettings = ({ settings }: App) => ({
  protocol: settings.get('protocol'),
  timeoutMs: settings.get('timeout'),
  retries: settings.get('retries'),
  maxWaitMs: settings.get('max-wait'),
});

export const traceContextOf = (env: App['context']['env']): TraceContext => ({
  traceparent: variable(env, 'TRACEPARENT'),
  tracestate: variable(env, 'TRACESTATE'),
  baggage: variable(env, 'BAGGAGE'),
});

export interface Target {
  readonly url: URL;
  /** Empty if additional headers authenticate. */
  readonly key: string;
  readonly headers?: RequestHeaders;
  /** The key or its command was saved without a service. It is bound to the first service that accepts it. */
  readonly isUnboundKey?: boolean;
  /** Whether this is the sandbox in this process: nothing is counted or stored. */
  readonly demo: boolean;
}

/** Stored instead of the URL of the embedded sandbox, whose port changes. */
export const DEMO = 'demo';
const DAY_MS = 86_400_000;
const SANDBOX_KEYS = 'sk_service_demo_';

export type DemoMode = 'service' | 'mcp';

/** With --demo, starts a sandbox, which is called over HTTP like any service and stops at the end of the run. */
export async function openTarget(app: App, demoMode: DemoMode = 'service'): Promise<Target> {
  // A usage error is reported before a missing key, which another person may have to provide.
  clientSettings(app);
  if (app.globals.demo === true) {
    app.config.warnIfIgnored();
    void app.notes.note('sample data (--demo)');
    if (app.globals.offline === true) return { url: new URL('http://127.0.0.1'), key: '', demo: true };
    const { startSandbox } = await import('../sandbox/server.ts');
    const sandbox = await startSandbox({ mode: demoMode, perMinute: 0, perDay: 0 });
    app.cleanup.add(() => sandbox.close());
    return { url: new URL(sandbox.endpoint), key: sandbox.keys.paid, demo: true };
  }
  const { url, source } = requireEndpoint(app);
  const headers = requestHeaders(app, url);
  const { value: key, source: keySource } = await requireKey(app, url, headers);
  app.config.warnIfIgnored();
  if (source === 'config' && isLoopback(url) && key.startsWith(SANDBOX_KEYS)) {
    warnOfSandbox(app, url.host);
  }
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  return {
    url,
    key,
    headers,
    isUnboundKey: key !== '' && isUnbound(app, keySource),
    demo: false,
  };
}

function warnOfSandbox({ context, notes, paths, terminal }: App, host: string): void {
  if (!terminal.isInteractive && !terminal.verbose) return;
  const path = paths.stateDir && join(paths.stateDir, 'sandbox-warning.json');
  const warning = openJsonFile(path, ({ at }) => (typeof at === 'number' ? { at } : undefined));
  const at = context.now();
  if (Math.abs(at - (warning.read()?.at ?? 0)) < DAY_MS) return;
  warning.write({ at });
  void notes.remark(`sandbox data: the saved service ${host} is the sandbox of this machine`);
}

/** Unlike {@link openTarget}, neither starts the sandbox nor runs the key command. */
export function configuredTarget(app: App): Target | undefined {
  const url = configuredEndpoint(app)?.url;
  if (url === undefined) return undefined;
  const headers = requestHeaders(app, url);
  const key = configuredKey(app, url)?.value ?? (mayAuthenticate(headers) ? '' : undefined);
  return key === undefined ? undefined : { url, key, headers, demo: false };
}

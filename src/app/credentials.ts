import {
  checkHeader,
  isHarmless,
  parseHeaders,
  type RequestHeaders,
  withHeaders,
} from '../client/http/headers.ts';
import { checkKey, secretsIn } from '../client/key.ts';
import type { TraceContext } from '../client/rpc/envelope.ts';
import { failure, usage } from '../errors.ts';
import { type Command, type Hint, restaurant, slot } from '../hint.ts';
import { variable } from '../settings/settings.ts';
import type { CommandWords } from '../settings/values.ts';
import { mapValues } from '../util/json.ts';
import { profileOrigin, sameService } from './address.ts';
import type { App } from './app.ts';

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
  if (key === undefined) return undefined;
  // A key that was saved without a service belongs to the service of its profile.
  assertSavedFor(endpoint, origin ?? profileOrigin(app), 'the saved key');
  return { value: checkKey(key, prefix), source: 'config' };
}

export function isUnbound(app: App, source: ConfiguredKey['source']): boolean {
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
  headers: RequestHeaders,
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

export const mayAuthenticate = (headers: RequestHeaders): boolean =>
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

export const traceContextOf = (env: App['context']['env']): TraceContext => ({
  traceparent: variable(env, 'TRACEPARENT'),
  tracestate: variable(env, 'TRACESTATE'),
  baggage: variable(env, 'BAGGAGE'),
});

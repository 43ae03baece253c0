import {
  checkHeader,
  isHarmless,
  parseHeaders,
  type RequestHeaders,
  withHeaders,
} from '../client/http/headers.ts';
import { secretsIn } from '../client/key.ts';
import type { TraceContext } from '../client/rpc/envelope.ts';
import { failure } from '../errors.ts';
import { restaurant } from '../hint.ts';
import { SETTING_NAMES } from '../settings/catalog.ts';
import { type SettingView, variable } from '../settings/settings.ts';
import { mapValues } from '../util/json.ts';
import { profileOrigin, sameService } from './address.ts';
import type { App } from './app.ts';

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

export const traceContextOf = (env: App['context']['env']): TraceContext => ({
  traceparent: variable(env, 'TRACEPARENT'),
  tracestate: variable(env, 'TRACESTATE'),
  baggage: variable(env, 'BAGGAGE'),
});

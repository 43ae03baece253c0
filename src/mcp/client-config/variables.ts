import { configuredEndpoint } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import { loginCommand, requestHeaders } from '../../app/credentials.ts';
import type { Advice } from '../../hint.ts';
import { KEY_VARIABLE, type McpClient, type Scope } from './clients.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The variables that the bridge needs and that a client does not pass on, by the way they reach it. */
interface Variables {
  readonly values: Readonly<Record<string, string>>;
  /** Named in the entry: the client reads them when it starts the bridge. */
  readonly names: readonly string[];
  readonly missing: readonly Advice[];
}

/** Variables that clients with an allowlist pass to the programs they start. */
const BASIC_ENV: ReadonlySet<string> = new Set([
  ...'HOME LANG LC_ALL LOGNAME PATH SHELL TERM TMPDIR USER'.split(' '),
  ...'APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROGRAMFILES'.split(' '),
  ...'SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE'.split(' '),
]);

const NETWORK = 'HTTPS_PROXY HTTP_PROXY ALL_PROXY NO_PROXY NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA'.split(' ');

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|CERT|PRIVATE/i;

export function clientEnv({ passesEnv }: Pick<McpClient, 'passesEnv'>, env: Env): Env {
  if (passesEnv === undefined) return env;
  const passes = (name: string): boolean =>
    passesEnv === 'without-secrets' ? !SECRET_NAME.test(name) : BASIC_ENV.has(name.toUpperCase());
  return Object.fromEntries(Object.entries(env).filter(([name]) => passes(name)));
}

/** The saved key, or the command that prints it. */
export const savedKey = ({ settings }: App): string | null =>
  settings.profile.key ?? settings.raw('key-command').value;

export function neededVariables(app: App, client: McpClient, scope: Scope): Variables {
  const { env } = app.context;
  const passed = clientEnv(client, env);
  const isNamed = client.passesEnv === 'named';
  const needsKey = app.secrets.environmentKey !== undefined && (isNamed || savedKey(app) === null);
  const needed = new Set([
    ...NETWORK.flatMap((name) => [name, name.toLowerCase()]),
    ...headerVariables(app),
    ...(needsKey ? [KEY_VARIABLE] : []),
  ]);
  const isLost = (name: string): boolean => (env[name] ?? '') !== '' && passed[name] === undefined;
  const lost = app.globals.demo === true ? [] : [...needed].filter(isLost);
  if (isNamed) return { values: {}, names: lost, missing: [] };
  // A project file is shared, so it must not contain the proxy of one user; nor any file a password.
  const isWritable = (name: string): boolean =>
    scope === 'user' && NETWORK.includes(name.toUpperCase()) && !env[name]?.includes('@');
  const missing = lost.filter((name) => !isWritable(name));
  return {
    values: Object.fromEntries(lost.filter(isWritable).map((name) => [name, env[name] ?? ''])),
    names: [],
    missing: adviceAbout(app, client, missing),
  };
}

/** In the value of a header: a variable, by its name. */
export const VARIABLE = /\$\{(\w+)\}/g;

function headerVariables(app: App): string[] {
  const url = configuredEndpoint(app)?.url;
  const headers = url === undefined ? {} : requestHeaders(app, url, true);
  const references = Object.values(headers).flatMap((value) => [...value.matchAll(VARIABLE)]);
  return references.flatMap(([, name]) => name ?? []);
}

function adviceAbout(app: App, { name }: McpClient, missing: readonly string[]): Advice[] {
  const others = missing.filter((variable) => variable !== KEY_VARIABLE);
  const them = others.length === 1 ? 'it' : 'them';
  const add = `${name} does not pass ${others.join(' and ')} to the bridge: add ${them} to the entry in your user file`;
  const save = `${name} does not pass ${KEY_VARIABLE} to the bridge; save the key`;
  return [
    ...(others.length === 0 ? [] : [{ text: add }]),
    ...(others.length === missing.length ? [] : [{ text: save, command: loginCommand(app) }]),
  ];
}

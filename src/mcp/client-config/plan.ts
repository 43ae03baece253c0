import type { App } from '../../app/app.ts';
import {
  configuredEndpoint,
  displayHeader,
  loginCommand,
  requestHeaders,
  requireEndpoint,
  requireKey,
  supportsMcp,
} from '../../app/target.ts';
import { assertMayCarryKey } from '../../client/endpoint.ts';
import { isHarmless } from '../../client/http/headers.ts';
import { maskKey } from '../../client/key.ts';
import { usage } from '../../errors.ts';
import { type Advice, again, restaurant } from '../../hint.ts';
import { absolute, pathOf } from '../../storage/paths.ts';
import { mapValues } from '../../util/json.ts';
import { clientPath } from './client-file.ts';
import { KEY_VARIABLE, type McpClient, type Scope, type TransportKind } from './clients.ts';
import {
  type BridgeVariables,
  buildEntry,
  CONFIG_VARIABLE,
  type Connection,
  KEY_HEADER,
  SECRET_NAME,
  VARIABLE,
} from './entry.ts';

export interface ConfigOptions {
  via?: TransportKind;
  scope?: Scope;
  write?: true;
  remove?: true;
  check?: true;
  literalKey?: boolean;
}

export type Plan = Awaited<ReturnType<typeof planEntry>>;

export async function planEntry(app: App, client: McpClient, options: ConfigOptions) {
  const { literalKey = false } = options;
  const via = chooseTransport(app, client, options);
  const scope = options.scope ?? (literalKey ? 'user' : (client.scope ?? 'user'));
  if (literalKey && scope === 'project') {
    throw usage('a key is never written into a project file, which other people can read', [
      { command: again({ '--scope': 'user' }) },
      { text: 'or leave out --literal-key' },
    ]);
  }
  const file = clientPath(client, scope, app.context);
  const connection =
    via === 'stdio'
      ? stdioConnection(app, bridgeVariables(app, client, scope))
      : await httpConnection(app, client, literalKey);
  const { platform } = app.context;
  const entry = buildEntry(client, connection, scope, platform);
  const shown = buildEntry(client, masked(app, connection), scope, platform);
  return { client, scope, file, connection, entry, shown };
}

/**
 * Chooses how the client connects: as requested, else directly (http) if the client and the service support it and the
 * file does not have to contain the key.
 * @throws {AppError} `usage` with the alternative if the client does not support the requested one
 */
function chooseTransport(
  app: App,
  client: McpClient,
  { via, literalKey = false }: ConfigOptions,
): TransportKind {
  if (via === 'stdio' && literalKey) {
    throw usage('--literal-key requires --via http: the bridge uses the saved login', {
      command: again({}, { without: ['--literal-key'] }),
    });
  }
  const problem = httpProblem(client, literalKey, app.globals.demo === true);
  if (via === 'http' || literalKey) {
    if (problem === undefined) return 'http';
    const words = via === 'http' ? '--via http and --literal-key' : '--literal-key';
    const hint = literalKey ? { text: `leave out ${words}` } : { command: again({ '--via': 'stdio' }) };
    throw usage(problem, hint);
  }
  // No MCP client can use plain `tools/call`.
  const usesBridge = via === 'stdio' || problem !== undefined || client.httpNote !== undefined;
  return usesBridge || supportsMcp(app) === false ? 'stdio' : 'http';
}

function httpProblem(client: McpClient, literalKey: boolean, demo: boolean): string | undefined {
  const { name, http, reference, namesVariables = false } = client;
  if (http === undefined) return `${name} only supports stdio servers`;
  if (demo) return '--demo has no URL for a client';
  if (reference !== undefined || namesVariables || literalKey) return undefined;
  return `${name} cannot read the key from a variable; --literal-key writes the key itself`;
}

const REPEATED_SETTINGS = ['profile', 'base-url', 'endpoint', 'protocol'] as const;

function stdioConnection(app: App, variables: BridgeVariables): Connection {
  const { globals, settings } = app;
  // Check the URL before it becomes part of a command line.
  configuredEndpoint(app);
  app.config.warnIfIgnored();
  const args = ['mcp'];
  // The embedded sandbox has no address and no key.
  for (const name of globals.demo === true ? (['protocol'] as const) : REPEATED_SETTINGS) {
    const { value, source } = settings.raw(name);
    if (value !== null && (source === 'flag' || source === 'env')) args.push(`--${name}`, value);
  }
  if (globals.insecureHttp === true) args.push('--insecure-http');
  if (globals.demo === true) args.push('--demo');
  return { via: 'stdio', args, variables };
}

/** The saved key, or the command that prints it. */
const savedKey = ({ settings }: App): string | null =>
  settings.profile.key ?? settings.raw('key-command').value;

async function httpConnection(app: App, client: McpClient, literalKey: boolean): Promise<Connection> {
  const { url } = requireEndpoint(app);
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  const templates = requestHeaders(app, url, true);
  const key = app.secrets.environmentKey ?? savedKey(app);
  // Without a key, additional headers may authenticate instead.
  const hasKey = key !== null || Object.keys(templates).every(isHarmless);
  if (literalKey) {
    const headers = { ...requestHeaders(app, url) };
    if (hasKey) headers.Authorization = `Bearer ${(await requireKey(app, url)).value}`;
    return { via: 'http', url: url.href, headers, isLiteral: true };
  }
  for (const [name, value] of Object.entries(templates)) assertReferable(client, name, value);
  const headers = hasKey ? { ...KEY_HEADER, ...templates } : templates;
  return { via: 'http', url: url.href, headers, isLiteral: false };
}

function assertReferable(client: McpClient, name: string, value: string): void {
  const refers = /\$\{\w+\}/.test(value);
  if (!refers && !isHarmless(name)) {
    throw usage(`the value of the header ${name} would be written into the file`, [
      { text: 'refer to a variable', command: restaurant('config', 'set', `header.${name}`, '${VARIABLE}') },
      { text: 'or use the bridge', command: again({ '--via': 'stdio' }) },
    ]);
  }
  const canRefer = client.reference !== undefined || (client.namesVariables && VARIABLE.test(value));
  if (refers && canRefer !== true) {
    throw usage(`${client.name} cannot read the header ${name} from a variable`, [
      { command: again({ '--via': 'stdio' }) },
      { text: 'or add --literal-key' },
    ]);
  }
}

function masked(app: App, connection: Connection): Connection {
  if (connection.via === 'stdio' || !connection.isLiteral) return connection;
  const prefix = app.settings.get('key-prefix');
  const headers = mapValues(connection.headers, (value, name) =>
    name === 'Authorization' ? `Bearer ${maskKey(value, prefix)}` : displayHeader(name, value),
  );
  return { ...connection, headers };
}

type Env = Readonly<Record<string, string | undefined>>;

/** Variables that clients with an allowlist pass to the programs they start. */
const BASIC_ENV: ReadonlySet<string> = new Set([
  ...'HOME LANG LC_ALL LOGNAME PATH SHELL TERM TMPDIR USER'.split(' '),
  ...'APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROGRAMFILES'.split(' '),
  ...'SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE'.split(' '),
]);

const NETWORK = 'HTTPS_PROXY HTTP_PROXY ALL_PROXY NO_PROXY NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA'.split(' ');

export function clientEnv({ passesEnv }: Pick<McpClient, 'passesEnv'>, env: Env): Env {
  if (passesEnv === undefined) return env;
  const passes = (name: string): boolean =>
    passesEnv === 'basic' ? BASIC_ENV.has(name.toUpperCase()) : !SECRET_NAME.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => passes(name)));
}

function bridgeVariables(app: App, client: McpClient, scope: Scope): BridgeVariables {
  const { env } = app.context;
  const config = configFolder(app, scope);
  if (app.globals.demo === true) return { env: config, names: [], missing: [] };
  const passed = clientEnv(client, env);
  const hasKey = app.secrets.environmentKey !== undefined;
  const isOnlyKey = hasKey && savedKey(app) === null;
  const needed = [
    ...NETWORK.flatMap((name) => [name, name.toLowerCase()]),
    ...headerVariables(app),
    ...(isOnlyKey ? [KEY_VARIABLE] : []),
  ];
  const lost = needed.filter((name) => (env[name] ?? '') !== '' && passed[name] === undefined);
  if (client.namesVariables) {
    return { env: config, names: [...new Set([...lost, ...(hasKey ? [KEY_VARIABLE] : [])])], missing: [] };
  }
  // A project file is shared, so it must not contain the proxy of one user; nor any file a password.
  const isWritable = (name: string): boolean =>
    scope === 'user' && NETWORK.includes(name.toUpperCase()) && !env[name]?.includes('@');
  const written = lost.filter(isWritable).map((name) => [name, env[name] ?? ''] as const);
  return {
    env: { ...config, ...Object.fromEntries(written) },
    names: [],
    missing: lost.filter((name) => !isWritable(name)),
  };
}

function headerVariables(app: App): string[] {
  const url = configuredEndpoint(app)?.url;
  const headers = url === undefined ? {} : requestHeaders(app, url, true);
  const references = Object.values(headers).flatMap((value) => [...value.matchAll(/\$\{(\w+)\}/g)]);
  return references.flatMap(([, name]) => name ?? []);
}

/** The config folder, if it was moved: the client may not have the variable. Never in a file that is shared. */
function configFolder({ context, paths }: App, scope: Scope): Record<string, string> {
  const path = pathOf(context.platform);
  const isMoved = [CONFIG_VARIABLE, 'XDG_CONFIG_HOME'].some(
    (name) => absolute(path, context.env[name]) !== undefined,
  );
  return isMoved && scope === 'user' && paths.configFile !== undefined
    ? { [CONFIG_VARIABLE]: path.dirname(paths.configFile) }
    : {};
}

export function variablesProblems(app: App, { name }: McpClient, { missing }: BridgeVariables): Advice[] {
  const others = missing.filter((variable) => variable !== KEY_VARIABLE);
  const them = others.length === 1 ? 'it' : 'them';
  const add = `${name} does not pass ${others.join(' and ')} to the bridge: add ${them} to the entry in your user file`;
  const save = `${name} does not pass ${KEY_VARIABLE} to the bridge; save the key`;
  return [
    ...(others.length === 0 ? [] : [{ text: add }]),
    ...(others.length === missing.length ? [] : [{ text: save, command: loginCommand(app) }]),
  ];
}

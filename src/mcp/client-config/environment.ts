import type { App } from '../../app/app.ts';
import { configuredEndpoint, requestHeaders } from '../../app/target.ts';
import { absolute, pathOf } from '../../storage/paths.ts';
import { KEY_VARIABLE, type McpClient, type Scope } from './clients.ts';
import { type BridgeVariables, CONFIG_VARIABLE } from './entry.ts';
import { SECRET_NAME } from './foreign.ts';

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

export function bridgeVariables(app: App, client: McpClient, scope: Scope): BridgeVariables {
  const { env } = app.context;
  const config = configFolder(app, scope);
  if (app.globals.demo === true) return { env: config, names: [], missing: [] };
  const passed = clientEnv(client, env);
  const needed = [...NETWORK.flatMap((name) => [name, name.toLowerCase()]), ...headerVariables(app)];
  const lost = needed.filter((name) => (env[name] ?? '') !== '' && passed[name] === undefined);
  if (client.namesVariables) {
    const key = app.secrets.environmentKey === undefined ? [] : [KEY_VARIABLE];
    return { env: config, names: [...new Set([...lost, ...key])], missing: [] };
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

export function variablesProblem({ name }: McpClient, { missing }: BridgeVariables): string | undefined {
  if (missing.length === 0) return undefined;
  return `${name} does not pass ${missing.join(' and ')} to the bridge: add ${missing.length === 1 ? 'it' : 'them'} to the entry in your user file`;
}

import { configuredEndpoint, requireEndpoint } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import { requestHeaders } from '../../app/credentials.ts';
import { findInstalled, type InstalledCommand } from '../../app/program-path.ts';
import { assertMayCarryKey } from '../../client/endpoint.ts';
import { isHarmless, type RequestHeaders } from '../../client/http/headers.ts';
import { usage } from '../../errors.ts';
import { type Advice, again, type Command, restaurant, slot } from '../../hint.ts';
import { absolute, pathOf } from '../../storage/paths.ts';
import { isObject, type JsonObject, mapValues } from '../../util/json.ts';
import { traitsOf } from '../../util/platform.ts';
import { KEY_VARIABLE, type McpClient, type Program, type Scope, type TransportKind } from './clients.ts';
import { clientEnv, neededVariables, savedKey, VARIABLE } from './variables.ts';

export const COMMAND = 'restaurant';

const CONFIG_VARIABLE = 'RESTAURANT_CONFIG_DIR';

export interface Entry {
  readonly via: TransportKind;
  readonly value: JsonObject;
  /** The client's own command that adds it. */
  readonly command: Command | undefined;
}

export interface StdioEntry extends Entry {
  readonly program: Program;
  /** The variables with which the client starts it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Why the client cannot start it. */
  readonly problem: string | undefined;
  /** Advice about variables that do not reach it. */
  readonly missing: readonly Advice[];
}

/** @throws {AppError} `usage` for an argument that would not reach the bridge as it is */
export function stdioEntry(app: App, client: McpClient, scope: Scope): StdioEntry {
  app.config.warnIfIgnored();
  const { env: all } = app.context;
  const { values, names, missing } = neededVariables(app, client, scope);
  const { problem, env: own, ...line } = commandLine(app, client, bridgeArguments(app));
  const added = { ...values, ...configFolder(app, scope), ...own };
  const program: Program = { ...line, ...(Object.keys(added).length > 0 && { env: added }) };
  const value = {
    ...(client.stdio?.(program, scope) ?? program),
    ...(names.length > 0 && { env_vars: names }),
  };
  const named = Object.fromEntries(names.map((name) => [name, all[name]]));
  const path = hasShellPath(app, client) ? {} : { PATH: WINDOW_PATH };
  const env = { ...clientEnv(client, all), ...path, ...named, ...added };
  return {
    via: 'stdio',
    value,
    command: client.add?.(value, scope, program),
    program,
    env,
    problem,
    missing,
  };
}

const REPEATED_SETTINGS = ['profile', 'base-url', 'endpoint', 'protocol'] as const;

function bridgeArguments(app: App): string[] {
  const { globals, settings } = app;
  // Check the URL before it becomes part of a command line.
  configuredEndpoint(app);
  const args = ['mcp'];
  // The embedded sandbox has no address and no key.
  for (const name of globals.demo === true ? (['protocol'] as const) : REPEATED_SETTINGS) {
    const { value, source } = settings.raw(name);
    if (value !== null && (source === 'flag' || source === 'env')) args.push(`--${name}`, value);
  }
  if (globals.insecureHttp === true) args.push('--insecure-http');
  if (globals.demo === true) args.push('--demo');
  return args;
}

const CMD_SPECIAL = /[&|<>^%"\p{Cc}]/u;

/** Without it, cmd.exe looks for a command in the current folder first, which may be a cloned repository. */
const ONLY_ON_PATH = 'NoDefaultCurrentDirectoryInExePath';

/** The PATH of a program with windows on macOS. */
const WINDOW_PATH = '/usr/bin:/bin:/usr/sbin:/sbin';

const hasShellPath = ({ context }: App, { hasWindows }: McpClient): boolean =>
  hasWindows !== true || context.platform !== 'darwin';

interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly problem?: string | undefined;
}

/** The command of the bridge, which clients start without a shell: by its name, or by its path if they may not find it. */
function commandLine(app: App, client: McpClient, args: readonly string[]): Launch {
  const { executable, platform } = app.context;
  const installed = findInstalled(app.context);
  const isFound = installed.state !== 'missing' && installed.state !== 'other';
  if (!isFound && executable !== undefined) return { command: executable, args, env: {} };
  if (isFound && !hasShellPath(app, client)) {
    const { path } = installed;
    // A script of npm needs Node.js, which is in the same folder.
    const folders = `${pathOf(platform).dirname(path)}:${WINDOW_PATH}`;
    return { command: path, args, env: executable === undefined ? { PATH: folders } : {} };
  }
  const { launcher } = traitsOf(platform);
  const special = launcher.length === 0 ? undefined : args.find((arg) => CMD_SPECIAL.test(arg));
  if (special !== undefined) {
    throw usage(`cmd.exe, which starts the bridge, cannot pass on '${special}'`, {
      text: 'save the address in a profile, and use that',
      command: again({ '--profile': slot('name') }, { without: ['--base-url', '--endpoint'] }),
    });
  }
  const [command = COMMAND, ...before] = [...launcher, COMMAND];
  const env: Launch['env'] = launcher.length === 0 ? {} : { [ONLY_ON_PATH]: '1' };
  return { command, args: [...before, ...args], env, problem: problemWith(installed, client) };
}

function problemWith(installed: InstalledCommand, { name }: McpClient): string | undefined {
  if (installed.state === 'missing') return `${COMMAND} is not on the PATH, so ${name} cannot start it`;
  if (installed.state === 'other') return `${installed.path} is another program, and ${name} would start it`;
  return undefined;
}

/** The config folder, if it was moved: the client may not have the variable. Never in a file that is shared. */
function configFolder({ context, paths }: App, scope: Scope): Record<string, string> {
  const path = pathOf(context.platform);
  const isMoved = context.env[CONFIG_VARIABLE] || absolute(path, context.env.XDG_CONFIG_HOME);
  return isMoved && scope === 'user' && paths.configFile !== undefined
    ? { [CONFIG_VARIABLE]: path.dirname(paths.configFile) }
    : {};
}

const ENVIRONMENT_KEYS: readonly string[] = ['env', 'environment'];

/** Variables that this program writes, and that an earlier run may have written with another value. */
const OWN_VARIABLES: readonly string[] = [CONFIG_VARIABLE, ONLY_ON_PATH, 'PATH'];

/** Whether an entry starts this program, by any path and launcher. */
export function isOurs(entry: unknown): entry is JsonObject {
  if (!isObject(entry)) return false;
  const line = [entry.command, entry.args].flat(2).filter((word) => typeof word === 'string');
  const at = line.findIndex((word) => /(?:^|[\\/])restaurant(?:\.exe|\.cmd)?$/i.test(word));
  return at !== -1 && line[at + 1] === 'mcp';
}

/** Keys that say what is started. */
const LINE_KEYS: readonly string[] = ['type', 'command', 'args', ...ENVIRONMENT_KEYS];

/**
 * The entry to write. Keys that the user added to our entry (timeouts, trust, variables) are kept; the entry of another
 * program is replaced, and so is one in a project, which somebody else may have written.
 */
export function mergeEntry(existing: unknown, value: JsonObject, scope: Scope): JsonObject {
  if (scope === 'project' || !isOurs(existing)) return value;
  const added = Object.entries(existing).filter(([key]) => !LINE_KEYS.includes(key));
  const merged: JsonObject = { ...value, ...Object.fromEntries(added) };
  const names = [existing.env_vars ?? [], value.env_vars ?? []].flat();
  if (names.length > 0) merged.env_vars = [...new Set(names)];
  for (const key of ENVIRONMENT_KEYS) {
    const old = existing[key];
    if (!isObject(old)) continue;
    const kept = Object.entries(old).filter(([name]) => !OWN_VARIABLES.includes(name));
    const env = { ...Object.fromEntries(kept), ...(value[key] as JsonObject | undefined) };
    if (Object.keys(env).length > 0) merged[key] = env;
  }
  return merged;
}

/** @throws {AppError} `usage` if the client cannot connect directly without the key in its file */
export function httpEntry(app: App, client: McpClient, scope: Scope): Entry {
  if (client.http === undefined) {
    throw usage(`${client.name} cannot read the key of an http entry from a variable`, USE_STDIO);
  }
  if (app.globals.demo === true) throw usage('--demo has no URL for a client', USE_STDIO);
  const { url } = requireEndpoint(app);
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  const headers = requestHeaders(app, url, true);
  for (const [header, value] of Object.entries(headers)) {
    if (isHarmless(header) || value.search(VARIABLE) !== -1) continue;
    throw usage(`the value of the header ${header} would be in the file`, [
      {
        text: 'refer to a variable',
        command: restaurant('config', 'set', `header.${header}`, '${VARIABLE}'),
      },
      { text: 'or use stdio', ...USE_STDIO },
    ]);
  }
  // Without a key, additional headers may authenticate instead.
  const key = app.secrets.environmentKey ?? savedKey(app);
  const hasKey = key !== null || Object.keys(headers).every(isHarmless);
  const value = { ...client.http(url.href), ...headersFor(client, headers, hasKey) };
  return { via: 'http', value, command: client.add?.(value, scope) };
}

export const USE_STDIO: Advice = { command: again({}, { without: ['--via'] }) };

function headersFor(
  { name, passesEnv, variable }: McpClient,
  headers: RequestHeaders,
  hasKey: boolean,
): JsonObject {
  if (passesEnv !== 'named') {
    const all = { ...(hasKey && { Authorization: `Bearer \${${KEY_VARIABLE}}` }), ...headers };
    const refer = (ours: string, each: string) => variable?.replace('NAME', each) ?? ours;
    return { headers: mapValues(all, (value) => value.replaceAll(VARIABLE, refer)) };
  }
  // Codex has separate keys for the names of variables.
  const entries = Object.entries(headers);
  const values = entries.filter(([, value]) => !value.includes('${'));
  const names = entries.flatMap(([header, value]) => {
    if (!value.includes('${')) return [];
    const [, variable] = /^\$\{(\w+)\}$/.exec(value) ?? [];
    if (variable === undefined)
      throw usage(`${name} cannot read the header ${header} from a variable`, USE_STDIO);
    return [[header, variable]];
  });
  return {
    ...(hasKey && { bearer_token_env_var: KEY_VARIABLE }),
    ...(values.length > 0 && { http_headers: Object.fromEntries(values) }),
    ...(names.length > 0 && { env_http_headers: Object.fromEntries(names) }),
  };
}

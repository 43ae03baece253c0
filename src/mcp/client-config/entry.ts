import { configuredEndpoint, requireEndpoint } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import { findInstalled } from '../../app/program-path.ts';
import { requestHeaders } from '../../app/request-headers.ts';
import { assertMayCarryKey } from '../../client/endpoint.ts';
import { isHarmless } from '../../client/http/headers.ts';
import { usage } from '../../errors.ts';
import { again, restaurant, slot } from '../../hint.ts';
import { absolute, pathOf } from '../../storage/paths.ts';
import { isObject, type JsonObject, mapValues } from '../../util/json.ts';
import { traitsOf } from '../../util/platform.ts';
import type { McpClient, Program, Scope } from './clients.ts';
import { KEY_VARIABLE, neededVariables, savedKey, type Variables } from './variables.ts';

export const COMMAND = 'restaurant';

export const CONFIG_VARIABLE = 'RESTAURANT_CONFIG_DIR';

export interface StdioEntry {
  readonly value: JsonObject;
  readonly program: Program;
  readonly variables: Variables;
}

/** @throws {AppError} `usage` for an argument that would not reach the bridge as it is */
export function stdioEntry(app: App, client: McpClient, scope: Scope): StdioEntry {
  app.config.warnIfIgnored();
  const variables = neededVariables(app, client, scope);
  const line = commandLine(app, client, bridgeArguments(app));
  const env = { ...variables.values, ...configFolder(app, scope), ...line.env };
  const program: Program = {
    command: line.command,
    args: line.args,
    ...(Object.keys(env).length > 0 && { env }),
  };
  const names = variables.names.length > 0 ? { env_vars: variables.names } : {};
  const value = { ...(client.stdio?.(program, scope) ?? program), ...names };
  return { value, program, variables };
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

/** Characters that cmd.exe interprets in the arguments of a command. */
const CMD_SPECIAL = /[&|<>^%"\p{Cc}]/u;

/** Without it, cmd.exe looks for a command in the current folder first, which may be a cloned repository. */
const ONLY_ON_PATH = 'NoDefaultCurrentDirectoryInExePath';

/** The PATH of a program with windows on macOS. */
export const WINDOW_PATH = '/usr/bin:/bin:/usr/sbin:/sbin';

/** The command of the bridge, which clients start without a shell: by its name, or by its path if they may not find it. */
function commandLine({ context }: App, client: McpClient, args: readonly string[]): Required<Program> {
  const { executable, platform } = context;
  const installed = findInstalled(context);
  const isFound = installed.state !== 'missing' && installed.state !== 'other';
  if (!isFound && executable !== undefined) return { command: executable, args, env: {} };
  if (isFound && client.hasWindows === true && platform === 'darwin') {
    const { path } = installed;
    // A script of npm needs Node.js, which is in the same folder.
    const folders = `${pathOf(platform).dirname(path)}:${WINDOW_PATH}`;
    const env: Record<string, string> = executable === undefined ? { PATH: folders } : {};
    return { command: path, args, env };
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
  const env: Record<string, string> = launcher.length === 0 ? {} : { [ONLY_ON_PATH]: '1' };
  return { command, args: [...before, ...args], env };
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
export function isOurs(entry: unknown): boolean {
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
  if (scope === 'project' || !isObject(existing) || !isOurs(existing)) return value;
  const added = Object.entries(existing).filter(([key]) => !LINE_KEYS.includes(key));
  const merged: JsonObject = { ...value, ...Object.fromEntries(added) };
  const [names, ownNames] = [existing.env_vars, value.env_vars];
  if (Array.isArray(names) && Array.isArray(ownNames))
    merged.env_vars = [...new Set([...names, ...ownNames])];
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
export function httpEntry(app: App, client: McpClient): JsonObject {
  const { name, http, reference, namesVariables = false } = client;
  const stdio = { command: again({}, { without: ['--via'] }) };
  if (http === undefined) throw usage(`${name} only supports stdio servers`, stdio);
  if (app.globals.demo === true) throw usage('--demo has no URL for a client', stdio);
  if (reference === undefined && !namesVariables) {
    throw usage(`${name} cannot read the key from a variable`, stdio);
  }
  const { url } = requireEndpoint(app);
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  const headers = requestHeaders(app, url, true);
  for (const [header, value] of Object.entries(headers)) {
    if (isHarmless(header) || /\$\{\w+\}/.test(value)) continue;
    throw usage(`the value of the header ${header} would be in the file`, [
      {
        text: 'refer to a variable',
        command: restaurant('config', 'set', `header.${header}`, '${VARIABLE}'),
      },
      { text: 'or use stdio', ...stdio },
    ]);
  }
  // Without a key, additional headers may authenticate instead.
  const key = app.secrets.environmentKey ?? savedKey(app);
  const hasKey = key !== null || Object.keys(headers).every(isHarmless);
  if (namesVariables) {
    const token = hasKey ? { bearer_token_env_var: KEY_VARIABLE } : {};
    return { ...http(url.href), ...token, ...variableHeaders(name, headers) };
  }
  const all = { ...(hasKey && { Authorization: `Bearer \${${KEY_VARIABLE}}` }), ...headers };
  const refer = (_: string, variable: string) => reference?.(variable) ?? '';
  return { ...http(url.href), headers: mapValues(all, (value) => value.replaceAll(/\$\{(\w+)\}/g, refer)) };
}

/** Codex has a separate key for the names of the variables with header values. */
function variableHeaders(client: string, headers: Readonly<Record<string, string>>): JsonObject {
  const values: JsonObject = {};
  const names: JsonObject = {};
  for (const [header, value] of Object.entries(headers)) {
    const variable = /^\$\{(\w+)\}$/.exec(value)?.[1];
    if (variable === undefined && value.includes('${')) {
      throw usage(`${client} cannot read the header ${header} from a variable`, {
        command: again({}, { without: ['--via'] }),
      });
    }
    if (variable === undefined) values[header] = value;
    else names[header] = variable;
  }
  return {
    ...(Object.keys(values).length > 0 && { http_headers: values }),
    ...(Object.keys(names).length > 0 && { env_http_headers: names }),
  };
}

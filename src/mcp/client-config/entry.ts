import { isDeepStrictEqual } from 'node:util';
import { failure, usage } from '../../errors.ts';
import { again, slot } from '../../hint.ts';
import { excerpt } from '../../util/format.ts';
import { isObject, type JsonObject, mapValues } from '../../util/json.ts';
import { traitsOf } from '../../util/platform.ts';
import { KEY_VARIABLE, type McpClient, type Scope } from './clients.ts';

export const ENTRY_NAME = 'restaurant';

export const CONFIG_VARIABLE = 'RESTAURANT_CONFIG_DIR';

export const COMMAND = 'restaurant';

export type Connection = StdioConnection | HttpConnection;

/** The variables that the bridge needs and that a client may not have, by the way they reach it. */
export interface BridgeVariables {
  readonly env: Readonly<Record<string, string>>;
  /** Named in the entry: the client reads them when it starts the bridge. */
  readonly names: readonly string[];
  readonly missing: readonly string[];
}

interface StdioConnection {
  readonly via: 'stdio';
  readonly args: readonly string[];
  readonly variables: BridgeVariables;
}

export interface HttpConnection {
  readonly via: 'http';
  readonly url: string;
  /** The headers, with the key: templates with `${VAR}`, or values in a literal entry. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isLiteral: boolean;
}

export const KEY_HEADER = { Authorization: `Bearer \${${KEY_VARIABLE}}` };

export const refersToKey = (connection: Connection): boolean =>
  connection.via === 'http' && connection.headers.Authorization === KEY_HEADER.Authorization;

export interface Entry {
  readonly value: JsonObject;
  readonly input?: JsonObject | undefined;
}

/** Characters that cmd.exe interprets in the arguments of a command. */
const CMD_SPECIAL = /[&|<>^%"\p{Cc}]/u;

/** Without it, cmd.exe looks for a command in the current folder first, which may be a cloned repository. */
const ONLY_ON_PATH = 'NoDefaultCurrentDirectoryInExePath';

/**
 * The command line of the bridge, which clients start without a shell, and its environment.
 * @throws {AppError} `usage` for an argument that would not reach the bridge as it is
 */
export function programOf(args: readonly string[], platform: NodeJS.Platform) {
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

export function buildEntry(
  client: McpClient,
  connection: Connection,
  scope: Scope = 'user',
  platform: NodeJS.Platform = 'linux',
): Entry {
  if (connection.via === 'http') {
    const auth = client.namesVariables
      ? variableHeaders(connection)
      : { headers: headersOf(client, connection) };
    const input = refersToKey(connection) ? client.input : undefined;
    return { value: { ...client.http?.(connection.url, scope), ...auth }, input };
  }
  const { args, variables } = connection;
  const names = variables.names.length === 0 ? {} : { [VARIABLES_KEY]: variables.names };
  const { env, ...line } = programOf(args, platform);
  const program = { ...line, ...unlessEmpty('env', { ...variables.env, ...env }), ...names };
  return { value: client.stdio?.(program, scope) ?? program };
}

const unlessEmpty = (key: string, value: JsonObject): JsonObject =>
  Object.keys(value).length === 0 ? {} : { [key]: value };

function headersOf({ reference, input }: McpClient, { headers, isLiteral }: HttpConnection): JsonObject {
  if (isLiteral || reference === undefined) return headers;
  const placeholder = (_match: string, variable: string): string =>
    variable === KEY_VARIABLE && input ? `\${input:${input.id}}` : reference(variable);
  return mapValues(headers, (value) => value.replace(/\$\{(\w+)\}/g, placeholder));
}

/** A header value that is nothing but a reference to an environment variable. */
export const VARIABLE = /^\$\{(\w+)\}$/;

/** Returns the key and headers in the format of Codex, which separates values from names of variables. */
function variableHeaders(connection: HttpConnection): JsonObject {
  const values: Record<string, string> = {};
  const variables: Record<string, string> = {};
  const { Authorization, ...others } = connection.headers;
  for (const [name, value] of Object.entries(refersToKey(connection) ? others : connection.headers)) {
    const variable = connection.isLiteral ? undefined : VARIABLE.exec(value)?.[1];
    if (variable === undefined) values[name] = value;
    else variables[name] = variable;
  }
  return {
    ...(refersToKey(connection) ? { bearer_token_env_var: KEY_VARIABLE } : {}),
    ...unlessEmpty('http_headers', values),
    ...unlessEmpty('env_http_headers', variables),
  };
}

const ENVIRONMENT_KEYS: readonly string[] = ['env', 'environment'];

/** Keys that decide what a program runs, for all clients. */
const PROCESS_KEYS: readonly string[] = [...ENVIRONMENT_KEYS, 'cwd', 'envFile', 'env_file'];

/** Names of variables that a program receives (Codex). */
const VARIABLES_KEY = 'env_vars';

/** Keys that select or describe a transport, for all clients. Keys of different transports in one entry conflict. */
const TRANSPORT_KEYS: ReadonlySet<string> = new Set([
  ...PROCESS_KEYS,
  VARIABLES_KEY,
  ...'command args type transport transportType source url serverUrl httpUrl tcp'.split(' '),
  ...'headers http_headers env_http_headers headersHelper requestInit bearer_token_env_var'.split(' '),
  ...'oauth oauth_resource oauthScopes scopes auth authProviderType disableOAuth'.split(' '),
]);

/**
 * Merges the entry into the existing one in the file. Keys of another transport are removed. The user's other keys
 * (timeouts, trust, tool filters) are kept, and so is the environment if the existing entry starts a program.
 */
export function mergeEntry(
  existing: unknown,
  value: JsonObject,
  dropped: readonly string[] = [],
): JsonObject {
  const old = isObject(existing) ? existing : {};
  const startsProgram = 'command' in value && 'command' in old;
  const isKept = (key: string): boolean =>
    !dropped.includes(key) &&
    (!TRANSPORT_KEYS.has(key) || (startsProgram && [...PROCESS_KEYS, VARIABLES_KEY].includes(key)));
  const merged: JsonObject = {
    ...Object.fromEntries(Object.entries(old).filter(([key]) => isKept(key))),
    ...value,
  };
  if (old.tools !== undefined && !dropped.includes('tools')) merged.tools = old.tools;
  if (!startsProgram) return merged;
  const [names, ownNames] = [old[VARIABLES_KEY], value[VARIABLES_KEY]];
  if (Array.isArray(names) && Array.isArray(ownNames)) {
    merged[VARIABLES_KEY] = [...new Set([...names, ...ownNames])];
  }
  for (const key of ENVIRONMENT_KEYS) {
    if (!isObject(old[key])) continue;
    // Written by an earlier run, which may have used another folder or system.
    const { [CONFIG_VARIABLE]: _folder, [ONLY_ON_PATH]: _isWindows, ...env } = old[key];
    delete merged[key];
    Object.assign(merged, unlessEmpty(key, { ...env, ...(value[key] as JsonObject | undefined) }));
  }
  return merged;
}

export const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|CERT|PRIVATE/i;
const SECRET_HOLDERS: readonly string[] = [...ENVIRONMENT_KEYS, 'headers', 'http_headers', 'requestInit'];

/** Masks what may be secret in an entry, except for values that this program wrote. */
export function maskOthers(
  value: unknown,
  own: unknown,
  isSecret = (key: string) => SECRET_HOLDERS.includes(key) || SECRET_NAME.test(key),
  hide = false,
): unknown {
  if (isDeepStrictEqual(value, own)) return value;
  if (Array.isArray(value)) return value.map((each) => maskOthers(each, undefined, isSecret, hide));
  if (!isObject(value)) return hide && value !== null ? '…' : value;
  const others: JsonObject = isObject(own) ? own : {};
  return mapValues(value, (each, key) => maskOthers(each, others[key], isSecret, hide || isSecret(key)));
}

/**
 * Checks that the entry of a shared file does not change how the program runs, which its author could use to run code
 * (NODE_OPTIONS, cwd).
 * @throws {AppError} `bad_config` with the keys and their values
 */
export function assertNotForeign(file: string, merged: JsonObject, own: JsonObject): void {
  const foreign = PROCESS_KEYS.filter(
    (key) => merged[key] !== undefined && !isDeepStrictEqual(merged[key], own[key]),
  );
  if (foreign.length === 0) return;
  const values = maskOthers(Object.fromEntries(foreign.map((key) => [key, merged[key]])), undefined, (key) =>
    SECRET_NAME.test(key),
  );
  throw failure(
    'bad_config',
    `refusing to keep ${foreign.join(', ')} in the entry ${ENTRY_NAME} of ${file}: somebody else may have written ${excerpt(JSON.stringify(values))}, which changes what the server runs`,
    { text: `remove ${foreign.join(', ')} from the entry, or`, command: again({ '--scope': 'user' }) },
  );
}

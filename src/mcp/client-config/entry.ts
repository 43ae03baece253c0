import { isObject, type JsonObject } from '../../client/rpc/envelope.ts';
import { AppError } from '../../errors.ts';
import { KEY_VARIABLE, type McpClient, type Transport } from './clients.ts';

/** Key that holds the servers in most files. */
export const SERVERS = 'mcpServers';

/** Name of the entry in every client. */
export const ENTRY_NAME = 'restaurant';

/** The variable that leads the bridge to the config folder. */
export const CONFIG_VARIABLE = 'RESTAURANT_CONFIG_DIR';

/** The command that a client starts. */
export const COMMAND = 'restaurant';

/** The facts that decide between http and stdio. */
export interface TransportChoice {
  readonly transport?: Transport | undefined;
  /** Write the key itself into the file. */
  readonly literalKey: boolean;
  /** The run uses its own sandbox, so there is no URL to write. */
  readonly demo: boolean;
  /** Returns whether the service is known to support only plain `tools/call`, which no MCP client can use directly. */
  isPlain(): boolean;
}

/**
 * Chooses how the client connects: as requested; else directly (http) when the client and the service can and the key
 * stays out of the file.
 * @throws {AppError} `usage` naming the alternative when the client cannot
 */
export function chooseTransport(client: McpClient, choice: TransportChoice): Transport {
  const { name } = client;
  const { transport, literalKey, demo } = choice;
  const stdio = `restaurant mcp config ${name} --via stdio`;
  const byReference = client.reference !== undefined || client.namesVariables === true;
  const [problem, hint] =
    client.http === undefined
      ? [`${name} only supports stdio servers; --via http is not available`, stdio]
      : demo
        ? ['--demo has no URL for a client', `${stdio} --demo`]
        : byReference || literalKey
          ? []
          : [`${name} cannot read the key from a variable`, `${stdio}, or add --literal-key`];
  if (transport === 'stdio' && literalKey) {
    throw new AppError('usage', '--literal-key requires --via http: the bridge uses the saved login', {
      hint: `${stdio} without --literal-key${client.http === undefined ? '' : ', or use --via http'}`,
    });
  }
  if (transport === 'http' || literalKey) {
    if (problem !== undefined) throw new AppError('usage', problem, { hint });
    return 'http';
  }
  const prefersStdio = problem !== undefined || client.prefersStdio === true;
  return transport === 'stdio' || prefersStdio || choice.isPlain() ? 'stdio' : 'http';
}

/** The target of an entry. */
export type Target = StdioTarget | HttpTarget;

interface StdioTarget {
  readonly via: 'stdio';
  readonly args: readonly string[];
  /** Environment variables that the bridge needs and the client may not have. */
  readonly env: Readonly<Record<string, string>>;
}

interface HttpTarget {
  readonly via: 'http';
  readonly url: string;
  /** Additional headers: templates with `${VAR}`, or values in a literal entry. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the key is sent; additional headers may authenticate instead. */
  readonly hasKey: boolean;
  /** Whether the entry holds the key and the values of headers itself. */
  readonly isLiteral: boolean;
  readonly literalKey?: string;
}

/** An entry, and the items that the file's `inputs` must hold for it. */
export interface Entry {
  readonly via: Transport;
  readonly value: JsonObject;
  readonly inputs: readonly JsonObject[];
}

/** Builds the entry of a client that supports the target; see {@link chooseTransport}. */
export function buildEntry(client: McpClient, target: Target): Entry {
  const byReference = target.via === 'http' && target.hasKey && !target.isLiteral;
  return {
    via: target.via,
    value: entryValue(client, target),
    inputs: byReference ? (client.inputs ?? []) : [],
  };
}

function entryValue(client: McpClient, target: Target): JsonObject {
  if (target.via === 'stdio') {
    const { args, env } = target;
    const command = client.joinsCommand ? { command: [COMMAND, ...args] } : { command: COMMAND, args };
    const own = Object.keys(env).length === 0 ? {} : { [client.envKey ?? 'env']: env };
    return { ...client.stdio, ...command, ...own };
  }
  const { url, headers, hasKey, isLiteral, literalKey } = target;
  const base = { ...client.http, [client.urlKey ?? 'url']: url };
  if (client.namesVariables) return { ...base, ...variableEntry(target) };
  const refer = (isLiteral ? undefined : client.reference) ?? ((variable) => `\${${variable}}`);
  const key = literalKey ?? client.keyReference ?? refer(KEY_VARIABLE);
  const values = Object.entries(headers).map(
    ([name, value]) => [name, value.replace(/\$\{(\w+)\}/g, (_, variable) => refer(variable))] as const,
  );
  const authorization = hasKey ? { Authorization: `Bearer ${key}` } : {};
  return { ...base, headers: { ...authorization, ...Object.fromEntries(values) } };
}

/** A header value that is nothing but a reference to an environment variable. */
export const VARIABLE = /^\$\{(\w+)\}$/;

/** Returns the key and headers as Codex has them: values and names of variables apart. */
function variableEntry({ headers, hasKey, isLiteral, literalKey }: HttpTarget): JsonObject {
  const values: Record<string, string> = isLiteral && hasKey ? { Authorization: `Bearer ${literalKey}` } : {};
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const variable = isLiteral ? undefined : VARIABLE.exec(value)?.[1];
    if (variable === undefined) values[name] = value;
    else variables[name] = variable;
  }
  return {
    ...(hasKey && !isLiteral ? { bearer_token_env_var: KEY_VARIABLE } : {}),
    ...(Object.keys(values).length === 0 ? {} : { http_headers: values }),
    ...(Object.keys(variables).length === 0 ? {} : { env_http_headers: variables }),
  };
}

/** Keys of a program's environment in some client. */
const ENVIRONMENT_KEYS: readonly string[] = ['env', 'environment'];

/** Keys that describe how some client starts a program. */
const PROCESS_KEYS: readonly string[] = [...ENVIRONMENT_KEYS, 'cwd', 'env_vars', 'envFile', 'env_file'];

/** Keys by which some client selects or describes a transport. Two of different transports in one entry conflict. */
const TRANSPORT_KEYS: readonly string[] = [
  ...PROCESS_KEYS,
  ...[
    'command',
    'args',
    'type',
    'transport',
    'transportType',
    'source',
    'url',
    'serverUrl',
    'httpUrl',
    'tcp',
  ],
  ...['headers', 'http_headers', 'env_http_headers', 'headersHelper', 'requestInit', 'bearer_token_env_var'],
  ...['oauth', 'oauth_resource', 'oauthScopes', 'scopes', 'auth', 'authProviderType', 'disableOAuth'],
];

/**
 * Merges the entry into the one that is in the file, whoever wrote it: every key that belongs to another transport is
 * removed; the user's other keys (timeouts, trust, tool filters) stay, and so does the environment when the entry
 * started a program before.
 */
export function mergeEntry(existing: unknown, { via, value }: Entry): JsonObject {
  const old = isObject(existing) ? existing : {};
  const startsProgram = via === 'stdio' && 'command' in old;
  const kept = Object.entries(old).filter(
    ([key]) =>
      !(key in value) && (!TRANSPORT_KEYS.includes(key) || (startsProgram && PROCESS_KEYS.includes(key))),
  );
  const merged = { ...value, ...Object.fromEntries(kept) };
  if ('tools' in value && 'tools' in old) merged.tools = old.tools;
  for (const key of startsProgram ? ENVIRONMENT_KEYS : []) {
    if (!isObject(old[key])) continue;
    // Ours from an earlier run, which may have used another folder.
    const { [CONFIG_VARIABLE]: _former, ...env } = old[key];
    const ours = isObject(value[key]) ? value[key] : {};
    merged[key] = { ...env, ...ours };
    if (Object.keys({ ...env, ...ours }).length === 0) delete merged[key];
  }
  return merged;
}

/** Returns the entry inside the structure of its file, for copying. */
export function snippet(client: McpClient, entry: Entry): JsonObject {
  return {
    [client.servers ?? SERVERS]: { [ENTRY_NAME]: entry.value },
    ...(entry.inputs.length === 0 ? {} : { inputs: entry.inputs }),
  };
}

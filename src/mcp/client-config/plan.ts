import type { App } from '../../app/app.ts';
import { requireEndpoint, requireKey } from '../../app/target.ts';
import { assertMayCarryKey } from '../../client/endpoint.ts';
import { maskKey } from '../../client/key.ts';
import { AppError } from '../../errors.ts';
import { didYouMean } from '../../util/nearest.ts';
import { MCP_CLIENTS, type McpClient, type Scope, type Via } from './clients.ts';
import { buildEntry, chooseVia, type Entry, type Target } from './entry.ts';
import { fileOf } from './locations.ts';

/** Options of `mcp config` as commander gives them. */
export interface ConfigOptions {
  via?: Via;
  scope?: Scope;
  write?: true;
  check?: true;
  literalKey?: true;
}

/** Everything about an entry that is to be printed or written. */
export interface Plan {
  readonly client: McpClient;
  readonly scope: Scope;
  readonly file: string;
  readonly target: Target;
  readonly entry: Entry;
  /** The same with the key masked, for eyes. */
  readonly shown: Entry;
  /** Whether a login is saved, which the bridge would take. */
  readonly loggedIn: boolean;
}

/** Settings that an entry for the bridge repeats. */
const CARRIED = ['profile', 'base-url', 'endpoint', 'protocol'] as const;

/** The client of that name. @throws {AppError} `usage` with the nearest names */
export function clientNamed(name: string): McpClient {
  const client = MCP_CLIENTS.find((each) => each.name === name);
  if (client !== undefined) return client;
  const names = MCP_CLIENTS.map((each) => each.name);
  throw new AppError('usage', `unknown MCP client '${name}'`, {
    hint: `${didYouMean(name, names)}restaurant mcp config <client> knows ${names.join(', ')}`,
  });
}

/**
 * Finds out what the entry is to be and where it belongs.
 * @throws {AppError} `usage` for what the client cannot do; `no_service` or `no_key` where the entry needs one
 */
export function planEntry(app: App, client: McpClient, options: ConfigOptions): Plan {
  const literalKey = options.literalKey === true;
  const demo = app.globals.demo === true;
  const via = chooseVia(client, { via: options.via, literalKey, demo });
  const scope = options.scope ?? (literalKey && client.user !== undefined ? 'user' : client.scope);
  if (literalKey && scope === 'project') {
    throw new AppError('usage', 'a key is never written into a project file, which others see', {
      hint: `restaurant mcp config ${client.name} --via stdio${client.user === undefined ? '' : ', or --scope user'}`,
    });
  }
  const file = fileOf(client, scope, app.context);
  const target = via === 'stdio' ? stdioTarget(app) : httpTarget(app, literalKey);
  const entry = buildEntry(client, target);
  const loggedIn = app.settings.profile.key !== undefined;
  return { client, scope, file, target, entry, shown: buildEntry(client, masked(app, target)), loggedIn };
}

/** The bridge with what this run was given: by the line, and by variables, which a client may not have. */
function stdioTarget(app: App): Target {
  const { insecureHttp, demo } = app.globals;
  const args = CARRIED.flatMap((name) => {
    const { value, source } = app.settings.raw(name);
    return value !== null && (source === 'flag' || source === 'env') ? [`--${name}`, value] : [];
  });
  const switches = [
    ...(insecureHttp === true ? ['--insecure-http'] : []),
    ...(demo === true ? ['--demo'] : []),
  ];
  return { via: 'stdio', args: ['mcp', ...args, ...switches] };
}

function httpTarget(app: App, literalKey: boolean): Target {
  const { url } = requireEndpoint(app);
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  const key = literalKey ? { literalKey: requireKey(app, url).value } : {};
  return { via: 'http', url: url.href, ...key };
}

function masked(app: App, target: Target): Target {
  if (target.via === 'stdio' || target.literalKey === undefined) return target;
  return { ...target, literalKey: maskKey(target.literalKey, app.settings.need('key-prefix')) };
}

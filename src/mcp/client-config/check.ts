import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { App } from '../../app/app.ts';
import { findInstalled } from '../../app/installed.ts';
import { openService } from '../../app/service.ts';
import { isObject, type JsonObject } from '../../client/rpc/envelope.ts';
import { AppError, CODES, type Code, systemCode } from '../../errors.ts';
import { variable } from '../../settings/settings.ts';
import { untilAborted } from '../../util/async.ts';
import { parseExactOrNone } from '../../util/exact-json.ts';
import { excerpt } from '../../util/excerpt.ts';
import { shellWord } from '../../util/shell.ts';
import { VERSION } from '../../version.ts';
import { readLines, toLine } from '../bridge/framing.ts';
import { ERROR_META_KEY } from '../bridge/methods.ts';
import { KEY_VARIABLE, type McpClient } from './clients.ts';
import { COMMAND, refersToKey, type Target } from './entry.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Variables that clients with an allowlist pass to the programs they start. */
const BASIC_ENV: ReadonlySet<string> = new Set([
  ...'HOME LANG LC_ALL LOGNAME PATH SHELL TERM TMPDIR USER'.split(' '),
  ...'APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATHEXT PROGRAMFILES'.split(' '),
  ...'SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE'.split(' '),
]);

/** Variables that clients with a blocklist do not pass on. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|CERT|PRIVATE/i;

/** Returns the environment that a client gives to the programs it starts. */
function clientEnv({ passesEnv }: McpClient, env: Env): Env {
  if (passesEnv === undefined) return env;
  const passes = (name: string): boolean =>
    passesEnv === 'basic' ? BASIC_ENV.has(name.toUpperCase()) : !SECRET_NAME.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => passes(name)));
}

/** Settings that an entry for the bridge repeats. */
const REPEATED_SETTINGS = ['profile', 'base-url', 'endpoint', 'protocol'] as const;

/** Returns the options for a command that uses the same service as this run, as far as they come from the sources. */
export function serviceOptions({ settings, globals }: App, sources: readonly string[]): string[] {
  const options = REPEATED_SETTINGS.flatMap((name) => {
    const { value, source } = settings.raw(name);
    return value !== null && sources.includes(source) ? [`--${name}`, value] : [];
  });
  return [...options, ...(globals.insecureHttp === true ? ['--insecure-http'] : [])];
}

/** Returns the command line that does the same over stdio. */
function stdioCommand(app: App, client: McpClient, check = ''): string {
  const options = serviceOptions(app, ['flag']).map((word) => ` ${shellWord(word)}`);
  return `restaurant mcp config ${client.name} --via stdio${check}${options.join('')}`;
}

/**
 * Connects as the client would: handshake, list of tools, one search over stdio.
 * @returns how many tools the client will see, and for http where the key came from
 * @throws {AppError}
 */
export async function checkEntry(app: App, client: McpClient, target: Target) {
  if (target.via === 'http') return checkHttp(app, client, refersToKey(target));
  const installed = findInstalled(app.context);
  if (installed.state === 'other') {
    throw new AppError('io_error', `${installed.path} is another program, which was not started`, {
      hint: INSTALL_HINT,
    });
  }
  const { args } = target;
  const env = { ...clientEnv(client, app.context.env), ...target.env };
  const tools = await app.withSpinner(`starting ${[COMMAND, ...args].join(' ')}`, () =>
    checkBridge(app, args, env),
  );
  return { ok: true, tools };
}

/** Protocol versions in the order in which clients try them. */
const CLIENT_VERSIONS = ['2025-11-25', '2026-07-28'] as const;

/** Failures that mean that the service does not support MCP, as opposed to a network or login problem. */
const NOT_MCP: readonly Code[] = ['rpc_error', 'http_error', 'bad_response'];

async function checkHttp(app: App, client: McpClient, needsVariable: boolean) {
  const fromEnv = variable(app.context.env, KEY_VARIABLE) !== undefined;
  if (!fromEnv && needsVariable && client.input === undefined) {
    throw new AppError('no_key', `${client.name} reads the key from ${KEY_VARIABLE}, which is not set`, {
      hint: `set ${KEY_VARIABLE} where ${client.name} is started, or use the saved login: ${stdioCommand(app, client, ' --check')}`,
    });
  }
  let failure: AppError | undefined;
  for (const protocol of CLIENT_VERSIONS) {
    const service = await openService(app, { client: { protocol } });
    try {
      const { length } = await app.withSpinner(`connecting to ${service.label}`, () =>
        service.client.listTools(),
      );
      return { ok: true, tools: length, key: fromEnv ? 'env' : 'config' };
    } catch (error) {
      if (!(error instanceof AppError) || !NOT_MCP.includes(error.code)) throw error;
      failure ??= error;
    }
  }
  const { code, message, details } = failure ?? new AppError('rpc_error', 'no response');
  throw new AppError(code, `${client.name} cannot connect with this URL: ${message}`, {
    ...details,
    hint: `the service does not support the MCP handshake; use the bridge: ${stdioCommand(app, client)}`,
  });
}

/**
 * Starts the bridge as an MCP client does: handshake, list of tools and one search.
 * @returns how many tools it has
 * @throws {AppError} the failure of the search; `io_error` when it cannot be started; `bad_response`; `timeout`
 */
async function checkBridge(app: App, args: readonly string[], env: Env): Promise<number> {
  const clientInfo = { name: 'restaurant-check', version: VERSION };
  const search = { name: 'find_restaurant', arguments: { name: 'restaurant', city: 'San Francisco' } };
  // Read before the start: where it is invalid, no process may be left.
  const timeoutMs = app.settings.need('timeout');
  const [initialized, list, found] = await exchange(app, timeoutMs, spawnBridge(app, args, env), [
    { id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 1, method: 'tools/list', params: {} },
    { id: 2, method: 'tools/call', params: search },
  ]);
  if (!isBridge(initialized)) {
    throw new AppError('bad_response', `the ${COMMAND} on the PATH is another program`);
  }
  const { tools } = resultOf(list);
  if (!Array.isArray(tools)) throw new AppError('bad_response', 'the response to tools/list has no tools');
  const result = resultOf(found);
  // A service without this tool may be fine all the same.
  if (result.isError === true) throw toolFailure(result);
  return tools.length;
}

const isBridge = (message: JsonObject | undefined): boolean => {
  const { serverInfo } = resultOf(message);
  return isObject(serverInfo) && serverInfo.name === COMMAND;
};

const resultOf = (message: JsonObject | undefined): JsonObject =>
  isObject(message?.result) ? message.result : {};

/** Converts a tool error of the bridge back into the error that it reports. */
function toolFailure(result: JsonObject): AppError {
  const meta = isObject(result._meta) ? result._meta[ERROR_META_KEY] : undefined;
  const { code, message, hint } = isObject(meta) ? meta : {};
  const known = typeof code === 'string' && Object.hasOwn(CODES, code) ? (code as Code) : 'tool_error';
  const text = typeof message === 'string' ? message : excerpt(JSON.stringify(result.content));
  return new AppError(known, text, typeof hint === 'string' ? { hint } : {});
}

/** Sends messages to the bridge. @returns the responses by their ids, which count from 0 */
async function exchange(
  { context }: App,
  timeoutMs: number,
  bridge: ChildProcessWithoutNullStreams,
  messages: readonly JsonObject[],
): Promise<JsonObject[]> {
  const { stdin, stdout, stderr } = bridge;
  let log = '';
  stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString('utf8')).slice(-2000);
  });
  const failed = new Promise<never>((_resolve, reject) => {
    bridge.on('error', (error) => reject(startError(error)));
    bridge.on('close', (code) => {
      const last = excerpt(log.trim().split('\n').at(-1) ?? '');
      const message = `${COMMAND} exited before it responded (${code ?? 'killed'})`;
      reject(new AppError('bad_response', last === '' ? message : `${message}: ${last}`));
    });
  });
  // The process may exit before it has read everything.
  stdin.on('error', () => {});
  for (const message of messages) stdin.write(toLine({ jsonrpc: '2.0', ...message }));

  async function read(): Promise<JsonObject[]> {
    const responses: JsonObject[] = [];
    for await (const line of readLines(stdout)) {
      const message = 'text' in line ? parseExactOrNone(line.text) : undefined;
      if (isObject(message) && typeof message.id === 'number') responses[message.id] = message;
      const [initialized, list, found] = responses;
      const isComplete = list !== undefined && found !== undefined;
      if (initialized !== undefined && (isComplete || !isBridge(initialized))) return responses;
    }
    return failed;
  }

  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const responses = Promise.race([failed, read().catch(() => failed)]);
    return await untilAborted(responses, AbortSignal.any([context.signal, timeout]));
  } catch (error) {
    if (error !== timeout.reason) throw error;
    throw new AppError('timeout', `${COMMAND} did not respond within ${timeoutMs / 1000} s`);
  } finally {
    bridge.kill('SIGKILL');
    // Processes that it started may hold the other ends.
    for (const stream of [stdin, stdout, stderr]) stream.destroy();
  }
}

function spawnBridge({ context }: App, args: readonly string[], env: Env): ChildProcessWithoutNullStreams {
  const options = { env: { ...env }, windowsHide: true };
  if (context.platform !== 'win32') return spawn(COMMAND, args, options);
  // Commands that npm installs are .cmd files there, which only cmd.exe can start.
  const line = [COMMAND, ...args.map(quoteForCmd)].join(' ');
  const words = ['/d', '/s', '/c', `"${line}"`];
  return spawn(env.COMSPEC ?? 'cmd.exe', words, { ...options, windowsVerbatimArguments: true });
}

/**
 * Quotes an argument for a .cmd file that is started by cmd.exe. The argument is parsed twice (by cmd.exe and by the
 * file's own command line), so every special character is escaped twice; see "Parsing C++ command-line arguments".
 */
export function quoteForCmd(argument: string): string {
  const quoted = `"${argument.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1')}"`;
  const escapeMeta = (text: string): string => text.replace(/[()\][%!^"`<>&|;, *?]/g, '^$&');
  return escapeMeta(escapeMeta(quoted));
}

function startError(cause: Error): AppError {
  const code = systemCode(cause);
  const isMissing = code === 'ENOENT';
  const reason = isMissing ? 'it is not on the PATH' : (code ?? 'unknown reason');
  const hint = isMissing ? INSTALL_HINT : undefined;
  return new AppError('io_error', `cannot start ${COMMAND}: ${reason}`, { cause, hint });
}

/** How to put this program on the PATH. It names no package: a package of that name may belong to somebody else. */
export const INSTALL_HINT = `npm install --global . in the folder of this program puts ${COMMAND} on the PATH`;

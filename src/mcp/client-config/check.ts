import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { App } from '../../app/app.ts';
import { openService } from '../../app/service.ts';
import { isObject, type JsonObject, readReply } from '../../client/rpc/envelope.ts';
import type { Tool } from '../../client/types.ts';
import type { Context } from '../../context.ts';
import { AppError, CODES, type Code, systemCode } from '../../errors.ts';
import { variable } from '../../settings/settings.ts';
import { parseExactOrNone } from '../../util/exact-json.ts';
import { excerpt } from '../../util/excerpt.ts';
import { shellWord } from '../../util/shell.ts';
import { VERSION } from '../../version.ts';
import { lineReader, toLine } from '../bridge/framing.ts';
import { ERROR_META_KEY } from '../bridge/methods.ts';
import { KEY_VARIABLE, type McpClient } from './clients.ts';
import { COMMAND, type Target } from './entry.ts';

/** The result of a check. */
export interface CheckResult {
  readonly ok: true;
  /** How many tools the client will see. */
  readonly tools: number;
  /** Where the key for the URL came from. */
  readonly key?: 'env' | 'config';
}

type Env = Readonly<Record<string, string | undefined>>;

/** Variables that clients with an allowlist pass to the programs they start. */
const BASIC_ENV: readonly string[] = [
  ...['HOME', 'LANG', 'LC_ALL', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER'],
  ...['APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATHEXT', 'PROGRAMFILES'],
  ...['SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERNAME', 'USERPROFILE'],
];

/** Variables that clients with a blocklist do not pass on. */
const SECRET_NAME = /KEY|TOKEN|SECRET|PASSW|CREDENTIAL|AUTH|CERT|PRIVATE/i;

/** Returns the environment that a client gives to the programs it starts. */
function clientEnv({ passesEnv }: McpClient, env: Env): Env {
  if (passesEnv === undefined) return env;
  const passes = (name: string): boolean =>
    passesEnv === 'basic' ? BASIC_ENV.includes(name.toUpperCase()) : !SECRET_NAME.test(name);
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

/** Connects as the client would: handshake, list of tools, one search over stdio. @throws {AppError} */
export async function checkEntry(app: App, client: McpClient, target: Target): Promise<CheckResult> {
  if (target.via === 'http') return checkHttp(app, client, target.hasKey && !target.isLiteral);
  const { env, platform } = app.context;
  const tools = await app.withSpinner(`starting ${COMMAND} ${target.args.join(' ')}`, () =>
    checkStdio({
      command: COMMAND,
      args: target.args,
      env: { ...clientEnv(client, env), ...target.env },
      windows: platform === 'win32',
      timeoutMs: app.settings.need('timeout'),
      context: app.context,
    }),
  );
  return { ok: true, tools };
}

/** Protocol versions in the order in which clients try them. */
const CLIENT_VERSIONS = ['2025-11-25', '2026-07-28'] as const;

/** Failures that mean that the service does not support MCP, as opposed to a network or login problem. */
const NOT_MCP: readonly Code[] = ['rpc_error', 'http_error', 'bad_response'];

async function checkHttp(app: App, client: McpClient, needsVariable: boolean): Promise<CheckResult> {
  const fromEnv = variable(app.context.env, KEY_VARIABLE) !== undefined;
  if (!fromEnv && needsVariable && client.inputs === undefined) {
    throw new AppError('no_key', `${client.name} reads the key from ${KEY_VARIABLE}, which is not set`, {
      hint: `set ${KEY_VARIABLE} where ${client.name} is started, or use the saved login: ${stdioCommand(app, client, ' --check')}`,
    });
  }
  const tools = await listAsClient(app, client);
  return { ok: true, tools: tools.length, key: fromEnv ? 'env' : 'config' };
}

async function listAsClient(app: App, client: McpClient): Promise<readonly Tool[]> {
  let failure: AppError | undefined;
  for (const protocol of CLIENT_VERSIONS) {
    const service = await openService(app, { protocol });
    try {
      return await app.withSpinner(`connecting to ${service.label}`, () => service.client.listTools());
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

/** Formats the result of a check as a line. */
export function formatCheck({ tools }: CheckResult, client: McpClient): string {
  return `check: ${client.name} can connect; the service has ${tools} tools`;
}

interface StdioCheck {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Env;
  readonly windows: boolean;
  /** Maximum time for the whole check. */
  readonly timeoutMs: number;
  readonly context: Pick<Context, 'sleep' | 'signal'>;
}

/** How long the program may take to exit, ms. */
const EXIT_MS = 500;

/**
 * Starts a program as an MCP client does: handshake, list of tools, one search if there is a tool for it.
 * @returns how many tools it has
 * @throws {AppError} the failure of the search; `io_error` when it cannot be started; `timeout`; `bad_response`
 */
async function checkStdio({ timeoutMs, context, ...options }: StdioCheck): Promise<number> {
  const child = spawnServer(options);
  const done = new AbortController();
  const timeout = context.sleep(timeoutMs, AbortSignal.any([done.signal, context.signal])).then(() => {
    throw new AppError('timeout', `${options.command} did not respond within ${timeoutMs / 1000} s`);
  });
  try {
    return await Promise.race([converse(child, options.command), timeout]);
  } finally {
    timeout.catch(() => {});
    done.abort();
    await endProcess(child);
  }
}

async function converse(child: ChildProcessWithoutNullStreams, command: string): Promise<number> {
  const request = openConnection(child, command);
  const { serverInfo } = await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'restaurant-check', version: VERSION },
  });
  if (!isObject(serverInfo) || serverInfo.name !== COMMAND) {
    throw new AppError('bad_response', `the ${command} on the PATH is another program`);
  }
  child.stdin.write(toLine({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  const { tools } = await request('tools/list', {});
  if (!Array.isArray(tools)) throw new AppError('bad_response', 'the response to tools/list has no tools');
  if (tools.some((tool) => isObject(tool) && tool.name === 'find_restaurant')) {
    const args = { name: 'restaurant', city: 'San Francisco' };
    const result = await request('tools/call', { name: 'find_restaurant', arguments: args });
    if (result.isError === true) throw toolFailure(result);
  }
  return tools.length;
}

/** Converts a tool error of the bridge back into the error that it reports. */
function toolFailure(result: JsonObject): AppError {
  const meta = isObject(result._meta) ? result._meta[ERROR_META_KEY] : undefined;
  const { code, message, hint } = isObject(meta) ? meta : {};
  const [block] = Array.isArray(result.content) ? result.content : [];
  const text = isObject(block) && typeof block.text === 'string' ? block.text : 'no error message';
  const known = typeof code === 'string' && Object.hasOwn(CODES, code) ? (code as Code) : 'tool_error';
  const details = typeof hint === 'string' ? { hint } : {};
  return new AppError(known, typeof message === 'string' ? message : excerpt(text), details);
}

/** Sends one request at a time. @throws {AppError} `io_error`, `bad_response`; `rpc_error` for an error response */
function openConnection(child: ChildProcessWithoutNullStreams, command: string) {
  const { stdin, stdout, stderr } = child;
  const messages = readMessages(stdout);
  let lastId = 0;
  let log = '';
  stderr.on('data', (chunk: Uint8Array) => {
    log = (log + Buffer.from(chunk).toString('utf8')).slice(-2000);
  });
  // The process may exit before it has read everything.
  stdin.on('error', () => {});
  const ended = new Promise<AppError>((resolve) => {
    child.on('error', (error) => resolve(startError(command, error)));
    child.on('close', (code) => {
      const last = excerpt(log.trim().split('\n').at(-1) ?? '');
      const why = last === '' ? '' : `: ${last}`;
      const message = `${command} exited before it responded (${code ?? 'killed'})${why}`;
      resolve(new AppError('bad_response', message));
    });
  });
  return async (method: string, params: JsonObject): Promise<JsonObject> => {
    lastId += 1;
    stdin.write(toLine({ jsonrpc: '2.0', id: lastId, method, params }));
    for (;;) {
      const { value: message, done } = await messages.next();
      if (done === true) throw await ended;
      if (message.id !== lastId || 'method' in message) continue;
      const reply = readReply(message);
      if ('error' in reply) {
        throw new AppError('rpc_error', `${command} rejected ${method}: ${excerpt(reply.error.message)}`);
      }
      if (isObject(reply.result)) return reply.result;
      throw new AppError('bad_response', `the response of ${command} to ${method} has no result`);
    }
  };
}

/** Reads messages; other lines are skipped. */
async function* readMessages(stdout: AsyncIterable<Uint8Array>): AsyncGenerator<JsonObject, undefined> {
  const reader = lineReader();
  for await (const chunk of stdout) {
    for (const line of reader.push(chunk)) {
      const message = 'text' in line ? parseExactOrNone(line.text) : undefined;
      if (isObject(message)) yield message;
    }
  }
}

function spawnServer({ command, args, env, windows }: Omit<StdioCheck, 'timeoutMs' | 'context'>) {
  const options = { env: { ...env }, windowsHide: true };
  if (!windows) return spawn(command, args, options);
  // Commands that npm installs are .cmd files there, which only cmd.exe can start.
  const line = [command, ...args.map(quoteForCmd)].join(' ');
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

function startError(command: string, error: Error): AppError {
  const missing = systemCode(error) === 'ENOENT';
  const why = missing ? 'it is not on the PATH' : (systemCode(error) ?? 'unknown reason');
  return new AppError('io_error', `cannot start ${command}: ${why}`, {
    cause: error,
    ...(missing ? { hint: INSTALL_HINT } : {}),
  });
}

/** How to put this program on the PATH. It names no package: a package of that name may belong to somebody else. */
export const INSTALL_HINT = `npm install --global . in the folder of this program puts ${COMMAND} on the PATH`;

/** Closes the stdin of a process; kills it when it has not exited in time. */
function endProcess(child: ChildProcessWithoutNullStreams): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      // Processes that it started may hold the other ends.
      child.stdout.destroy();
      child.stderr.destroy();
      resolve();
    };
    const timer = setTimeout(() => child.kill('SIGKILL'), EXIT_MS);
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return done();
    child.once('exit', done);
    child.stdin.end();
  });
}

import { type ExecFileException, execFile } from 'node:child_process';
import type { App } from '../../app/app.ts';
import { AppError, type Code, failure, KIND_OF, systemCode } from '../../errors.ts';
import { type Advice, again } from '../../hint.ts';
import { excerpt } from '../../util/format.ts';
import { isObject, type JsonObject, tryParseJson } from '../../util/json.ts';
import { VERSION } from '../../version.ts';
import { toLine } from '../bridge/framing.ts';
import { ERROR_META_KEY } from '../bridge/methods.ts';
import { COMMAND, type StdioEntry } from './entry.ts';

/** Names no package, because a package of that name may belong to somebody else. */
export const INSTALL: Advice = {
  text: `npm install --global . in the folder of this program puts ${COMMAND} on the PATH`,
};

/** Starts the bridge as the client does, with the variables that it has then, and makes a call. */
export async function checkBridge(app: App, entry: StdioEntry) {
  const { program, problem, missing } = entry;
  if (problem !== undefined) throw failure('io_error', problem, INSTALL);
  const line = [program.command, ...program.args].join(' ');
  try {
    return {
      ok: true,
      tools: await app.notes.withSpinner(`starting ${line}`, countTools(app, entry)),
    };
  } catch (error) {
    throw missing.length > 0 && error instanceof AppError ? error.add({ hint: missing }) : error;
  }
}

const REQUESTS = [
  {
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'restaurant-check', version: VERSION },
    },
  },
  { method: 'tools/list', params: {} },
  {
    method: 'tools/call',
    params: { name: 'find_restaurant', arguments: { name: 'restaurant', city: 'San Francisco' } },
  },
];

async function countTools(app: App, entry: StdioEntry): Promise<number> {
  const { output, failure } = await runBridge(app, entry);
  const responses = output.split('\n').map(tryParseJson).filter(isObject);
  const [initialized, list, found] = REQUESTS.map((_request, id) => responses.find((each) => each.id === id));
  const { serverInfo } = resultOf(initialized);
  if (initialized !== undefined && !(isObject(serverInfo) && serverInfo.name === COMMAND)) {
    throw new AppError('bad_response', `the ${COMMAND} on the PATH is another program`);
  }
  const { tools } = resultOf(list);
  if (!Array.isArray(tools) || found === undefined) throw failure;
  const result = resultOf(found);
  // A JSON-RPC error is not a failure: the service may just not have this tool.
  if (result.isError === true) throw toolFailure(result);
  return tools.length;
}

const resultOf = (message: JsonObject | undefined): JsonObject =>
  isObject(message?.result) ? message.result : {};

function toolFailure(result: JsonObject): AppError {
  const meta = isObject(result._meta) ? result._meta[ERROR_META_KEY] : undefined;
  const { code, message, hint } = isObject(meta) ? meta : {};
  const known = typeof code === 'string' && Object.hasOwn(KIND_OF, code) ? (code as Code) : 'tool_error';
  const text = typeof message === 'string' ? message : excerpt(JSON.stringify(result.content));
  return new AppError(known, text, typeof hint === 'string' ? { hint: { text: hint } } : {});
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

function runBridge({ context, settings }: App, { program, env }: StdioEntry) {
  const { signal } = context;
  const timeoutMs = settings.get('timeout');
  const options = {
    env,
    timeout: timeoutMs,
    signal,
    killSignal: 'SIGKILL',
    maxBuffer: MAX_OUTPUT_BYTES,
    windowsHide: true,
  } as const;
  return new Promise<{ output: string; failure: AppError }>((resolve, reject) => {
    const bridge = execFile(program.command, program.args, options, (error, output, log) => {
      if (signal.aborted) return reject(signal.reason);
      resolve({ output, failure: failureOf(error, log, timeoutMs) });
    });
    let missing = REQUESTS.length;
    bridge.stdout?.on('data', (text: string) => {
      missing -= text.split('\n').length - 1;
      if (missing <= 0) bridge.stdin?.end();
    });
    // The process may exit before it has read everything.
    bridge.stdin?.on('error', () => {});
    // Processes that it started may keep the pipes open.
    bridge.on('exit', () => {
      if (missing > 0) return;
      bridge.stdout?.destroy();
      bridge.stderr?.destroy();
    });
    bridge.stdin?.write(REQUESTS.map((each, id) => toLine({ jsonrpc: '2.0', id, ...each })).join(''));
  });
}

function failureOf(error: ExecFileException | null, log: string, timeoutMs: number): AppError {
  if (error?.killed === true) {
    return failure('timeout', `${COMMAND} did not respond within ${timeoutMs / 1000} s`, {
      text: 'allow more time',
      command: again({}, { env: { RESTAURANT_TIMEOUT: '2m' } }),
    });
  }
  const code = systemCode(error);
  if (code !== undefined) return new AppError('io_error', `cannot run ${COMMAND}: ${code}`);
  const last = excerpt(log.trim().split('\n').at(-1) ?? '');
  const message = `${COMMAND} exited before it responded (${error?.code ?? error?.signal ?? 0})`;
  return new AppError('bad_response', last === '' ? message : `${message}: ${last}`);
}

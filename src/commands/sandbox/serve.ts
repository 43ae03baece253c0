import { extname } from 'node:path';
import type { App } from '../../app/app.ts';
import { readArgumentFile } from '../../app/input.ts';
import { AppError, EXIT_CODES } from '../../errors.ts';
import { parseFault } from '../../sandbox/faults.ts';
import { readRestaurants } from '../../sandbox/load.ts';
import { type SandboxRestaurant, startSandbox } from '../../sandbox/server.ts';
import { toJson } from '../../util/json.ts';

/** Of what a caller names only so many characters are shown. */
const LONGEST_NAME = 80;

/** Options of `sandbox` as commander gives them. */
export interface SandboxCommandOptions {
  port: number;
  reply: 'json' | 'sse';
  mode: 'service' | 'mcp';
  auth: boolean;
  perMinute: number;
  perDay: number;
  latency: number;
  fault: string[];
  data?: string;
}

/** Runs the sandbox until Ctrl-C or SIGTERM. Its address is the first line on stdout. */
export async function serveSandbox(app: App, options: SandboxCommandOptions): Promise<void> {
  const { data } = options;
  const sandbox = await startSandbox({
    port: options.port,
    reply: options.reply,
    mode: options.mode,
    auth: options.auth,
    perMinute: options.perMinute,
    perDay: options.perDay,
    latencyMs: options.latency,
    faults: options.fault.map(parseFault),
    ...(data === undefined ? {} : { restaurants: restaurantsOf(app, data) }),
    onRequest: ({ method, tool, status, key, ms }) => {
      const what = [method ?? '-', tool].flatMap((name) => name?.slice(0, LONGEST_NAME) ?? []).join(' ');
      void app.note(`${status} ${what} (${key ?? 'no key'}, ${Math.round(ms)} ms)`);
    },
  });
  app.onClose(() => sandbox.close());
  const { baseUrl: base_url, endpoint, keys } = sandbox;
  const json = app.settings.resolve('format').value === 'json';
  await app.context.stdout.write(json ? `${toJson({ base_url, endpoint, keys }, false)}\n` : `${base_url}\n`);
  if (app.isInteractive) {
    // Past the redaction: the keys of the sandbox are no secret.
    const line = `RESTAURANT_API_KEY=${keys.paid} restaurant find Nopa --city SF --base-url ${base_url}`;
    await app.context.stderr.write(`${app.paletteFor('stderr').dim(`try it: ${line}`)}\n`);
  }
  await stopped(app.context.signal);
  app.exitCode = EXIT_CODES.interrupted;
}

/** The restaurants of a file. @throws {AppError} naming the file */
function restaurantsOf(app: App, path: string): SandboxRestaurant[] {
  const text = readArgumentFile(app, path);
  try {
    return readRestaurants(text, extname(path).toLowerCase() === '.csv' ? 'csv' : 'json');
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, `${path}: ${error.message}`, { ...error.details, hint: error.hint });
  }
}

/** Settles when the run is interrupted, which is how a server ends: no failure to tell about. */
function stopped(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

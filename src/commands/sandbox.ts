import { once } from 'node:events';
import { extname } from 'node:path';
import type { App } from '../app/app.ts';
import { readArgumentFile } from '../app/input.ts';
import type { CliCommand } from '../cli/command.ts';
import { object, text } from '../cli/schemas.ts';
import { AppError, EXIT_CODES } from '../errors.ts';
import { FAULT_KINDS, type Fault, parseFault } from '../sandbox/faults.ts';
import type { SandboxOptions, SandboxRestaurant } from '../sandbox/server.ts';
import { parseDuration } from '../settings/values.ts';
import { toJson } from '../util/json.ts';

const MAX_NAME = 80;

interface SandboxFlags extends SandboxOptions {
  latency: number;
  fault: Fault[];
  data?: string;
}

const SANDBOX_OUTPUT = object({
  base_url: text,
  endpoint: text,
  keys: object({ free: text, paid: text, revoked: text }),
});

export function registerSandbox(command: CliCommand, app: App): void {
  command
    .about('Run the service locally with sample data', 'Speaks the same protocol and can simulate failures.')
    .valueOption('--port <n>', 'Port to listen on; 0 picks a free one', { range: [0, 65_535], default: 4010 })
    .valueOption('--reply <format>', 'Format of the responses', { choices: ['json', 'sse'], default: 'json' })
    .valueOption('--mode <mode>', 'Documented service, or full MCP server', {
      choices: ['service', 'mcp'],
      default: 'service',
    })
    .option('--no-auth', 'Accept requests without a key')
    .valueOption('--per-minute <n>', 'Requests per minute and key; 0 = no limit', {
      range: [0, 1e6],
      default: 100,
    })
    .valueOption('--per-day <n>', 'Requests per day and key; 0 = no limit', {
      range: [0, 1e9],
      default: 2000,
    })
    .valueOption('--latency <t>', 'Delay for every response: 200ms, 2s', {
      read: parseDuration,
      default: 0,
      example: '200ms',
    })
    .listOption('--fault <kind[:rate]>', 'Simulate a fault (repeatable)', parseFault)
    .completeWith('--fault', FAULT_KINDS)
    .option('--data <file>', 'Serve restaurants from a JSON or CSV file')
    .usesOptions('json')
    .outputSchema(SANDBOX_OUTPUT)
    .examples('restaurant sandbox', 'restaurant sandbox --port 0 --fault 429:0.2 --latency 200ms')
    .notes(
      'Prints the base URL on the first line of stdout. Keys: sk_service_demo_free, ' +
        'sk_service_demo_paid, sk_service_demo_revoked. Press Ctrl-C to stop.\n\n' +
        `Faults: ${FAULT_KINDS.join(', ')}. Add a rate from 0 to 1 (--fault 503:0.1) ` +
        'or a number of times (--fault 503:3x).',
    )
    .action((flags: SandboxFlags) => runSandbox(app, flags));
}

async function runSandbox(app: App, { latency, fault, data, ...options }: SandboxFlags): Promise<void> {
  const { startSandbox } = await import('../sandbox/server.ts');
  const sandbox = await startSandbox({
    ...options,
    latencyMs: latency,
    faults: fault,
    ...(data === undefined ? {} : { restaurants: await readData(app, data) }),
    onRequest: ({ method, tool, status, key, ms }) => {
      const what = [method ?? '-', tool].flatMap((name) => name?.slice(0, MAX_NAME) ?? []).join(' ');
      void app.notes.note(`${status} ${what} (${key}, ${Math.round(ms)} ms)`);
    },
  });
  app.cleanup.add(() => sandbox.close());
  const { baseUrl: base_url, endpoint, keys } = sandbox;
  const json = app.settings.resolve('format').value === 'json';
  await app.context.stdout.write(json ? `${toJson({ base_url, endpoint, keys }, false)}\n` : `${base_url}\n`);
  if (app.terminal.isInteractive) {
    // Written without masking, because the keys of the sandbox are not secret.
    const line = `RESTAURANT_API_KEY=${keys.paid} restaurant find Nopa --city SF --base-url ${base_url}`;
    await app.context.stderr.write(`${app.terminal.palette('stderr').dim(`try it: ${line}`)}\n`);
  }
  const { signal } = app.context;
  if (!signal.aborted) await once(signal, 'abort');
  // A signal is the normal way to stop a server.
  app.exitCode = EXIT_CODES.interrupted;
}

async function readData(app: App, path: string): Promise<SandboxRestaurant[]> {
  const { readRestaurants } = await import('../sandbox/restaurants.ts');
  const text = await readArgumentFile(app, path);
  try {
    return readRestaurants(text, extname(path).toLowerCase() === '.csv' ? 'csv' : 'json');
  } catch (error) {
    throw error instanceof AppError ? error.add({ about: path }) : error;
  }
}

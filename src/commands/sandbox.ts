import type { SandboxCommandOptions } from '../actions/sandbox.ts';
import { oneOf, parseDuration, wholeNumber } from '../config/values.ts';
import type { App } from '../run/app.ts';
import type { CliCommand } from '../tree/command.ts';
import { flagValue } from '../tree/options.ts';
import { SANDBOX_OUTPUT } from '../tree/schemas.ts';

const collect = (value: string, sofar: string[]): string[] => [...sofar, value];

/** Adds `sandbox` to the program. */
export function registerSandbox(program: CliCommand, app: App, action = runSandbox): void {
  program
    .command('sandbox')
    .summary('the service on this machine, with sample data')
    .description('Run the service on this machine: same protocol, sample data, faults on demand.')
    .option(
      '--port <n>',
      'port to listen on; 0 picks a free one (default 4010)',
      flagValue('--port', wholeNumber(0, 65535)),
      4010,
    )
    .option(
      '--reply <form>',
      'form of the replies: json, sse (default json)',
      flagValue('--reply', oneOf(['json', 'sse'] as const)),
      'json',
    )
    .option(
      '--mode <mode>',
      'service, or mcp: a full MCP server (default service)',
      flagValue('--mode', oneOf(['service', 'mcp'] as const)),
      'service',
    )
    .option('--no-auth', 'ask for no key')
    .option(
      '--per-minute <n>',
      'requests a minute for each key; 0 = no limit (default 100)',
      flagValue('--per-minute', wholeNumber(0, 1_000_000)),
      100,
    )
    .option(
      '--per-day <n>',
      'requests a day for each key; 0 = no limit (default 2000)',
      flagValue('--per-day', wholeNumber(0, 1_000_000_000)),
      2000,
    )
    .option('--latency <t>', 'answer so much later (default 0)', flagValue('--latency', parseDuration), 0)
    .option('--fault <kind[:rate]>', 'fail on purpose; repeatable', collect, [])
    .option('--data <file>', 'serve your own restaurants: JSON or CSV')
    .obeys('json')
    .prints(SANDBOX_OUTPUT)
    .examples(
      'restaurant sandbox',
      'restaurant sandbox --port 0 --reply sse',
      'restaurant sandbox --port 0 --fault 429:0.2 --latency 200ms',
    )
    .says(
      'The first line on stdout is the base URL. Keys: sk_service_demo_free,\n' +
        'sk_service_demo_paid, sk_service_demo_revoked. Ctrl-C stops it.\n\n' +
        'Faults: 401, 403, 429, 500, 503, reset, hang, slow, truncate, html, bad-json,\n' +
        'bad-text, tool-error, rpc-error, sse-cut, wrong-id, huge. A rate from 0 to 1 says\n' +
        'how often: --fault 503:0.1; 3x says how many times: --fault 503:3x',
    )
    .action((options: SandboxCommandOptions) => action(app, options));
}

async function runSandbox(app: App, options: SandboxCommandOptions): Promise<void> {
  const { serveSandbox } = await import('../actions/sandbox.ts');
  await serveSandbox(app, options);
}

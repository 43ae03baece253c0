import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { listOption, valueOption } from '../cli/option.ts';
import { SANDBOX_OUTPUT } from '../cli/schemas.ts';
import { oneOf, parseDuration, wholeNumber } from '../settings/values.ts';
import type { SandboxCommandOptions } from './sandbox/serve.ts';

const FORMS = ['json', 'sse'] as const;
/** Kinds of faults, as the sandbox knows them. */
const FAULTS = [
  ...['401', '403', '429', '500', '503', 'reset', 'hang', 'slow', 'truncate', 'html', 'bad-json', 'bad-text'],
  ...['tool-error', 'rpc-error', 'sse-cut', 'wrong-id', 'huge'],
];
const MODES = ['service', 'mcp'] as const;

/** Adds `sandbox` to the program. */
export function registerSandbox(program: CliCommand, app: App, action = runSandbox): void {
  program
    .command('sandbox')
    .summary('the service on this machine, with sample data')
    .description('Run the service on this machine: same protocol, sample data, faults on demand.')
    .addOption(
      valueOption('--port <n>', 'port to listen on; 0 picks a free one', {
        read: wholeNumber(0, 65535),
        default: 4010,
        integer: true,
      }),
    )
    .addOption(
      valueOption('--reply <form>', 'form of the replies', {
        read: oneOf(FORMS),
        choices: FORMS,
        default: 'json',
      }),
    )
    .addOption(
      valueOption('--mode <mode>', 'as documented, or a full MCP server', {
        read: oneOf(MODES),
        choices: MODES,
        default: 'service',
      }),
    )
    .option('--no-auth', 'ask for no key')
    .addOption(
      valueOption('--per-minute <n>', 'requests a minute for each key; 0 = no limit', {
        read: wholeNumber(0, 1_000_000),
        default: 100,
        integer: true,
      }),
    )
    .addOption(
      valueOption('--per-day <n>', 'requests a day for each key; 0 = no limit', {
        read: wholeNumber(0, 1_000_000_000),
        default: 2000,
        integer: true,
      }),
    )
    .addOption(
      valueOption('--latency <t>', 'answer so much later: 200ms, 2s', { read: parseDuration, default: 0 }),
    )
    .addOption(listOption('--fault <kind[:rate]>', 'fail on purpose; repeatable'))
    .completeWith('--fault', FAULTS)
    .option('--data <file>', 'serve your own restaurants: JSON or CSV')
    .usesOptions('json')
    .outputSchema(SANDBOX_OUTPUT)
    .examples(
      'restaurant sandbox',
      'restaurant sandbox --port 0 --reply sse',
      'restaurant sandbox --port 0 --fault 429:0.2 --latency 200ms',
    )
    .notes(
      'The first line on stdout is the base URL. Keys: sk_service_demo_free, ' +
        'sk_service_demo_paid, sk_service_demo_revoked. Ctrl-C stops it.\n\n' +
        `Faults: ${FAULTS.join(', ')}. A rate from 0 to 1 says ` +
        'how often: --fault 503:0.1; 3x says how many times: --fault 503:3x',
    )
    .action((options: SandboxCommandOptions) => action(app, options));
}

async function runSandbox(app: App, options: SandboxCommandOptions): Promise<void> {
  const { serveSandbox } = await import('./sandbox/serve.ts');
  await serveSandbox(app, options);
}

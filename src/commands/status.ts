import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { STATUS_OUTPUT } from '../cli/schemas.ts';

/** Adds `status` to the program. */
export function registerStatus(program: CliCommand, app: App, action = runStatus): void {
  program
    .command('status')
    .summary('which service, key, settings and quota')
    .description('Show which service, key, settings, quota and files are in use.')
    .option('--check', 'make one call to see that the service takes the key')
    .usesOptions('service', 'request', 'json')
    .outputSchema(STATUS_OUTPUT)
    .examples('restaurant status', 'restaurant status --check --demo', 'restaurant status --json')
    .action((options: { check?: true }) => action(app, options));
}

async function runStatus(app: App, options: { check?: true }): Promise<void> {
  const { status } = await import('../actions/status.ts');
  await status(app, options.check === true);
}

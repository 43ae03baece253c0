import type { LoginOptions } from '../actions/login.ts';
import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { LOGIN_OUTPUT } from '../cli/schemas.ts';

/** Adds `login` to the program. */
export function registerLogin(program: CliCommand, app: App, action = runLogin): void {
  program
    .command('login')
    .summary('save the API key, and which service it is for')
    .description('Save the API key, and which service it is for. One call proves the key first.')
    .option('--key-stdin', 'read the key from stdin')
    .option('--key-file <path>', 'read the key from a file')
    .option('--no-verify', 'save without asking the service')
    .usesOptions('address', 'profile', 'request', 'json')
    .outputSchema(LOGIN_OUTPUT)
    .examples(
      'restaurant login',
      'restaurant login --base-url https://api.example.com --key-stdin < key.txt',
      'restaurant login --profile work --key-file key.txt',
    )
    .notes('No option takes the key itself: others could read it from the list of processes.')
    .action((options: LoginOptions) => action(app, options));
}

async function runLogin(app: App, options: LoginOptions): Promise<void> {
  const { login } = await import('../actions/login.ts');
  await login(app, options);
}

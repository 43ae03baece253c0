import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { LOGOUT_OUTPUT } from '../cli/schemas.ts';

/** Adds `logout` to the program. */
export function registerLogout(program: CliCommand, app: App, action = runLogout): void {
  program
    .command('logout')
    .summary('forget the saved key')
    .description('Forget the saved key, and the cached answers that it got. The address stays.')
    .usesOptions('profile', 'json')
    .outputSchema(LOGOUT_OUTPUT)
    .examples('restaurant logout')
    .action(() => action(app));
}

async function runLogout(app: App): Promise<void> {
  const { logout } = await import('../actions/logout.ts');
  await logout(app);
}

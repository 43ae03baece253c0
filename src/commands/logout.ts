import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { boolean, object, text } from '../cli/schemas.ts';
import { variable } from '../settings/settings.ts';
import { hashKey, openCache } from '../storage/cache.ts';
import { openConfigStore } from '../storage/config-file.ts';

/** Schema of what `logout --json` prints. */
const LOGOUT_OUTPUT = object({ profile: text, removed: boolean, key_in_environment: boolean });

/** Adds `logout` to the program. */
export function registerLogout(program: CliCommand, app: App, action = logout): void {
  program
    .command('logout')
    .summary('forget the saved key')
    .description('Forget the saved key, and the cached answers that it got. The address stays.')
    .usesOptions('profile', 'json')
    .outputSchema(LOGOUT_OUTPUT)
    .examples('restaurant logout')
    .action(() => action(app));
}

/** Forgets the key of the profile, and what was cached with it. Says so where the environment still holds a key. */
async function logout(app: App): Promise<void> {
  app.config();
  app.requireProfile();
  const { profileName: profile } = app.settings;
  const store = openConfigStore(app.configDir, { warn: (text) => void app.warn(text) });
  let removed: string | undefined;
  if (store.exists()) {
    await store.update((file) => {
      const held =
        file.profiles !== undefined && Object.hasOwn(file.profiles, profile)
          ? file.profiles[profile]
          : undefined;
      if (held === undefined) return;
      removed = held.key;
      delete held.key;
      delete held.key_origin;
    });
  }
  if (removed !== undefined) {
    app.registerSecret(removed);
    openCache({ cacheDir: app.paths.cacheDir, now: app.context.now }).clearFor(hashKey(removed));
  }
  const fromEnv = variable(app.context.env, 'RESTAURANT_API_KEY') !== undefined;
  const facts = { profile, removed: removed !== undefined, key_in_environment: fromEnv };
  const said = facts.removed ? `Forgot the key of profile ${profile}.` : `Profile ${profile} had no key.`;
  const still = fromEnv ? '\nRESTAURANT_API_KEY still holds a key: unset RESTAURANT_API_KEY' : '';
  await writeText(app, facts, () => `${said}${still}\n`);
}

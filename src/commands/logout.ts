import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { boolean, list, object, text } from '../cli/schemas.ts';

export function registerLogout(command: CliCommand, app: App): void {
  command
    .about('Delete the saved key and its cached responses', 'The address of the service is kept.')
    .option('--all', 'Delete the keys of all profiles')
    .usesOptions('profile', 'json')
    .outputSchema(
      object({ 'profile?': text, removed: boolean, key_in_environment: boolean, 'profiles?': list(text) }),
    )
    .examples('restaurant logout', 'restaurant logout --all')
    .action(({ all }: { all?: true }) => logout(app, all === true));
}

async function logout(app: App, all: boolean): Promise<void> {
  const { requireProfile } = await import('../app/target.ts');
  const { clearAccount } = await import('../storage/cache.ts');
  const { profiles = {} } = app.config.file();
  if (!all) requireProfile(app);
  const { profileName } = app.settings;
  const removed = new Map<string, string>();
  if (Object.keys(profiles).length > 0) {
    await app.config.update((file) => {
      for (const [name, profile] of Object.entries(file.profiles ?? {})) {
        if (!all && name !== profileName) continue;
        if (profile.key !== undefined) removed.set(name, profile.key);
        delete profile.key;
        delete profile.key_origin;
      }
    });
  } else if (app.paths.configFile !== undefined) {
    const { sweepConfig } = await import('../storage/config-file.ts');
    await sweepConfig(app.paths.configFile);
  }
  for (const key of removed.values()) clearAccount(app.paths.cacheDir, key);
  const isInEnvironment = app.secrets.environmentKey !== undefined;
  const names = [...removed.keys()];
  const facts = {
    ...(all ? { profiles: names } : { profile: profileName }),
    removed: names.length > 0,
    key_in_environment: isInEnvironment,
  };
  const nothing = all ? 'No profile had a key.' : `Profile ${profileName} had no key.`;
  const keys = names.length === 1 ? 'key of profile' : 'keys of profiles';
  const done = names.length > 0 ? `Deleted the saved ${keys} ${names.join(', ')}.` : nothing;
  const inEnvironment = '\nRESTAURANT_API_KEY is still set: unset RESTAURANT_API_KEY';
  const { value: command, source } = app.settings.raw('key-command');
  const remedy = source === 'env' ? 'unset RESTAURANT_KEY_COMMAND' : 'restaurant config unset key-command';
  const fromCommand = !command ? '' : `\nkey-command still prints a key: ${remedy}`;
  const still = isInEnvironment ? inEnvironment : fromCommand;
  await writeText(app, facts, () => `${done}${still}\n`);
}

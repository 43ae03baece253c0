import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { CONFIG_OUTPUT, SETTING_OUTPUT } from '../cli/schemas.ts';

/** Adds `config` and its subcommands to the program. */
export function registerConfig(program: CliCommand, app: App): void {
  const config = program
    .command('config')
    .summary('settings in the config file')
    .description('Read and change the settings in the config file.')
    .examples('restaurant config set city "San Francisco"', 'restaurant config list')
    .notes(
      'Settings: base-url, endpoint, profile, protocol, timeout, retries, max-wait, max-age, ' +
        'format, city, per-minute, per-day, key-prefix. A flag beats the environment, which ' +
        'beats the config file: restaurant help environment.',
    );
  const load = () => import('../actions/settings.ts');
  config
    .command('get')
    .summary('print a setting')
    .description('Print the value of a setting that is in force; nothing where it has none.')
    .argument('<name>', 'name of the setting')
    .completeWith('name', 'setting')
    .usesOptions('profile', 'json')
    .outputSchema(SETTING_OUTPUT)
    .examples('restaurant config get timeout')
    .action(async (name: string) => (await load()).getSetting(app, name));
  config
    .command('set')
    .summary('save a setting')
    .description('Save a setting in the config file.')
    .argument('<name>', 'name of the setting')
    .completeWith('name', 'setting')
    .argument('<value>', 'its value')
    .completeWith('value', 'setting-value')
    .usesOptions('profile', 'json')
    .outputSchema(SETTING_OUTPUT)
    .examples('restaurant config set city "San Francisco"', 'restaurant config set timeout 1m')
    .action(async (name: string, value: string) => (await load()).setSetting(app, name, value));
  config
    .command('unset')
    .summary('remove a setting')
    .description('Remove a setting from the config file, so that its default counts again.')
    .argument('<name>', 'name of the setting')
    .completeWith('name', 'setting')
    .usesOptions('profile', 'json')
    .outputSchema(SETTING_OUTPUT)
    .examples('restaurant config unset city')
    .action(async (name: string) => (await load()).unsetSetting(app, name));
  config
    .command('list')
    .summary('all settings, and where each comes from')
    .description('List all settings with their values and where each comes from.')
    .usesOptions('profile', 'json')
    .outputSchema(CONFIG_OUTPUT)
    .examples('restaurant config list', 'restaurant config list --json')
    .action(async () => (await load()).listSettings(app));
  config
    .command('path')
    .summary('where the config file is')
    .description('Print the path of the config file.')
    .usesOptions('json')
    .outputSchema({ type: 'object', required: ['path'], properties: { path: { type: 'string' } } })
    .examples('restaurant config path')
    .action(async () => (await load()).printConfigPath(app));
}

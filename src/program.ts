import type { App } from './app/app.ts';
import { CliCommand } from './cli/command.ts';
import { configureHelp } from './cli/help.ts';
import { addGlobalOptions, checkGlobalOptions } from './cli/options.ts';
import { registerCache } from './commands/cache.ts';
import { registerCall } from './commands/call.ts';
import { registerCompletion } from './commands/completion.ts';
import { registerConfig } from './commands/config.ts';
import { registerEnrich } from './commands/enrich.ts';
import { registerFind } from './commands/find.ts';
import { registerHelp } from './commands/help.ts';
import { registerLogin } from './commands/login.ts';
import { registerLogout } from './commands/logout.ts';
import { registerLookup } from './commands/lookup.ts';
import { registerMcp } from './commands/mcp.ts';
import { registerRaw } from './commands/raw.ts';
import { registerSandbox } from './commands/sandbox.ts';
import { registerSchema } from './commands/schema.ts';
import { registerSkill } from './commands/skill.ts';
import { registerStatus } from './commands/status.ts';
import { registerTools } from './commands/tools.ts';
import { VERSION } from './version.ts';

/** Builds the command tree. Commands load what they need when they are run. */
export function buildProgram(app: App): CliCommand {
  const program = new CliCommand('restaurant');
  program
    .description('Search restaurants, read their details, from the command line.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption(false)
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ writeOut: (text) => app.collect(text), writeErr: () => {}, outputError: () => {} })
    .hook('preAction', (_program, command) => checkGlobalOptions(program, command as CliCommand))
    .examples(
      'restaurant find "Nopa" --city SF --demo',
      'restaurant lookup 1 --fields premium --demo',
      'restaurant find "Nopa" --city SF --demo --json',
    )
    .notes(
      'Topics: restaurant help environment, exit-codes, formats\n\n' +
        'An option given twice: the last one counts. -- ends the options.',
    );
  addGlobalOptions(program);
  configureHelp(program);

  program.commandsGroup('Restaurants:');
  registerFind(program, app);
  registerLookup(program, app);
  registerEnrich(program, app);
  program.commandsGroup('The service:');
  registerTools(program, app);
  registerCall(program, app);
  registerRaw(program, app);
  registerMcp(program, app);
  registerSandbox(program, app);
  program.commandsGroup('Key and settings:');
  registerLogin(program, app);
  registerLogout(program, app);
  registerStatus(program, app);
  registerConfig(program, app);
  registerCache(program, app);
  program.commandsGroup('More:');
  registerSchema(program, app);
  registerCompletion(program, app);
  registerSkill(program, app);
  registerHelp(program, app);
  return program;
}

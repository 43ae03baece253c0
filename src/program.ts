import type { App } from './app/app.ts';
import { CliCommand } from './cli/command.ts';
import { addGlobalOptions, checkCommandLine, HELP_OPTION, VERSION_OPTION } from './cli/options.ts';

type Register = (command: CliCommand, app: App) => void;

type Entry = readonly [group: string, load: () => Promise<Register>];

const RESTAURANTS = 'Restaurants:';
const SERVICE = 'The service:';
const SETTINGS = 'Key and settings:';
const MORE = 'More:';

const COMMANDS: Readonly<Record<string, Entry>> = {
  find: [RESTAURANTS, async () => (await import('./commands/find.ts')).registerFind],
  lookup: [RESTAURANTS, async () => (await import('./commands/lookup.ts')).registerLookup],
  last: [RESTAURANTS, async () => (await import('./commands/last.ts')).registerLast],
  save: [RESTAURANTS, async () => (await import('./commands/save.ts')).registerSave],
  saved: [RESTAURANTS, async () => (await import('./commands/saved.ts')).registerSaved],
  unsave: [RESTAURANTS, async () => (await import('./commands/save.ts')).registerUnsave],
  changes: [RESTAURANTS, async () => (await import('./commands/changes.ts')).registerChanges],
  enrich: [RESTAURANTS, async () => (await import('./commands/enrich.ts')).registerEnrich],
  review: [RESTAURANTS, async () => (await import('./commands/review.ts')).registerReview],
  tools: [SERVICE, async () => (await import('./commands/tools.ts')).registerTools],
  call: [SERVICE, async () => (await import('./commands/call.ts')).registerCall],
  raw: [SERVICE, async () => (await import('./commands/raw.ts')).registerRaw],
  mcp: [SERVICE, async () => (await import('./commands/mcp.ts')).registerMcp],
  sandbox: [SERVICE, async () => (await import('./commands/sandbox.ts')).registerSandbox],
  login: [SETTINGS, async () => (await import('./commands/login.ts')).registerLogin],
  logout: [SETTINGS, async () => (await import('./commands/login.ts')).registerLogout],
  status: [SETTINGS, async () => (await import('./commands/status.ts')).registerStatus],
  config: [SETTINGS, async () => (await import('./commands/config.ts')).registerConfig],
  cache: [SETTINGS, async () => (await import('./commands/cache.ts')).registerCache],
  schema: [MORE, async () => (await import('./commands/schema.ts')).registerSchema],
  completion: [MORE, async () => (await import('./commands/completion.ts')).registerCompletion],
  skill: [MORE, async () => (await import('./commands/skill.ts')).registerSkill],
  help: [MORE, async () => (await import('./commands/help.ts')).registerHelp],
};

/** Builds the command tree. A command is defined when the command line names it. */
export function buildProgram(app: App): CliCommand {
  const program = new CliCommand('restaurant');
  program
    .description('Search restaurants and read their details from the command line.')
    .addOption(VERSION_OPTION)
    .addOption(HELP_OPTION)
    .helpOption(false)
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} })
    .hook('preSubcommand', (_program, command) => (command as CliCommand).load())
    .hook('preAction', () => checkCommandLine(program))
    .examples(
      'restaurant find "Nopa" --city SF --demo',
      'restaurant lookup 1 --fields premium --demo',
      'restaurant find "Nopa" --city SF --demo --json',
    )
    .notes(
      'Topics: restaurant help environment, exit-codes, formats\n\n' +
        'If an option that is not repeatable is given twice, the last value wins. `--` ends option parsing.',
    );
  addGlobalOptions(program);
  for (const [name, [group, load]] of Object.entries(COMMANDS)) {
    program.lazyCommand(name, group, async (command) => (await load())(command, app));
  }
  app.program = program;
  return program;
}

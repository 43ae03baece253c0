import type { App } from './app/app.ts';
import { checkCommandLine } from './cli/check.ts';
import { CliCommand, type CommandTraits } from './cli/command.ts';
import { addGlobalOptions, HELP_OPTION, VERSION_OPTION } from './cli/options.ts';

type Register = (command: CliCommand, app: App) => void;

type CommandEntry = readonly [group: string, load: () => Promise<Register>, traits?: CommandTraits];

const RESTAURANTS = 'Restaurants:';
const SERVICE = 'The service:';
const SETTINGS = 'Key and settings:';
const MORE = 'More:';

const SERVICE_OPTIONS = ['--demo', '--profile', '--base-url', '--endpoint', '--insecure-http'];
/** Calls the service, and changes nothing. */
const READS: CommandTraits = { hintOptions: SERVICE_OPTIONS, needsService: true, isReading: true };
/** Calls the service, and may change something. */
const CALLS: CommandTraits = { hintOptions: SERVICE_OPTIONS, needsService: true };
/** Uses the service, if one is configured. */
const USES: CommandTraits = { hintOptions: SERVICE_OPTIONS };

const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  find: [RESTAURANTS, async () => (await import('./commands/find.ts')).registerFind, READS],
  lookup: [RESTAURANTS, async () => (await import('./commands/lookup.ts')).registerLookup, READS],
  pick: [RESTAURANTS, async () => (await import('./commands/pick.ts')).registerPick, READS],
  last: [RESTAURANTS, async () => (await import('./commands/last.ts')).registerLast, { isReading: true }],
  save: [RESTAURANTS, async () => (await import('./commands/save.ts')).registerSave, CALLS],
  saved: [RESTAURANTS, async () => (await import('./commands/saved.ts')).registerSaved, READS],
  unsave: [RESTAURANTS, async () => (await import('./commands/save.ts')).registerUnsave, CALLS],
  changes: [
    RESTAURANTS,
    async () => (await import('./commands/changes.ts')).registerChanges,
    { isReading: true },
  ],
  enrich: [RESTAURANTS, async () => (await import('./commands/enrich.ts')).registerEnrich, CALLS],
  review: [RESTAURANTS, async () => (await import('./commands/review.ts')).registerReview, USES],
  tools: [SERVICE, async () => (await import('./commands/tools.ts')).registerTools, READS],
  call: [SERVICE, async () => (await import('./commands/call.ts')).registerCall, CALLS],
  raw: [SERVICE, async () => (await import('./commands/raw.ts')).registerRaw, CALLS],
  mcp: [SERVICE, async () => (await import('./commands/mcp.ts')).registerMcp, { ...USES, isEndless: true }],
  sandbox: [
    SERVICE,
    async () => (await import('./commands/sandbox.ts')).registerSandbox,
    { isEndless: true },
  ],
  login: [
    SETTINGS,
    async () => (await import('./commands/login.ts')).registerLogin,
    { hintOptions: SERVICE_OPTIONS.slice(1) },
  ],
  logout: [
    SETTINGS,
    async () => (await import('./commands/login.ts')).registerLogout,
    { hintOptions: ['--profile'] },
  ],
  status: [
    SETTINGS,
    async () => (await import('./commands/status.ts')).registerStatus,
    { ...USES, isReading: true },
  ],
  config: [SETTINGS, async () => (await import('./commands/config.ts')).registerConfig],
  cache: [SETTINGS, async () => (await import('./commands/cache.ts')).registerCache],
  schema: [MORE, async () => (await import('./commands/schema.ts')).registerSchema, { isReading: true }],
  completion: [MORE, async () => (await import('./commands/completion.ts')).registerCompletion],
  skill: [MORE, async () => (await import('./commands/skill.ts')).registerSkill],
  help: [MORE, async () => (await import('./commands/help.ts')).registerHelp, { isReading: true }],
};

async function beforeAction(program: CliCommand, app: App): Promise<void> {
  checkCommandLine(program);
  if (program.takenAs.length > 0) await app.notes.note(program.takenAs.join('; '));
}

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
    .hook('preAction', () => beforeAction(program, app))
    .examples(
      'restaurant find "Nopa" --city SF --demo',
      'restaurant lookup 1 --fields premium --demo',
      'restaurant find "Nopa" --city SF --demo --json',
    )
    .notes(
      'Topics: restaurant help environment, exit-codes, formats, options\n\n' +
        'If an option that is not repeatable is given twice, the last value wins. `--` ends option parsing.',
    );
  addGlobalOptions(program);
  for (const [name, [group, load, traits]] of Object.entries(COMMANDS)) {
    program.lazyCommand(name, group, traits, async (command) => (await load())(command, app));
  }
  app.program = program;
  return program;
}

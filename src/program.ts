import type { App } from './app/app.ts';
import { CliCommand } from './cli/command.ts';
import { configureHelp } from './cli/help.ts';
import { addGlobalOptions, checkGlobalOptions } from './cli/options.ts';
import { parseRoute } from './cli/route.ts';
import { VERSION } from './version.ts';

type Register = (program: CliCommand, app: App) => void;

interface CommandEntry {
  /** Heading in the help of the program. */
  readonly group: string;
  readonly load: () => Promise<Register>;
}

const command = (group: string, load: () => Promise<Register>): CommandEntry => ({ group, load });

const RESTAURANTS = 'Restaurants:';
const SERVICE = 'The service:';
const SETTINGS = 'Key and settings:';
const MORE = 'More:';

/** Every command, in the order of the help. */
const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  find: command(RESTAURANTS, async () => (await import('./commands/find.ts')).registerFind),
  lookup: command(RESTAURANTS, async () => (await import('./commands/lookup.ts')).registerLookup),
  last: command(RESTAURANTS, async () => (await import('./commands/last.ts')).registerLast),
  enrich: command(RESTAURANTS, async () => (await import('./commands/enrich.ts')).registerEnrich),
  tools: command(SERVICE, async () => (await import('./commands/tools.ts')).registerTools),
  call: command(SERVICE, async () => (await import('./commands/call.ts')).registerCall),
  raw: command(SERVICE, async () => (await import('./commands/raw.ts')).registerRaw),
  mcp: command(SERVICE, async () => (await import('./commands/mcp.ts')).registerMcp),
  sandbox: command(SERVICE, async () => (await import('./commands/sandbox.ts')).registerSandbox),
  login: command(SETTINGS, async () => (await import('./commands/login.ts')).registerLogin),
  logout: command(SETTINGS, async () => (await import('./commands/logout.ts')).registerLogout),
  status: command(SETTINGS, async () => (await import('./commands/status.ts')).registerStatus),
  config: command(SETTINGS, async () => (await import('./commands/config.ts')).registerConfig),
  cache: command(SETTINGS, async () => (await import('./commands/cache.ts')).registerCache),
  schema: command(MORE, async () => (await import('./commands/schema.ts')).registerSchema),
  completion: command(MORE, async () => (await import('./commands/completion.ts')).registerCompletion),
  skill: command(MORE, async () => (await import('./commands/skill.ts')).registerSkill),
  help: command(MORE, async () => (await import('./commands/help.ts')).registerHelp),
};

/** Commands that describe the others. */
const WHOLE_TREE: readonly string[] = ['schema', 'completion', 'skill', 'help'];

/**
 * Builds the command tree: only the command that a command line names, or every command where that is not clear.
 * @param argv the command line; undefined for every command
 */
export async function buildProgram(app: App, argv?: readonly string[]): Promise<CliCommand> {
  const program = createProgram();
  const [name] = argv === undefined ? [] : parseRoute(argv, program).operands;
  const isNamed = name !== undefined && Object.hasOwn(COMMANDS, name) && !WHOLE_TREE.includes(name);
  for (const [each, { group, load }] of Object.entries(COMMANDS)) {
    if (isNamed && each !== name) continue;
    program.commandsGroup(group);
    (await load())(program, app);
  }
  return program;
}

function createProgram(): CliCommand {
  const program = new CliCommand('restaurant');
  program
    .description('Search restaurants, read their details, from the command line.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption(false)
    .helpCommand(false)
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} })
    .hook('preAction', (_program, action) => checkGlobalOptions(program, action as CliCommand))
    .examples(
      'restaurant find "Nopa" --city SF --demo',
      'restaurant lookup 1 --fields premium --demo',
      'restaurant find "Nopa" --city SF --demo --json',
    )
    .notes(
      'Topics: restaurant help environment, exit-codes, formats\n\n' +
        'If a global option is repeated, the last value wins. `--` ends option parsing.',
    );
  addGlobalOptions(program);
  configureHelp(program);
  return program;
}

import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { argumentTerms } from '../cli/help.ts';
import { boolean, object, text } from '../cli/schemas.ts';
import { AppError, CODES, EXIT_CODES, systemCode } from '../errors.ts';
import {
  assertNoLinks,
  pathOf,
  resolveLocation,
  writeFileWithFolder,
} from '../mcp/client-config/client-file.ts';
import type { Location } from '../mcp/client-config/clients.ts';
import { readRegularFile } from '../storage/files.ts';
import { ioError } from '../storage/io-error.ts';
import { nearest } from '../util/nearest.ts';
import { shellWord } from '../util/shell.ts';
import template from './skill/template.md' with { type: 'text' };

/** The name of the skill, and of its folder. */
const SKILL_NAME = 'restaurant';
/** Maximum size of a file that is compared with the skill, in bytes. */
const MAX_BYTES = 1_048_576;

/** An agent that reads skills: folders with a SKILL.md (agentskills.io). */
interface Agent {
  /** As on the command line. */
  readonly name: string;
  /** The folder of a person's skills. */
  readonly user: Location;
  /** The folder of a project's skills, below the project. */
  readonly project: string;
}

const agent = (name: string, folder: string, variable?: string, project = folder): Agent => ({
  name,
  user: {
    below: 'home',
    path: `${folder}/skills`,
    ...(variable === undefined ? {} : { envOverrides: [[variable, 'skills']] }),
  },
  project: `${project}/skills`,
});

/** The agents, with the folders from the documentation of each. */
export const AGENTS: readonly Agent[] = [
  agent('claude-code', '.claude', 'CLAUDE_CONFIG_DIR'),
  agent('codex', '.agents'),
  agent('cursor', '.cursor'),
  agent('gemini', '.gemini'),
  agent('copilot', '.copilot', 'COPILOT_HOME', '.github'),
  { name: 'opencode', user: { below: 'config', path: 'opencode/skills' }, project: '.opencode/skills' },
];
export const AGENT_NAMES = AGENTS.map(({ name }) => name);

/** Whose skill it is. */
export const SCOPES = ['user', 'project'] as const;
type Scope = (typeof SCOPES)[number];

const SKILL_OUTPUT = object({
  agent: { enum: AGENT_NAMES },
  scope: { enum: SCOPES },
  file: text,
  state: { enum: ['new', 'same', 'different'], description: 'the file before' },
  written: boolean,
});

/** Lists the folder of the skill for each agent. */
function folderList(): string {
  const widest = Math.max(...AGENT_NAMES.map((name) => name.length));
  return AGENTS.map(({ name, user, project }) => {
    const home = user.below === 'config' ? '~/.config' : '~';
    return `  ${name.padEnd(widest)}  ${home}/${user.path} or ${project}`;
  }).join('\n');
}

export function registerSkill(program: CliCommand, app: App): void {
  const skill = program
    .command('skill')
    .about(
      'Install the skill for coding agents',
      'The skill (agentskills.io) that teaches a coding agent to use this program.',
    )
    .examples('restaurant skill print', 'restaurant skill install claude-code --dry-run');
  skill
    .command('print')
    .about('Print SKILL.md')
    .examples('restaurant skill print')
    .action(() => app.context.stdout.write(skillText(program)));
  skill
    .command('install')
    .about(
      'Install the skill for an agent',
      'Write SKILL.md into the folder where an agent looks for skills.',
    )
    .argument('<agent>', AGENT_NAMES.join(', '))
    .completeWith('agent', AGENT_NAMES)
    .valueOption('--scope <scope>', 'User or project folder', { choices: SCOPES, defaultText: 'user' })
    .usesOptions('dry-run', 'force', 'json')
    .overrideOption('--dry-run', { description: 'Print the path; write nothing' })
    .outputSchema(SKILL_OUTPUT)
    .examples(
      'restaurant skill install claude-code',
      'restaurant skill install codex --scope project',
      'restaurant skill install copilot --dry-run',
    )
    .notes(
      `The file is restaurant/SKILL.md in the user folder, or with --scope project in the folder of this ` +
        `project:\n\n${folderList()}\n\nCLAUDE_CONFIG_DIR, COPILOT_HOME and XDG_CONFIG_HOME are honored. ` +
        'An existing file that is different is overwritten only with --force. Symbolic links are not followed.',
    )
    .action((name: string, { scope = 'user' }: { scope?: Scope }) =>
      installSkill(app, name, scope, skillText(program)),
    );
}

/** Builds the skill for agents from its template and the command tree. */
function skillText(program: CliCommand): string {
  const leaves = (command: CliCommand): CliCommand[] => [
    ...(command.isGroup ? [] : [command]),
    ...command.children.flatMap(leaves),
  ];
  const commands = program.children.flatMap(leaves).map((command) => {
    const usage = [SKILL_NAME, command.path, argumentTerms(command)].join(' ').trim();
    return `* \`${usage}\`: ${command.summary()}`;
  });
  const exits = Object.entries(EXIT_CODES).map(([kind, exit]) => {
    const codes = Object.entries(CODES).filter(([, entry]) => entry.kind === kind);
    return `* ${exit}: ${codes.map(([code]) => `\`${code}\``).join(', ')}`;
  });
  return template
    .replace('{{commands}}', () => commands.join('\n'))
    .replace('{{exit-codes}}', () => ['* 0: success', ...exits].join('\n'));
}

/** Writes the skill into the folder where the agent looks for skills; with --dry-run only prints the path. */
async function installSkill(app: App, name: string, scope: Scope, text: string): Promise<void> {
  const file = skillFile(app, name, scope);
  const before = readText(file);
  const state = before === undefined ? 'new' : before === text ? 'same' : 'different';
  const preview = app.globals.dryRun === true;
  if (state === 'different' && !preview && app.globals.force !== true) {
    throw new AppError('usage', `${file} exists and is different`, {
      hint: `restaurant skill print | diff - ${shellWord(file)} shows the difference; --force overwrites it`,
    });
  }
  const written = !preview && state !== 'same';
  if (written) writeFileWithFolder(file, text, { mode: 0o644 });
  await writeText(app, { agent: name, scope, file, state, written }, () => `${file}\n`);
  if (written) return app.note(`${name} reads it at its next start`);
  const notes = {
    same: 'already installed',
    new: 'nothing written',
    different: 'the file is different; --force overwrites it',
  };
  await app.note(notes[state]);
}

/**
 * Returns the path of the skill.
 * @throws {AppError} `usage` for an unknown agent; `io_error` where a part of the path below the project, or below the
 *   folder of the user's skills, is a symbolic link
 */
function skillFile({ context }: App, name: string, scope: Scope): string {
  const agent = AGENTS.find((each) => each.name === name);
  if (agent === undefined) {
    const [near] = nearest(name, AGENT_NAMES);
    throw new AppError('usage', `unknown agent '${name}': expected one of ${AGENT_NAMES.join(', ')}`, {
      hint: near === undefined ? 'restaurant skill install --help' : `restaurant skill install ${near}`,
    });
  }
  const path = pathOf(context);
  const base = scope === 'project' ? context.cwd() : resolveLocation(agent.user, context);
  const below = scope === 'project' ? [agent.project] : [];
  const file = path.join(base, ...below, SKILL_NAME, 'SKILL.md');
  assertNoLinks(base, file, path);
  return file;
}

function readText(path: string): string | undefined {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError('read', path, error);
  }
}

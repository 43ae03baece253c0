import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { argumentTerms } from '../cli/help.ts';
import { boolean, object, text } from '../cli/schemas.ts';
import { AppError, exitCodes, systemCode } from '../errors.ts';
import {
  assertNoLinks,
  pathOf,
  projectFolder,
  userPath,
  writeFileWithFolder,
} from '../mcp/client-config/client-file.ts';
import { readRegularFile } from '../storage/files.ts';
import { ioError } from '../storage/io-error.ts';
import { shellWord } from '../util/shell.ts';
import template from './skill/template.md' with { type: 'text' };

/** The name of the skill, and of its folder. */
const SKILL_NAME = 'restaurant';
/** Maximum size of a file that is compared with the skill, in bytes. */
const MAX_BYTES = 1_048_576;

/** Where a coding agent reads skills: folders with a SKILL.md (agentskills.io). */
interface SkillFolders {
  /** Of the user; see {@link userPath}. */
  readonly user: readonly string[];
  /** Below the project. */
  readonly project: string;
}

/** The agents, with the folders from the documentation of each. */
export const AGENTS = {
  'claude-code': { user: ['$CLAUDE_CONFIG_DIR/skills', '~/.claude/skills'], project: '.claude/skills' },
  codex: { user: ['~/.agents/skills'], project: '.agents/skills' },
  cursor: { user: ['~/.cursor/skills'], project: '.cursor/skills' },
  gemini: { user: ['~/.gemini/skills'], project: '.gemini/skills' },
  copilot: { user: ['$COPILOT_HOME/skills', '~/.copilot/skills'], project: '.github/skills' },
  opencode: { user: ['CONFIG/opencode/skills'], project: '.opencode/skills' },
} as const satisfies Readonly<Record<string, SkillFolders>>;
type Agent = keyof typeof AGENTS;
export const AGENT_NAMES = Object.keys(AGENTS) as Agent[];

/** Where the skill is installed. */
export const SCOPES = ['user', 'project'] as const;
type Scope = (typeof SCOPES)[number];

const SKILL_OUTPUT = object({
  agent: { enum: AGENT_NAMES },
  scope: { enum: SCOPES },
  file: text,
  state: { enum: ['new', 'same', 'different'], description: 'the file before' },
  written: boolean,
});

export function registerSkill(command: CliCommand, app: App): void {
  const skill = command
    .about('Install the skill for coding agents')
    .examples('restaurant skill print', 'restaurant skill install claude-code --dry-run');
  skill
    .command('print')
    .about('Print SKILL.md')
    .examples('restaurant skill print')
    .action(async () => app.context.stdout.write(await skillText(command.root)));
  skill
    .command('install')
    .about('Install the skill for an agent')
    .choiceArgument('agent', AGENT_NAMES)
    .valueOption('--scope <scope>', 'User or project folder', { choices: SCOPES, defaultText: 'user' })
    .usesOptions('dry-run', 'force', 'json')
    .overrideOption('--dry-run', { description: 'Print the path; write nothing' })
    .outputSchema(SKILL_OUTPUT)
    .examples('restaurant skill install claude-code', 'restaurant skill install codex --scope project')
    .notes(
      "Writes restaurant/SKILL.md into your skills folder for the agent, or into this project's with --scope " +
        'project; --dry-run prints the path. An existing file that is different is overwritten only with --force. ' +
        'CLAUDE_CONFIG_DIR, COPILOT_HOME, and XDG_CONFIG_HOME are honored. Symbolic links are not followed.',
    )
    .action(async (agent: Agent, { scope = 'user' }: { scope?: Scope }) =>
      installSkill(app, agent, scope, await skillText(command.root)),
    );
}

async function skillText(program: CliCommand): Promise<string> {
  await program.loadTree();
  const leaves = program.tree.filter((command) => !command.isGroup);
  const commands = leaves.map((command) => {
    const usage = [SKILL_NAME, command.path, argumentTerms(command)].join(' ').trim();
    return `* \`${usage}\`: ${command.summary()}`;
  });
  const exits = exitCodes().map(
    ({ exit, codes }) => `* ${exit}: ${codes.map(({ code }) => `\`${code}\``).join(', ')}`,
  );
  return template
    .replace('{{commands}}', () => commands.join('\n'))
    .replace('{{exit-codes}}', () => ['* 0: success', ...exits].join('\n'));
}

async function installSkill(app: App, agent: Agent, scope: Scope, text: string): Promise<void> {
  const file = skillFile(app, agent, scope);
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
  await writeText(app, { agent, scope, file, state, written }, () => `${file}\n`);
  if (written) return app.note(`${agent} reads it at its next start`);
  const notes = {
    same: 'already installed',
    new: 'nothing written',
    different: 'the file is different; --force overwrites it',
  };
  await app.note(notes[state]);
}

/**
 * Returns the path of the skill.
 * @throws {AppError} `io_error` if part of the path below the project, or below the folder of the user's skills, is a
 * symbolic link
 */
function skillFile({ context }: App, agent: Agent, scope: Scope): string {
  const { user, project } = AGENTS[agent];
  const path = pathOf(context);
  const base = scope === 'project' ? projectFolder(context) : userPath(user, context);
  const below = scope === 'project' ? [project] : [];
  const file = path.join(base, ...below, SKILL_NAME, 'SKILL.md');
  assertNoLinks(base, file, path);
  return file;
}

function readText(path: string): string | undefined {
  try {
    return readRegularFile(path, MAX_BYTES).bytes.toString('utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError('read', path, error);
  }
}

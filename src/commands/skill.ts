import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { boolean, object, text } from '../cli/schemas.ts';
import { usage } from '../errors.ts';
import { again, restaurant, system } from '../hint.ts';
import { projectFolder, userPath } from '../mcp/client-config/client-file.ts';
import type { Scope } from '../mcp/client-config/clients.ts';
import skillText from '../mcp/skill.md' with { type: 'text' };
import { type AgentFile, deleteAgentFile, readAgentFile, writeAgentFile } from '../storage/agent-file.ts';
import { pathOf } from '../storage/paths.ts';

/** Where a coding agent reads skills: folders with a SKILL.md (agentskills.io). */
interface SkillFolders {
  readonly user: readonly string[];
  readonly project: string;
}

export const AGENTS = {
  'claude-code': { user: ['$CLAUDE_CONFIG_DIR/skills', '~/.claude/skills'], project: '.claude/skills' },
  codex: { user: ['~/.agents/skills'], project: '.agents/skills' },
  cursor: { user: ['~/.cursor/skills'], project: '.cursor/skills' },
  gemini: { user: ['~/.gemini/skills'], project: '.gemini/skills' },
  copilot: { user: ['$COPILOT_HOME/skills', '~/.copilot/skills'], project: '.github/skills' },
  opencode: { user: ['CONFIG/opencode/skills'], project: '.opencode/skills' },
  // The folder that most agents read besides their own.
  universal: { user: ['~/.agents/skills'], project: '.agents/skills' },
} as const satisfies Readonly<Record<string, SkillFolders>>;

type Agent = keyof typeof AGENTS;
export const AGENT_NAMES = Object.keys(AGENTS) as Agent[];

export const SCOPES = ['user', 'project'] as const;

const FILE = { agent: { enum: AGENT_NAMES }, scope: { enum: SCOPES }, file: text };
const INSTALL_OUTPUT = object({
  ...FILE,
  state: { enum: ['new', 'same', 'different'], description: 'the file before' },
  written: boolean,
});
const UNINSTALL_OUTPUT = object({ ...FILE, removed: boolean });
const SCOPE_FACTS = { choices: SCOPES, defaultText: 'user' };

export function registerSkill(command: CliCommand, app: App): void {
  const skill = command
    .about('Install the skill for coding agents')
    .examples('restaurant skill print', 'restaurant skill install claude-code --dry-run');
  skill
    .command('print')
    .about('Print SKILL.md')
    .examples('restaurant skill print')
    .action(() => app.context.stdout.write(skillText));
  skill
    .command('install')
    .about('Install the skill for an agent')
    .choiceArgument('client', AGENT_NAMES)
    .valueOption('--scope <scope>', 'User or project folder', SCOPE_FACTS)
    .option('--update', 'Replace an installed version; install nothing new')
    .usesOptions('dry-run', 'force', 'json')
    .overrideOption('--dry-run', { description: 'Print the path; write nothing' })
    .overrideOption('--force', { description: 'Overwrite a SKILL.md that is different' })
    .outputSchema(INSTALL_OUTPUT)
    .examples('restaurant skill install claude-code', 'restaurant skill install codex --scope project')
    .notes(
      "Writes restaurant/SKILL.md into your skills folder for the agent, or into this project's with --scope " +
        'project; --dry-run prints the path. universal is the folder that several agents read. An existing file that ' +
        'is different is overwritten only with --force, or with --update if it is a version of this skill. ' +
        'CLAUDE_CONFIG_DIR, COPILOT_HOME, and XDG_CONFIG_HOME are honored. Symbolic links are not followed.',
    )
    .action((agent: Agent, options: SkillOptions) => installSkill(app, agent, options));
  skill
    .command('uninstall')
    .about('Delete the installed skill')
    .choiceArgument('client', AGENT_NAMES)
    .valueOption('--scope <scope>', 'User or project folder', SCOPE_FACTS)
    .usesOptions('dry-run', 'force', 'json')
    .overrideOption('--dry-run', { description: 'Print the path; delete nothing' })
    .overrideOption('--force', { description: 'Delete a SKILL.md that is different' })
    .outputSchema(UNINSTALL_OUTPUT)
    .examples('restaurant skill uninstall claude-code --dry-run')
    .notes('Another SKILL.md in its place is deleted only with --force.')
    .action((agent: Agent, options: SkillOptions) => uninstallSkill(app, agent, options));
}

const SKILL_NAME = 'restaurant';
const MAX_BYTES = 1_048_576;
const HEAD = new RegExp(`^---\\r?\\nname: ${SKILL_NAME}\\r?\\n`);

interface SkillOptions {
  readonly scope?: Scope;
  readonly update?: true;
}

type State = 'new' | 'same' | 'different';

const NOTES: Readonly<Record<State, string>> = {
  same: 'already installed',
  new: 'nothing written',
  different: 'the file is different; --force overwrites it',
};

async function installSkill(app: App, agent: Agent, { scope = 'user', update }: SkillOptions): Promise<void> {
  const file = skillFile(app, agent, scope);
  const before = readText(file);
  const state = stateOf(before);
  const preview = app.globals.dryRun === true;
  const isOurs = update === true && HEAD.test(before ?? '');
  if (state === 'different' && !preview && !isOurs) assertForced(app, file, 'overwrites');
  const written = !preview && state !== 'same' && !(update === true && state === 'new');
  if (written) writeAgentFile(file, skillText, { mode: 0o644 });
  await writeText(app, { agent, scope, file: file.path, state, written }, () => `${file.path}\n`);
  await app.notes.note(written ? `${agent} reads it at its next start` : NOTES[state]);
}

function stateOf(before: string | undefined): State {
  if (before === undefined) return 'new';
  return before === skillText ? 'same' : 'different';
}

async function uninstallSkill(app: App, agent: Agent, { scope = 'user' }: SkillOptions): Promise<void> {
  const file = skillFile(app, agent, scope);
  const before = readText(file);
  if (before !== undefined && !HEAD.test(before)) assertForced(app, file, 'deletes');
  const removed = before !== undefined && app.globals.dryRun !== true;
  if (removed) deleteAgentFile(file);
  await writeText(app, { agent, scope, file: file.path, removed }, () => `${file.path}\n`);
  await app.notes.note(removed ? `deleted; ${agent} notices at its next start` : 'nothing deleted');
}

function assertForced({ globals }: App, { path: file }: AgentFile, verb: string): void {
  if (globals.force === true) return;
  throw usage(`${file} exists and is different`, [
    {
      text: 'to see the difference',
      command: { ...restaurant('skill', 'print'), pipe: system('diff', '-', file) },
    },
    { text: `--force ${verb} it`, command: again({ '--force': true }) },
  ]);
}

function skillFile({ context }: App, agent: Agent, scope: Scope): AgentFile {
  const { user, project } = AGENTS[agent];
  const path = pathOf(context.platform);
  const file = [SKILL_NAME, 'SKILL.md'];
  if (scope === 'user') return { path: path.join(userPath(user, context), ...file) };
  const folder = projectFolder(context);
  return { path: path.join(folder, project, ...file), project: folder };
}

const readText = (file: AgentFile): string | undefined =>
  readAgentFile(file, MAX_BYTES)?.bytes.toString('utf8');

import type { App } from '../../app/app.ts';
import { writeText } from '../../app/output.ts';
import { usage } from '../../errors.ts';
import { again, restaurant, system } from '../../hint.ts';
import { projectFolder, userPath } from '../../mcp/client-config/client-file.ts';
import type { Scope } from '../../mcp/client-config/clients.ts';
import { type AgentFile, deleteAgentFile, readAgentFile, writeAgentFile } from '../../storage/agent-file.ts';
import { pathOf } from '../../storage/paths.ts';

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

export type Agent = keyof typeof AGENTS;
export const AGENT_NAMES = Object.keys(AGENTS) as Agent[];

export const SCOPES = ['user', 'project'] as const;

const SKILL_NAME = 'restaurant';
const MAX_BYTES = 1_048_576;
const HEAD = new RegExp(`^---\\r?\\nname: ${SKILL_NAME}\\r?\\n`);

export interface SkillOptions {
  readonly scope?: Scope;
  readonly update?: true;
}

type State = 'new' | 'same' | 'different';

const NOTES: Readonly<Record<State, string>> = {
  same: 'already installed',
  new: 'nothing written',
  different: 'the file is different; --force overwrites it',
};

export async function installSkill(
  app: App,
  agent: Agent,
  options: SkillOptions,
  text: string,
): Promise<void> {
  const { scope = 'user', update = false } = options;
  const file = skillFile(app, agent, scope);
  const before = readText(file);
  const state = stateOf(before, text);
  const preview = app.globals.dryRun === true;
  const isOurs = update && HEAD.test(before ?? '');
  if (state === 'different' && !preview && !isOurs) assertForced(app, file, 'overwrites');
  const written = !preview && state !== 'same' && !(update && state === 'new');
  if (written) writeAgentFile(file, text, { mode: 0o644 });
  await writeText(app, { agent, scope, file: file.path, state, written }, () => `${file.path}\n`);
  await app.notes.note(written ? `${agent} reads it at its next start` : NOTES[state]);
}

function stateOf(before: string | undefined, text: string): State {
  if (before === undefined) return 'new';
  return before === text ? 'same' : 'different';
}

export async function uninstallSkill(
  app: App,
  agent: Agent,
  { scope = 'user' }: SkillOptions,
): Promise<void> {
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

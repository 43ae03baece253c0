import { rmdirSync, unlinkSync } from 'node:fs';
import type { App } from '../../app/app.ts';
import { writeText } from '../../app/output.ts';
import { systemCode, usage } from '../../errors.ts';
import { again, restaurant, system } from '../../hint.ts';
import {
  assertNoLinks,
  projectFolder,
  userPath,
  writeFileWithFolder,
} from '../../mcp/client-config/client-file.ts';
import type { Scope } from '../../mcp/client-config/clients.ts';
import { followLinks, ioError, readIfExists, whenFree } from '../../storage/files.ts';
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
  if (written) writeFileWithFolder(file, text, { mode: 0o644 });
  await writeText(app, { agent, scope, file, state, written }, () => `${file}\n`);
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
  if (removed) deleteSkill(file, pathOf(app.context.platform).dirname(file));
  await writeText(app, { agent, scope, file, removed }, () => `${file}\n`);
  await app.notes.note(removed ? `deleted; ${agent} notices at its next start` : 'nothing deleted');
}

function deleteSkill(file: string, folder: string): void {
  try {
    whenFree(() => unlinkSync(followLinks(file)));
    rmdirSync(folder);
  } catch (error) {
    // The folder may contain other files.
    if (!['ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw ioError('delete', file, error);
  }
}

function assertForced({ globals }: App, file: string, verb: string): void {
  if (globals.force === true) return;
  throw usage(`${file} exists and is different`, [
    {
      text: 'to see the difference',
      command: { ...restaurant('skill', 'print'), pipe: system('diff', '-', file) },
    },
    { text: `--force ${verb} it`, command: again({ '--force': true }) },
  ]);
}

function skillFile({ context }: App, agent: Agent, scope: Scope): string {
  const { user, project } = AGENTS[agent];
  const path = pathOf(context.platform);
  const base = scope === 'project' ? projectFolder(context) : userPath(user, context);
  const below = scope === 'project' ? [project] : [];
  const file = path.join(base, ...below, SKILL_NAME, 'SKILL.md');
  assertNoLinks(base, file, path);
  return file;
}

const readText = (path: string): string | undefined => readIfExists(path, MAX_BYTES)?.bytes.toString('utf8');

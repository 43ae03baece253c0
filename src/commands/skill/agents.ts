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

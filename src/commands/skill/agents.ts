import type { Location } from '../../mcp/client-config/clients.ts';

/** An agent that reads skills: folders with a SKILL.md (agentskills.io). */
export interface Agent {
  /** As on the command line. */
  readonly name: string;
  /** The folder of a person's skills. */
  readonly user: Location;
  /** The folder of a project's skills, below the project. */
  readonly project: string;
}

/** The agents, with the folders from the documentation of each. */
export const AGENTS: readonly Agent[] = [
  {
    name: 'claude-code',
    user: { below: 'home', path: '.claude/skills', envOverrides: [['CLAUDE_CONFIG_DIR', 'skills']] },
    project: '.claude/skills',
  },
  { name: 'codex', user: { below: 'home', path: '.agents/skills' }, project: '.agents/skills' },
  { name: 'cursor', user: { below: 'home', path: '.cursor/skills' }, project: '.cursor/skills' },
  { name: 'gemini', user: { below: 'home', path: '.gemini/skills' }, project: '.gemini/skills' },
  {
    name: 'copilot',
    user: { below: 'home', path: '.copilot/skills', envOverrides: [['COPILOT_HOME', 'skills']] },
    project: '.github/skills',
  },
  { name: 'opencode', user: { below: 'config', path: 'opencode/skills' }, project: '.opencode/skills' },
];

export const AGENT_NAMES = AGENTS.map(({ name }) => name);

/** Whose skill it is. */
export const SCOPES = ['user', 'project'] as const;

export type Scope = (typeof SCOPES)[number];

import { type Command, system } from '../../hint.ts';
import type { JsonObject } from '../../util/json.ts';

export const ENTRY_NAME = 'restaurant';

/** The variable that entries refer to instead of containing the key. */
export const KEY_VARIABLE = 'RESTAURANT_API_KEY';

export type TransportKind = 'http' | 'stdio';

export type Scope = 'user' | 'project';

export interface Program extends JsonObject {
  readonly command: string;
  readonly args: readonly string[];
  /** Environment variables that it needs but that the client may not have. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface McpClient {
  readonly name: string;
  readonly format?: 'toml';
  /** Key in the file that contains the servers. Default: `mcpServers`. */
  readonly servers?: string;
  /** The user's file; see `userPath`. Omitted for a client that is not known. */
  readonly user?: readonly string[];
  /** Files to write beside the user's file, if they or their folders exist. */
  readonly also?: readonly string[];
  /** Paths in a project. The first one that exists is used, else the first one. */
  readonly project?: readonly string[];
  readonly scope?: 'project';
  readonly projectNote?: string;
  /** Whether it is a program with windows, which macOS starts without the PATH of a shell. */
  readonly hasWindows?: true;
  /** Environment variables that the programs it starts receive: `named` are basic ones and those in the entry. Default: all. */
  readonly passesEnv?: 'basic' | 'named' | 'without-secrets';
  /** Returns a stdio entry. Default: the program unchanged. */
  readonly stdio?: (program: Program, scope: Scope) => JsonObject;
  /** Returns an http entry, without its headers. Omitted if they cannot refer to variables. */
  readonly http?: (url: string) => JsonObject;
  /** How headers refer to the variable NAME. Default: as ours. */
  readonly variable?: string;
  /** The client's own command that adds the entry. An http entry has no program. */
  readonly add?: (entry: JsonObject, scope: Scope, program?: Program) => Command | undefined;
}

const typed = (program: Program): JsonObject => ({ type: 'stdio', ...program });

const lineOf = ({ command, args }: Program): string[] => [command, ...args];

const variables = (flag: string, { env = {} }: Program): string[] =>
  Object.entries(env).flatMap(([name, value]) => [flag, `${name}=${value}`]);

/** `<words> restaurant --env A=b -- restaurant mcp`, for clients whose command writes the user's file. */
const adding =
  (words: string): McpClient['add'] =>
  (entry, scope, program) =>
    program === undefined || scope !== 'user' || 'env_vars' in entry
      ? undefined
      : system(words, ENTRY_NAME, ...variables('--env', program), '--', ...lineOf(program));

export const MCP_CLIENTS: readonly McpClient[] = [
  {
    name: 'claude-code',
    user: ['$CLAUDE_CONFIG_DIR/.claude.json', '~/.claude.json'],
    project: ['.mcp.json'],
    scope: 'project',
    projectNote: 'Claude Code asks you to approve the server of a project: run claude in this folder',
    stdio: typed,
    add: (entry, scope) => system('claude mcp add-json', '--scope', scope, ENTRY_NAME, JSON.stringify(entry)),
    http: (url) => ({ type: 'http', url }),
  },
  {
    name: 'claude-desktop',
    user: ['APP/Claude/claude_desktop_config.json'],
    // As a package of the Microsoft Store, it reads this file and not the other one.
    also: ['LOCAL/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json'],
    hasWindows: true,
    passesEnv: 'basic',
  },
  {
    name: 'cursor',
    user: ['~/.cursor/mcp.json'],
    project: ['.cursor/mcp.json'],
    hasWindows: true,
    http: (url) => ({ url }),
    variable: '${env:NAME}',
  },
  {
    name: 'vscode',
    servers: 'servers',
    user: ['APP/Code/User/mcp.json'],
    project: ['.vscode/mcp.json'],
    scope: 'project',
    hasWindows: true,
    stdio: typed,
    add: (_entry, scope, program) =>
      scope === 'user' && program !== undefined
        ? system('code --add-mcp', JSON.stringify({ name: ENTRY_NAME, ...program }))
        : undefined,
    http: (url) => ({ type: 'http', url }),
    variable: '${env:NAME}',
  },
  {
    name: 'windsurf',
    user: ['~/.codeium/windsurf/mcp_config.json'],
    hasWindows: true,
    http: (serverUrl) => ({ serverUrl }),
    variable: '${env:NAME}',
  },
  {
    name: 'codex',
    format: 'toml',
    servers: 'mcp_servers',
    user: ['$CODEX_HOME/config.toml', '~/.codex/config.toml'],
    project: ['.codex/config.toml'],
    projectNote: 'Codex reads this file in trusted projects only',
    passesEnv: 'named',
    add: adding('codex mcp add'),
    http: (url) => ({ url }),
  },
  {
    name: 'gemini',
    user: ['~/.gemini/settings.json'],
    project: ['.gemini/settings.json'],
    projectNote: 'Gemini CLI uses the server of a project in trusted folders only: run gemini in this folder',
    passesEnv: 'without-secrets',
    add: (_entry, scope, program) =>
      program &&
      system('gemini mcp add', '-s', scope, ...variables('-e', program), ENTRY_NAME, ...lineOf(program)),
    http: (url) => ({ type: 'http', url }),
    variable: '$NAME',
  },
  {
    name: 'zed',
    servers: 'context_servers',
    user: ['WINDOWS/Zed/settings.json', 'CONFIG/zed/settings.json'],
    project: ['.zed/settings.json'],
    hasWindows: true,
  },
  {
    name: 'copilot-cli',
    user: ['$COPILOT_HOME/mcp-config.json', '~/.copilot/mcp-config.json'],
    project: ['.mcp.json'],
    projectNote:
      'Copilot CLI uses the server of a project in trusted folders only: run copilot in this folder',
    // Claude Code reads the same project file, and rejects other types and `tools`.
    stdio: (program, scope) =>
      scope === 'project' ? typed(program) : { type: 'local', tools: ['*'], ...program },
    add: adding('copilot mcp add'),
    http: (url) => ({ type: 'http', tools: ['*'], url }),
  },
  {
    name: 'opencode',
    servers: 'mcp',
    user: ['CONFIG/opencode/opencode.jsonc', 'CONFIG/opencode/opencode.json', 'CONFIG/opencode/config.json'],
    project: ['opencode.jsonc', 'opencode.json'],
    stdio: ({ command, args, env }) => ({
      type: 'local',
      enabled: true,
      command: [command, ...args],
      ...(env && { environment: env }),
    }),
    add: adding('opencode mcp add'),
    http: (url) => ({ type: 'remote', enabled: true, oauth: false, url }),
    variable: '{env:NAME}',
  },
  {
    name: 'cline',
    user: [
      '$CLINE_MCP_SETTINGS_PATH',
      '$CLINE_DIR/data/settings/cline_mcp_settings.json',
      '~/.cline/data/settings/cline_mcp_settings.json',
      'APP/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    ],
    hasWindows: true,
    stdio: (program) => ({ disabled: false, ...program }),
    http: (url) => ({ type: 'streamableHttp', disabled: false, url }),
    variable: '${env:NAME}',
  },
  {
    name: 'roo',
    user: ['APP/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json'],
    project: ['.roo/mcp.json'],
    scope: 'project',
    hasWindows: true,
    passesEnv: 'basic',
    http: (url) => ({ type: 'streamable-http', url }),
    variable: '${env:NAME}',
  },
];

/** A client that has no row: its file is not known, but most read this entry. */
export const otherClient = (name: string): McpClient => ({
  name,
  add: (_entry, _scope, program) => program && system('npx add-mcp', 'restaurant mcp'),
  http: (url) => ({ type: 'http', url }),
});

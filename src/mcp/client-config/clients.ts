import type { JsonObject } from '../../util/json.ts';

export type TransportKind = 'http' | 'stdio';

export type Scope = 'user' | 'project';

/** The variable that entries refer to instead of containing the key. */
export const KEY_VARIABLE = 'RESTAURANT_API_KEY';

export interface McpClient {
  readonly name: string;
  readonly format?: 'toml';
  /** Key in the file that contains the servers. Default: `mcpServers`. */
  readonly servers?: string;
  /** The user's file; see {@link userPath}. */
  readonly user: readonly string[];
  /** Paths in a project. The first one that exists is used, else the first one. */
  readonly project?: readonly string[];
  readonly scope?: 'project';
  /** Keys that another client which reads the same project file rejects. */
  readonly projectDrops?: readonly string[];
  readonly projectNote?: string;
  /** Returns an http entry, without its headers. Omitted: the client only supports stdio servers. */
  readonly http?: (url: string, scope: Scope) => JsonObject;
  /** Returns the placeholder for an environment variable in a header. Omitted: the client sends headers literally. */
  readonly reference?: (variable: string) => string;
  /** Whether entries have separate keys for the names of variables, as in Codex. */
  readonly namesVariables?: true;
  /** Item of the file's `inputs` that the header with the key refers to. The client prompts for the key. */
  readonly input?: JsonObject & { readonly id: string };
  /** Returns a stdio entry. Default: the program unchanged. */
  readonly stdio?: (program: Program, scope: Scope) => JsonObject;
  /** Why stdio is the default although http is available. */
  readonly httpNote?: string;
  /** Environment variables that the programs it starts receive. Default: all. */
  readonly passesEnv?: 'basic' | 'without-secrets';
}

export interface Program extends JsonObject {
  readonly command: string;
  readonly args: readonly string[];
  /** Environment variables that it needs but that the client may not have. */
  readonly env?: Readonly<Record<string, string>>;
}

const plainReference = (variable: string): string => `\${${variable}}`;
const envReference = (variable: string): string => `\${env:${variable}}`;

/** The prompt that vscode shows when it starts the server. */
const INPUT = {
  type: 'promptString',
  id: 'restaurant-key',
  description: 'API key of the restaurant service',
  password: true,
};

export const MCP_CLIENTS: readonly McpClient[] = [
  {
    name: 'claude-code',
    user: ['$CLAUDE_CONFIG_DIR/.claude.json', '~/.claude.json'],
    project: ['.mcp.json'],
    scope: 'project',
    projectDrops: ['tools'],
    projectNote: 'Claude Code asks you to approve the server of a project: run claude in this folder',
    http: (url) => ({ type: 'http', url }),
    reference: plainReference,
    stdio: (program) => ({ type: 'stdio', ...program }),
  },
  { name: 'claude-desktop', user: ['APP/Claude/claude_desktop_config.json'], passesEnv: 'basic' },
  {
    name: 'cursor',
    user: ['~/.cursor/mcp.json'],
    project: ['.cursor/mcp.json'],
    http: (url) => ({ url }),
    reference: envReference,
  },
  {
    name: 'vscode',
    servers: 'servers',
    user: ['APP/Code/User/mcp.json'],
    project: ['.vscode/mcp.json'],
    scope: 'project',
    http: (url) => ({ type: 'http', url }),
    reference: envReference,
    input: INPUT,
    stdio: (program) => ({ type: 'stdio', ...program }),
  },
  {
    name: 'windsurf',
    user: ['~/.codeium/windsurf/mcp_config.json'],
    http: (serverUrl) => ({ serverUrl }),
    reference: envReference,
  },
  {
    name: 'codex',
    format: 'toml',
    servers: 'mcp_servers',
    user: ['$CODEX_HOME/config.toml', '~/.codex/config.toml'],
    project: ['.codex/config.toml'],
    projectNote: 'Codex reads this file in trusted projects only',
    http: (url) => ({ url }),
    namesVariables: true,
    passesEnv: 'basic',
  },
  {
    name: 'gemini',
    user: ['~/.gemini/settings.json'],
    project: ['.gemini/settings.json'],
    projectNote: 'Gemini CLI uses the server of a project in trusted folders only: run gemini in this folder',
    http: (url) => ({ type: 'http', url }),
    reference: (variable) => `$${variable}`,
    passesEnv: 'without-secrets',
  },
  {
    name: 'zed',
    servers: 'context_servers',
    user: ['WINDOWS/Zed/settings.json', 'CONFIG/zed/settings.json'],
    project: ['.zed/settings.json'],
    http: (url) => ({ url }),
  },
  {
    name: 'copilot-cli',
    user: ['$COPILOT_HOME/mcp-config.json', '~/.copilot/mcp-config.json'],
    project: ['.mcp.json'],
    projectDrops: ['tools'],
    projectNote:
      'Copilot CLI uses the server of a project in trusted folders only: run copilot in this folder',
    http: (url, scope) => (scope === 'project' ? { type: 'http', url } : { type: 'http', tools: ['*'], url }),
    reference: plainReference,
    stdio: (program, scope) =>
      scope === 'project' ? { type: 'stdio', ...program } : { type: 'local', tools: ['*'], ...program },
  },
  {
    name: 'opencode',
    servers: 'mcp',
    user: ['CONFIG/opencode/opencode.jsonc', 'CONFIG/opencode/opencode.json', 'CONFIG/opencode/config.json'],
    project: ['opencode.jsonc', 'opencode.json'],
    http: (url) => ({ type: 'remote', enabled: true, oauth: false, url }),
    reference: (variable) => `{env:${variable}}`,
    stdio: ({ command, args, env }) => ({
      type: 'local',
      enabled: true,
      command: [command, ...args],
      ...(env && { environment: env }),
    }),
  },
  {
    name: 'cline',
    user: [
      '$CLINE_MCP_SETTINGS_PATH',
      '$CLINE_DIR/data/settings/cline_mcp_settings.json',
      '~/.cline/data/settings/cline_mcp_settings.json',
      'APP/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
    ],
    http: (url) => ({ type: 'streamableHttp', disabled: false, url }),
    reference: envReference,
    httpNote: `only Cline for VS Code replaces \${env:…}; for its command line use --via stdio`,
    stdio: (program) => ({ disabled: false, ...program }),
  },
  {
    name: 'roo',
    user: ['APP/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json'],
    project: ['.roo/mcp.json'],
    scope: 'project',
    http: (url) => ({ type: 'streamable-http', url }),
    reference: envReference,
    passesEnv: 'basic',
  },
];

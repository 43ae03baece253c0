import type { JsonObject } from '../../client/rpc/envelope.ts';

/** How a client reaches the service: by itself, or through this program. */
export type Via = 'http' | 'stdio';

/** Whose file an entry goes into. */
export type Scope = 'user' | 'project';

/** The variable that entries refer to instead of holding the key. */
export const KEY_VARIABLE = 'RESTAURANT_API_KEY';

/**
 * A file: its path below the home folder (`home`), the folder for settings (`config`: $XDG_CONFIG_HOME or ~/.config) or
 * the platform's folder for the data of programs (`app`); or below the folder that a variable names.
 */
export interface FilePlace {
  readonly below: 'home' | 'config' | 'app';
  readonly path: string;
  readonly moved?: { readonly by: string; readonly path: string };
}

/** An MCP client: where it keeps its servers, and what an entry looks like there. */
export interface McpClient {
  /** As on the command line. */
  readonly name: string;
  readonly format: 'json' | 'toml';
  /** Key of the file under which its servers stand. */
  readonly servers: string;
  /** The user's file; of several the first that exists, else the first. */
  readonly user?: readonly FilePlace[];
  /** The same on Windows, where it differs by more than the folder. */
  readonly windows?: FilePlace;
  /** Path below the folder of a project. */
  readonly project?: string;
  readonly scope: Scope;
  /** An entry with the URL. None: the client starts programs alone. */
  readonly http?: (url: string, headers: { Authorization: string }) => JsonObject;
  /** What stands for the key in a header. None: the client sends headers as they are written. */
  readonly reference?: string;
  /** An entry with the URL that names the variable, where no header is needed for that. */
  readonly httpByVariable?: (url: string) => JsonObject;
  /** What the reference asks for when the client starts; the items of the file's `inputs`. */
  readonly inputs?: readonly JsonObject[];
  /** An entry with a program to start. */
  readonly stdio: (command: string, args: readonly string[]) => JsonObject;
  /** It hides the variables that may hold secrets from the programs it starts. */
  readonly hidesSecrets?: true;
}

/** What vscode asks for when it starts the server. */
const INPUT_ID = 'restaurant-key';

const plainStdio = (command: string, args: readonly string[]): JsonObject => ({ command, args });
const typedHttp = (type: string) => (url: string, headers: JsonObject) => ({ type, url, headers });

/** The clients, with the names of files and keys from the documentation of each. */
export const MCP_CLIENTS: readonly McpClient[] = [
  {
    name: 'claude-code',
    format: 'json',
    servers: 'mcpServers',
    user: [{ below: 'home', path: '.claude.json', moved: { by: 'CLAUDE_CONFIG_DIR', path: '.claude.json' } }],
    project: '.mcp.json',
    scope: 'project',
    http: typedHttp('http'),
    reference: `\${${KEY_VARIABLE}}`,
    stdio: (command, args) => ({ type: 'stdio', command, args }),
  },
  {
    name: 'claude-desktop',
    format: 'json',
    servers: 'mcpServers',
    user: [{ below: 'app', path: 'Claude/claude_desktop_config.json' }],
    scope: 'user',
    stdio: plainStdio,
    hidesSecrets: true,
  },
  {
    name: 'cursor',
    format: 'json',
    servers: 'mcpServers',
    user: [{ below: 'home', path: '.cursor/mcp.json' }],
    project: '.cursor/mcp.json',
    scope: 'user',
    http: (url, headers) => ({ url, headers }),
    reference: `\${env:${KEY_VARIABLE}}`,
    stdio: plainStdio,
  },
  {
    name: 'vscode',
    format: 'json',
    servers: 'servers',
    user: [{ below: 'app', path: 'Code/User/mcp.json' }],
    project: '.vscode/mcp.json',
    scope: 'project',
    http: typedHttp('http'),
    reference: `\${input:${INPUT_ID}}`,
    inputs: [
      {
        type: 'promptString',
        id: INPUT_ID,
        description: 'API key of the restaurant service',
        password: true,
      },
    ],
    stdio: (command, args) => ({ type: 'stdio', command, args }),
  },
  {
    name: 'windsurf',
    format: 'json',
    servers: 'mcpServers',
    user: [{ below: 'home', path: '.codeium/windsurf/mcp_config.json' }],
    scope: 'user',
    http: (serverUrl, headers) => ({ serverUrl, headers }),
    reference: `\${env:${KEY_VARIABLE}}`,
    stdio: plainStdio,
  },
  {
    name: 'codex',
    format: 'toml',
    servers: 'mcp_servers',
    user: [{ below: 'home', path: '.codex/config.toml', moved: { by: 'CODEX_HOME', path: 'config.toml' } }],
    scope: 'user',
    http: (url, headers) => ({ url, http_headers: headers }),
    httpByVariable: (url) => ({ url, bearer_token_env_var: KEY_VARIABLE }),
    stdio: plainStdio,
    hidesSecrets: true,
  },
  {
    name: 'gemini',
    format: 'json',
    servers: 'mcpServers',
    user: [{ below: 'home', path: '.gemini/settings.json' }],
    project: '.gemini/settings.json',
    scope: 'user',
    http: (httpUrl, headers) => ({ httpUrl, headers }),
    reference: `$${KEY_VARIABLE}`,
    stdio: plainStdio,
    hidesSecrets: true,
  },
  {
    name: 'zed',
    format: 'json',
    servers: 'context_servers',
    user: [{ below: 'config', path: 'zed/settings.json' }],
    windows: { below: 'app', path: 'Zed/settings.json' },
    scope: 'user',
    http: (url, headers) => ({ url, headers }),
    stdio: plainStdio,
  },
  {
    name: 'copilot-cli',
    format: 'json',
    servers: 'mcpServers',
    user: [
      {
        below: 'home',
        path: '.copilot/mcp-config.json',
        moved: { by: 'COPILOT_HOME', path: 'mcp-config.json' },
      },
    ],
    scope: 'user',
    http: (url, headers) => ({ type: 'http', url, headers, tools: ['*'] }),
    reference: `\${${KEY_VARIABLE}}`,
    stdio: (command, args) => ({ type: 'local', command, args, tools: ['*'] }),
  },
  {
    name: 'opencode',
    format: 'json',
    servers: 'mcp',
    user: [{ below: 'config', path: 'opencode/opencode.json' }],
    scope: 'user',
    http: (url, headers) => ({ type: 'remote', url, enabled: true, oauth: false, headers }),
    reference: `{env:${KEY_VARIABLE}}`,
    stdio: (command, args) => ({ type: 'local', command: [command, ...args], enabled: true }),
  },
  {
    name: 'cline',
    format: 'json',
    servers: 'mcpServers',
    user: [
      { below: 'home', path: '.cline/data/settings/cline_mcp_settings.json' },
      {
        below: 'app',
        path: 'Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      },
    ],
    scope: 'user',
    http: (url, headers) => ({ url, type: 'streamableHttp', headers, disabled: false }),
    reference: `\${env:${KEY_VARIABLE}}`,
    stdio: (command, args) => ({ command, args, disabled: false }),
    hidesSecrets: true,
  },
  {
    name: 'roo',
    format: 'json',
    servers: 'mcpServers',
    project: '.roo/mcp.json',
    scope: 'project',
    http: typedHttp('streamable-http'),
    reference: `\${env:${KEY_VARIABLE}}`,
    stdio: plainStdio,
    hidesSecrets: true,
  },
];

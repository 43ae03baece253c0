import type { JsonObject } from '../../client/rpc/envelope.ts';

/** How a client connects to the service: directly, or through this program as bridge. */
export type Transport = 'http' | 'stdio';

/** Whose file an entry is written to. */
export type Scope = 'user' | 'project';

/** The variable that entries refer to, so that they do not hold the key. */
export const KEY_VARIABLE = 'RESTAURANT_API_KEY';

/**
 * The location of a file: a path below the home folder (`home`), the settings folder (`config`: $XDG_CONFIG_HOME or
 * ~/.config) or the platform's folder for application data (`app`).
 */
export interface Location {
  readonly below: 'home' | 'config' | 'app';
  readonly path: string;
  /** Environment variables that replace it: the name, and the path below the variable's value. */
  readonly envOverrides?: readonly (readonly [variable: string, path: string])[];
}

/** Header values by name. */
export type Headers = Readonly<Record<string, string>>;

/** A header value that is nothing but a reference to an environment variable. */
export const VARIABLE = /^\$\{(\w+)\}$/;

/** An MCP client: its files, and the structure of its entries. */
export interface McpClient {
  /** Name on the command line. */
  readonly name: string;
  readonly format: 'json' | 'toml';
  /** Key of the file that holds the servers. */
  readonly servers: string;
  /** The user's file; of several the first that exists, else the first. */
  readonly user?: readonly Location[];
  /** The user's file on Windows, when it differs by more than the folder. */
  readonly windows?: Location;
  /** Paths in a project; of several the first that exists, else the first. */
  readonly project?: readonly string[];
  readonly scope: Scope;
  /** Note for entries in a project file. */
  readonly projectNote?: string;
  /** Builds an entry with the URL. Omitted: the client only supports stdio servers. */
  readonly http?: (url: string, headers: Headers) => JsonObject;
  /** Returns the placeholder for an environment variable in a header. Omitted: the client sends headers literally. */
  readonly reference?: (variable: string) => string;
  /** Placeholder for the key, when it is not that of {@link KEY_VARIABLE}. */
  readonly keyReference?: string;
  /** Note about the placeholders. */
  readonly referenceNote?: string;
  /** Builds an entry that names the variables of the key and of headers instead. @param headers values or `${VAR}` */
  readonly httpByVariable?: (url: string, headers: Headers, hasKey: boolean) => JsonObject;
  /** Items of the file's `inputs`: the client prompts for the placeholder's value. */
  readonly inputs?: readonly JsonObject[];
  /** Builds an entry with a program to start. */
  readonly stdio: (command: string, args: readonly string[]) => JsonObject;
  /** Key of the program's environment variables. Default: `env`. */
  readonly envKey?: string;
  /** Whether stdio is the default although http is available. */
  readonly prefersStdio?: true;
  /** Environment variables that the programs it starts receive. Default: all. */
  readonly passesEnv?: 'basic' | 'without-secrets';
}

/** The placeholder that vscode prompts for when it starts the server. */
const INPUT_ID = 'restaurant-key';

const commandArgs = (command: string, args: readonly string[]): JsonObject => ({ command, args });
const typedStdio = (command: string, args: readonly string[]): JsonObject => ({
  type: 'stdio',
  command,
  args,
});
const typedHttp = (type: string) => (url: string, headers: Headers) => ({ type, url, headers });

/** The placeholders of most clients: `${NAME}` and `${env:NAME}`. */
const plainReference = (variable: string): string => `\${${variable}}`;
const envReference = (variable: string): string => `\${env:${variable}}`;

/** Codex names variables in a map of their own. */
function codexHttp(url: string, headers: Headers, hasKey: boolean): JsonObject {
  const values: Record<string, string> = {};
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const variable = VARIABLE.exec(value)?.[1];
    if (variable === undefined) values[name] = value;
    else variables[name] = variable;
  }
  return {
    url,
    ...(hasKey ? { bearer_token_env_var: KEY_VARIABLE } : {}),
    ...(Object.keys(values).length === 0 ? {} : { http_headers: values }),
    ...(Object.keys(variables).length === 0 ? {} : { env_http_headers: variables }),
  };
}

/** The clients, with the files and keys that the documentation of each describes. */
export const MCP_CLIENTS: readonly McpClient[] = [
  {
    name: 'claude-code',
    format: 'json',
    servers: 'mcpServers',
    user: [{ below: 'home', path: '.claude.json', envOverrides: [['CLAUDE_CONFIG_DIR', '.claude.json']] }],
    project: ['.mcp.json'],
    scope: 'project',
    projectNote: 'Claude Code asks you to approve the server of a project: run claude in this folder',
    http: typedHttp('http'),
    reference: plainReference,
    stdio: typedStdio,
  },
  {
    name: 'claude-desktop',
    format: 'json',
    servers: 'mcpServers',
    user: [{ below: 'app', path: 'Claude/claude_desktop_config.json' }],
    scope: 'user',
    stdio: commandArgs,
    passesEnv: 'basic',
  },
  {
    name: 'cursor',
    format: 'json',
    servers: 'mcpServers',
    user: [{ below: 'home', path: '.cursor/mcp.json' }],
    project: ['.cursor/mcp.json'],
    scope: 'user',
    http: (url, headers) => ({ url, headers }),
    reference: envReference,
    stdio: commandArgs,
  },
  {
    name: 'vscode',
    format: 'json',
    servers: 'servers',
    user: [{ below: 'app', path: 'Code/User/mcp.json' }],
    project: ['.vscode/mcp.json'],
    scope: 'project',
    http: typedHttp('http'),
    reference: envReference,
    keyReference: `\${input:${INPUT_ID}}`,
    inputs: [
      {
        type: 'promptString',
        id: INPUT_ID,
        description: 'API key of the restaurant service',
        password: true,
      },
    ],
    stdio: typedStdio,
  },
  {
    name: 'windsurf',
    format: 'json',
    servers: 'mcpServers',
    user: [{ below: 'home', path: '.codeium/windsurf/mcp_config.json' }],
    scope: 'user',
    http: (serverUrl, headers) => ({ serverUrl, headers }),
    reference: envReference,
    stdio: commandArgs,
  },
  {
    name: 'codex',
    format: 'toml',
    servers: 'mcp_servers',
    user: [{ below: 'home', path: '.codex/config.toml', envOverrides: [['CODEX_HOME', 'config.toml']] }],
    project: ['.codex/config.toml'],
    scope: 'user',
    projectNote: 'Codex reads this file in trusted projects only',
    http: (url, headers) => ({ url, http_headers: headers }),
    httpByVariable: codexHttp,
    stdio: commandArgs,
    passesEnv: 'basic',
  },
  {
    name: 'gemini',
    format: 'json',
    servers: 'mcpServers',
    user: [{ below: 'home', path: '.gemini/settings.json' }],
    project: ['.gemini/settings.json'],
    scope: 'user',
    projectNote: 'Gemini CLI uses the server of a project in trusted folders only: run gemini in this folder',
    http: (url, headers) => ({ url, type: 'http', headers }),
    reference: (variable) => `$${variable}`,
    stdio: commandArgs,
    passesEnv: 'without-secrets',
  },
  {
    name: 'zed',
    format: 'json',
    servers: 'context_servers',
    user: [{ below: 'config', path: 'zed/settings.json' }],
    windows: { below: 'app', path: 'Zed/settings.json' },
    project: ['.zed/settings.json'],
    scope: 'user',
    http: (url, headers) => ({ url, headers }),
    stdio: commandArgs,
  },
  {
    name: 'copilot-cli',
    format: 'json',
    servers: 'mcpServers',
    user: [
      {
        below: 'home',
        path: '.copilot/mcp-config.json',
        envOverrides: [['COPILOT_HOME', 'mcp-config.json']],
      },
    ],
    project: ['.mcp.json'],
    scope: 'user',
    http: (url, headers) => ({ type: 'http', url, headers, tools: ['*'] }),
    reference: plainReference,
    stdio: (command, args) => ({ type: 'local', command, args, tools: ['*'] }),
  },
  {
    name: 'opencode',
    format: 'json',
    servers: 'mcp',
    user: ['opencode.jsonc', 'opencode.json', 'config.json'].map((name) => ({
      below: 'config',
      path: `opencode/${name}`,
    })),
    project: ['opencode.jsonc', 'opencode.json'],
    scope: 'user',
    http: (url, headers) => ({ type: 'remote', url, enabled: true, oauth: false, headers }),
    reference: (variable) => `{env:${variable}}`,
    stdio: (command, args) => ({ type: 'local', command: [command, ...args], enabled: true }),
    envKey: 'environment',
  },
  {
    name: 'cline',
    format: 'json',
    servers: 'mcpServers',
    user: [
      {
        below: 'home',
        path: '.cline/data/settings/cline_mcp_settings.json',
        envOverrides: [
          ['CLINE_MCP_SETTINGS_PATH', ''],
          ['CLINE_DIR', 'data/settings/cline_mcp_settings.json'],
        ],
      },
      {
        below: 'app',
        path: 'Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json',
      },
    ],
    scope: 'user',
    http: (url, headers) => ({ url, type: 'streamableHttp', headers, disabled: false }),
    reference: envReference,
    referenceNote: `only Cline for VS Code replaces \${env:…}; for its command line use --via stdio`,
    stdio: (command, args) => ({ command, args, disabled: false }),
    prefersStdio: true,
  },
  {
    name: 'roo',
    format: 'json',
    servers: 'mcpServers',
    user: [
      {
        below: 'app',
        path: 'Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json',
      },
    ],
    project: ['.roo/mcp.json'],
    scope: 'project',
    http: typedHttp('streamable-http'),
    reference: envReference,
    stdio: commandArgs,
    passesEnv: 'basic',
  },
];

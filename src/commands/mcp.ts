import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { valueOption } from '../cli/option.ts';
import { MCP_CLIENTS } from '../mcp/client-config/clients.ts';
import type { ConfigOptions } from '../mcp/client-config/plan.ts';
import { oneOf } from '../settings/values.ts';

const CLIENTS = MCP_CLIENTS.map(({ name }) => name);
const VIAS = ['http', 'stdio'] as const;
const SCOPES = ['user', 'project'] as const;

/** What `mcp config --json` prints. */
const MCP_CONFIG_OUTPUT = {
  type: 'object',
  properties: {
    client: { type: 'string' },
    via: { enum: ['http', 'stdio'] },
    file: { type: 'string', description: 'where the entry belongs' },
    entry: { type: 'object', description: 'the value under the name restaurant' },
    inputs: { type: 'array', description: 'what the file must hold besides (vscode)' },
    command: { type: 'string', description: 'the command that adds the entry (claude-code)' },
    written: { type: 'boolean', description: 'whether the file was changed' },
    backup: { type: 'string', description: 'where the file as it was is kept' },
    check: {
      type: 'object',
      properties: {
        ok: { const: true },
        tools: { type: ['integer', 'null'] },
        key: { enum: ['env', 'config'] },
      },
      required: ['ok', 'tools'],
    },
  },
  required: ['client', 'via', 'file', 'entry', 'written'],
};

/** Adds `mcp` and `mcp config` to the program. */
export function registerMcp(program: CliCommand, app: App, action = runBridge): void {
  const mcp = program
    .command('mcp')
    .summary('MCP server on stdio, in front of the service')
    .description('Be an MCP server on stdin and stdout, in front of the service, with the saved key.')
    .usesOptions('service', 'request')
    .examples('restaurant mcp', 'restaurant mcp --demo')
    .notes(
      'An MCP client starts it; it ends when its stdin is closed. restaurant mcp config <client> prints the ' +
        'entry for a client, and writes it with --write.',
    )
    .action(() => action(program, app));
  mcp
    .command('config')
    .summary('the entry that makes an MCP client use the service')
    .description('Print the entry that makes an MCP client use the service, or write it with --write.')
    .argument('<client>', CLIENTS.join(', '))
    .completeWith('client', CLIENTS)
    .addOption(
      valueOption('--via <way>', 'by itself, with URL and headers, or through this program as bridge', {
        read: oneOf(VIAS),
        choices: VIAS,
        defaultText: 'http where the client can',
      }),
    )
    .addOption(
      valueOption('--scope <scope>', 'whose file', {
        read: oneOf(SCOPES),
        choices: SCOPES,
        defaultText: 'as the client has it',
      }),
    )
    .option('--write', "write it into the client's file; what was there is kept in a .bak file")
    .option('--check', 'make one call the way the client would')
    .option('--literal-key', 'write the key itself; never into a project file')
    .usesOptions('service', 'json')
    .outputSchema(MCP_CONFIG_OUTPUT)
    .examples('restaurant mcp config claude-desktop', 'restaurant mcp config cursor --via stdio --write')
    .notes(
      'With http the key stays out of the file where the client can refer to RESTAURANT_API_KEY; with stdio ' +
        'the saved login is used.',
    )
    .action(async (client: string, options: ConfigOptions) => {
      const { configureClient } = await import('../mcp/client-config/configure.ts');
      await configureClient(app, client, options);
    });
}

async function runBridge(program: CliCommand, app: App): Promise<void> {
  const { serveBridge } = await import('../mcp/bridge/serve.ts');
  await serveBridge(app, (fresh) => fresh.attach(program));
}

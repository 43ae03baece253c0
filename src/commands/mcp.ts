import type { App } from '../app/app.ts';
import { checkSelectedColumns, selectedColumns } from '../app/output.ts';
import { type CliCommand, CliOption } from '../cli/command.ts';
import { boolean, integer, object, text } from '../cli/schemas.ts';
import type { Bounds } from '../mcp/bridge/bounds.ts';
import { MCP_CLIENTS } from '../mcp/client-config/clients.ts';
import type { ConfigOptions } from '../mcp/client-config/configure.ts';
import { withNearest } from '../util/nearest.ts';
import { SUMMARY_COLUMNS } from '../util/restaurant.ts';

const CLIENTS = MCP_CLIENTS.map(({ name }) => name);
const TRANSPORTS = ['stdio', 'http'];

const MCP_CONFIG_OUTPUT = object({
  client: text,
  'via?': { enum: TRANSPORTS },
  'file?': { ...text, description: 'the file of the client' },
  'files?': { type: 'array', description: 'all files, if the client has several' },
  'entry?': { type: 'object', description: 'the entry named restaurant; not with --remove' },
  'command?': { ...text, description: "the client's own command that adds the entry" },
  written: { ...boolean, description: 'whether the file changed' },
  'backup?': { ...text, description: 'the previous version of the file' },
  'check?': object({
    ok: { const: true },
    tools: { ...integer, description: 'how many tools the client sees' },
  }),
});

export function registerMcp(command: CliCommand, app: App): void {
  const mcp = command
    .about('Run a stdio MCP server that proxies to the service', 'Uses the saved key.')
    .valueOption('--max-results <n>', 'Maximum records in a tool result, 1 to 1000', {
      range: [1, 1000],
      example: '20',
    })
    .valueOption('--max-chars <n>', 'Maximum characters in a tool result; lists are cut after a record', {
      range: [100, 1_000_000],
      example: '20000',
    })
    .usesOptions('service', 'request', 'columns')
    .examples(
      'restaurant mcp',
      'restaurant mcp --demo',
      'restaurant mcp --columns service_id,name,grade --max-results 10 --demo',
    )
    .notes(
      'An MCP client starts this command; it exits when its stdin is closed. restaurant mcp config <client> ' +
        'prints the entry for a client, and writes it with --write.',
    )
    .action(async (options: Pick<Bounds, 'maxResults' | 'maxChars'>) => {
      checkSelectedColumns(app, SUMMARY_COLUMNS);
      const { serveBridge } = await import('../mcp/bridge/serve.ts');
      await serveBridge(app, { ...options, columns: selectedColumns(app) });
    });
  const config = mcp.command('config') as CliCommand;
  config.suggest = () => withNearest(config.args, CLIENTS);
  config
    .about('Print or write the configuration entry for an MCP client')
    .argument('<client>', `${CLIENTS.join(', ')}, or another one`)
    .completeWith('client', CLIENTS)
    .valueOption('--via <way>', 'How the client connects: stdio, or http (printed only)', {
      choices: TRANSPORTS,
      defaultText: 'stdio',
    })
    .valueOption('--scope <scope>', 'User or project config', {
      choices: ['user', 'project'],
      defaultText: 'depends on the client',
    })
    .option('--write', "Write the entry into the client's file; the previous version is kept as .bak")
    .addOption(
      new CliOption('--remove', "Remove the entry from the client's file").conflicts([
        'write',
        'check',
        'via',
      ]),
    )
    .addOption(
      new CliOption('--check', 'Start the entry as the client would, and fail if it does not work').conflicts(
        'dryRun',
      ),
    )
    .usesOptions('service', 'dry-run', 'json')
    .overrideOption('--dry-run', { description: 'Print what --write or --remove would do; change nothing' })
    .outputSchema(MCP_CONFIG_OUTPUT)
    .examples('restaurant mcp config claude-desktop', 'restaurant mcp config cursor --write')
    .notes(
      'The entry starts restaurant mcp, which uses the saved login. --via http prints the URL and the headers, with ' +
        'RESTAURANT_API_KEY in place of the key, for a service that supports MCP.',
    )
    .action(async (name: string, options: ConfigOptions) => {
      const { configureClient } = await import('../mcp/client-config/configure.ts');
      await configureClient(app, name, options);
    });
}

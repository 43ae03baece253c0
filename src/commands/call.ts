import { DOCUMENTED_TOOLS } from '../api/documented.ts';
import type { Tool } from '../api/types.ts';
import type { App } from '../run/app.ts';
import type { Service } from '../run/service.ts';
import type { CliCommand } from '../tree/command.ts';
import { CALL_OUTPUT } from '../tree/schemas.ts';

/** Adds `call` to the program. */
export function registerCall(program: CliCommand, app: App, action = runCall): void {
  program
    .command('call')
    .summary('any tool of the service')
    .description('Call any tool of the service, also one that this program has never heard of.')
    .argument('<tool>', 'name of the tool; restaurant tools lists them')
    .argument('[key=value...]', 'arguments: key=text, key:=json, key=@file')
    .option('--args <json>', 'all arguments at once: JSON, @file, or - for stdin')
    .obeys('service', 'request', 'cache', 'preview', 'json', 'records', 'file')
    .prints(CALL_OUTPUT)
    .examples(
      'restaurant call find_restaurant name=Nopa city=SF --demo',
      'restaurant call explore_area city=SF neighborhood=NoPa --demo',
      `restaurant call find_restaurant --args '{"name":"Nopa","city":"SF"}' --demo`,
    )
    .says(
      "Text becomes a number or a boolean where the tool's schema says so. --json prints " +
        'structuredContent where there is one, else the text block, parsed if it is JSON.',
    )
    .action((tool: string, words: string[], options: { args?: string }) => action(app, tool, words, options));
}

/** The tool with its schema. The documented ones need no list; neither does a service that has none. */
async function describedTool(app: App, service: Service, name: string): Promise<Tool | undefined> {
  const documented = DOCUMENTED_TOOLS.find((tool) => tool.name === name);
  if (documented !== undefined) return documented;
  const tools = await app.busy('asking for the tools', () => service.tools());
  const { knownTool } = await import('../actions/tool-arguments.ts');
  return tools === undefined ? undefined : knownTool(tools, name);
}

async function runCall(app: App, tool: string, words: string[], options: { args?: string }): Promise<void> {
  const { checkOutput } = await import('../run/sink.ts');
  checkOutput(app);
  const { toolArguments } = await import('../actions/tool-arguments.ts');
  const { isPreview, previewed, toolCall } = await import('../run/preview.ts');
  if (isPreview(app)) {
    await previewed(app, [toolCall(tool, await toolArguments(app, words, options.args, undefined))]);
    return;
  }
  const { openService } = await import('../run/service.ts');
  const service = await openService(app, 'mcp');
  const known = await describedTool(app, service, tool);
  const args = await toolArguments(app, words, options.args, known);
  const result = await app.busy(tool, () =>
    service.remember(`call ${tool}`, args, () => service.client.callTool(tool, args)),
  );
  const { emit } = await import('../run/emit.ts');
  const { callPresentation } = await import('../output/render/call.ts');
  await emit(app, callPresentation(result));
}

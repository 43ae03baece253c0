import type { App } from '../app/app.ts';
import { factHint } from '../app/error-hint.ts';
import { checkOutput, writeResult } from '../app/output.ts';
import { previewOrOpen } from '../app/request.ts';
import type { Service } from '../app/service.ts';
import { labelOf } from '../app/target.ts';
import { StoredTools } from '../app/tool-list.ts';
import type { CliCommand } from '../cli/command.ts';
import { anyObject, anyOf, list, object, text } from '../cli/schemas.ts';
import { DOCUMENTED_TOOLS } from '../client/tools.ts';
import type { Tool } from '../client/types.ts';
import { AppError } from '../errors.ts';
import { restaurant } from '../hint.ts';

const TOOL = object({ name: text, 'description?': text, 'inputSchema?': anyObject });

export function registerTools(command: CliCommand, app: App): void {
  command
    .about("List the service's tools, or show the arguments of one")
    .argument('[name]', 'Tool to show')
    .completeWith('name', 'tool')
    .usesOptions('service', 'request', 'preview', 'json', 'records', 'file')
    .outputSchema(anyOf(object({ tools: list(TOOL) }), TOOL))
    .examples('restaurant tools --demo', 'restaurant tools find_restaurant --demo')
    .action((name: string | undefined) => runTools(app, name));
}

async function runTools(app: App, name: string | undefined): Promise<void> {
  await checkOutput(app, 'records');
  const service = await previewOrOpen(app, () => [{ method: 'tools/list' }], { demoMode: 'mcp' });
  if (service === undefined) return;
  const tools = await listTools(app, service, name);
  const { toolPresentation, toolsPresentation } = await import('../output/render/tools.ts');
  if (name === undefined) {
    await writeResult(app, { tools }, async () => toolsPresentation(tools));
    if (tools.length === 0) await app.notes.note('the service has no tools');
    return;
  }
  const { findTool } = await import('./call/prepare.ts');
  const tool = findTool(tools, name);
  await writeResult(app, tool, async () => toolPresentation(tool, app.context.platform));
}

/** A service that does not list its tools still has the documented ones. */
async function listTools(app: App, service: Service, name: string | undefined): Promise<readonly Tool[]> {
  try {
    const list = new StoredTools(service);
    return (await app.notes.withSpinner('listing the tools', list.fetch())).tools;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'rpc_error') throw error;
    const documented = DOCUMENTED_TOOLS.filter((tool) => tool.name === name);
    if (documented.length > 0) return documented;
    throw error.add({
      about: `${labelOf(service.target)} does not list its tools`,
      hint: factHint(error) ?? {
        text: 'see a documented tool',
        command: restaurant('tools', 'find_restaurant'),
      },
    });
  }
}

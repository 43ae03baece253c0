import type { App } from '../../app/app.ts';
import type { Service } from '../../app/service.ts';
import { StoredTools } from '../../app/tool-list.ts';
import { DOCUMENTED_TOOLS, TOOL_NAME } from '../../client/tools.ts';
import type { Tool } from '../../client/types.ts';
import { AppError, failure } from '../../errors.ts';
import { restaurant } from '../../hint.ts';
import { nearest, suggestion } from '../../util/nearest.ts';
import { buildArguments, type Inputs, schemaOf } from './arguments.ts';

/** JSON-RPC codes for an unknown method or invalid parameters: MCP servers reject an unknown tool with them. */
const UNKNOWN_TOOL_CODES: readonly unknown[] = [-32601, -32602];

const documentedTool = (name: string): Tool | undefined =>
  DOCUMENTED_TOOLS.find((tool) => tool.name === name);

export function findTool(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((each) => each.name).filter((each) => TOOL_NAME.test(each));
  throw failure('not_found', `the service has no tool '${name}'`, [
    ...suggestion(name, names),
    { text: 'list them', command: restaurant('tools') },
  ]);
}

/**
 * Coerces and validates the arguments. The list of tools is requested only if the documented tools are not sufficient.
 * If the service has no list, and in a preview, the arguments that no documented schema has are sent as text.
 * @param service undefined for a preview
 * @throws {AppError} `not_found` for a tool that is not listed; `usage` for invalid arguments
 */
export async function prepareCall(
  app: App,
  service: Service | undefined,
  name: string,
  inputs: Inputs,
): Promise<{ args: Record<string, unknown>; tool: Tool | undefined }> {
  const documented = documentedTool(name);
  const prepare = async (tools: readonly Tool[] | undefined) => {
    const listed = tools?.find((each) => each.name === name) ?? documented;
    const tool = listed ?? (tools && findTool(tools, name));
    return { args: tool === undefined ? buildArguments(inputs) : await coerce(app, inputs, tool), tool };
  };
  const schema = documented?.inputSchema ?? {};
  const open = [...inputs].flatMap(([key, each]) =>
    'text' in each && schemaOf(schema, key) === undefined ? [key] : [],
  );
  // The list is not needed if the documented schema has a type for every argument that is text.
  if (documented !== undefined && open.length === 0) return prepare(undefined);
  if (service === undefined) {
    if (open.length > 0)
      await app.notes.note(
        `the preview shows these arguments as text, because it does not request their types: ${open.join(', ')}`,
      );
    return prepare(undefined);
  }
  const getTools = (refresh: boolean) =>
    app.notes.withSpinner('listing the tools', new StoredTools(service).get(refresh));
  const { tools, fromCache } = await getTools(false);
  try {
    return await prepare(tools);
  } catch (error) {
    if (!fromCache || !(error instanceof AppError)) throw error;
  }
  // The cached list may be outdated.
  return prepare((await getTools(true)).tools);
}

async function coerce(app: App, inputs: Inputs, tool: Tool): Promise<Record<string, unknown>> {
  // Loading the validator and compiling a schema take 20 ms.
  if (documentedTool(tool.name) === tool && isValidText(tool, inputs)) return buildArguments(inputs);
  const { coerceArguments } = await import('./validate.ts');
  return coerceArguments(app, inputs, tool);
}

function isValidText({ inputSchema = {} }: Tool, inputs: Inputs): boolean {
  const required = [inputSchema.required ?? []].flat().map(String);
  return (
    required.every((name) => inputs.has(name)) &&
    [...inputs].every(([name, each]) => {
      const schema = schemaOf(inputSchema, name);
      return 'text' in each && schema?.type === 'string' && schema.enum === undefined;
    })
  );
}

export function unlistedToolError(error: unknown, name: string, tool: Tool | undefined): unknown {
  if (tool !== undefined || !(error instanceof AppError)) return error;
  if (!UNKNOWN_TOOL_CODES.includes(error.details.rpcCode)) return error;
  const names = DOCUMENTED_TOOLS.map((each) => each.name);
  const [near] = nearest(name, names);
  return error.add({
    about: name,
    hint: [
      ...suggestion(name, names, 1),
      {
        text: `the service does not list its tools; ${names.join(' and ')} are documented`,
        command: restaurant('tools', near ?? names[0] ?? ''),
      },
    ],
  });
}

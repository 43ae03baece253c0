import type { App } from '../../app/app.ts';
import type { Service } from '../../app/service.ts';
import { DOCUMENTED_TOOLS, TOOL_NAME, type Tool } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { restaurant } from '../../hint.ts';
import { nearest, suggestion } from '../../util/nearest.ts';
import { buildArguments, type Given, type GivenArguments, schemaOf } from './arguments.ts';

/** JSON-RPC codes for an unknown method or invalid parameters: MCP servers reject an unknown tool with them. */
const UNKNOWN_TOOL_CODES: readonly unknown[] = [-32601, -32602];

const documentedTool = (name: string): Tool | undefined =>
  DOCUMENTED_TOOLS.find((tool) => tool.name === name);

export function findTool(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool !== undefined) return tool;
  const names = tools.map((each) => each.name).filter((each) => TOOL_NAME.test(each));
  throw new AppError('not_found', `the service has no tool '${name}'`, {
    hint: [...suggestion(name, names), { text: 'list them', command: restaurant('tools') }],
  });
}

/**
 * Coerces and validates the arguments. The list of tools is requested only if the documented tools are not sufficient.
 * If the service has no list, the arguments are sent as text.
 * @throws {AppError} `not_found` for a tool that is not listed; `usage` for invalid arguments
 */
export async function prepareCall(
  app: App,
  service: Service,
  name: string,
  given: GivenArguments,
): Promise<{ args: Record<string, unknown>; tool: Tool | undefined }> {
  const documented = documentedTool(name);
  const prepare = async (tools: readonly Tool[] | undefined) => {
    const listed = tools?.find((each) => each.name === name) ?? documented;
    const tool = listed ?? (tools && findTool(tools, name));
    return { args: tool === undefined ? buildArguments(given) : await coerce(app, given, tool), tool };
  };
  // The list is not needed if the documented schema has a type for every argument given as text.
  const isOpen = ([key, each]: [string, Given]): boolean =>
    'text' in each && schemaOf(documented?.inputSchema ?? {}, key) === undefined;
  if (documented !== undefined && ![...given].some(isOpen)) return prepare(undefined);
  const getTools = (refresh: boolean) =>
    app.notes.withSpinner('listing the tools', () => service.getTools(refresh));
  const { tools, fromCache } = await getTools(false);
  try {
    return await prepare(tools);
  } catch (error) {
    if (!fromCache || !(error instanceof AppError)) throw error;
  }
  // The cached list may be outdated.
  return prepare((await getTools(true)).tools);
}

async function coerce(app: App, given: GivenArguments, tool: Tool): Promise<Record<string, unknown>> {
  // Loading the validator and compiling a schema take 20 ms.
  if (documentedTool(tool.name) === tool && isValidText(tool, given)) return buildArguments(given);
  const { coerceArguments } = await import('./validate.ts');
  return coerceArguments(app, given, tool);
}

function isValidText({ inputSchema = {} }: Tool, given: GivenArguments): boolean {
  const required = [inputSchema.required ?? []].flat().map(String);
  return (
    required.every((name) => given.has(name)) &&
    [...given].every(([name, each]) => {
      const schema = schemaOf(inputSchema, name);
      return 'text' in each && schema?.type === 'string' && schema.enum === undefined;
    })
  );
}

export async function previewArguments(
  app: App,
  name: string,
  given: GivenArguments,
): Promise<Record<string, unknown>> {
  const documented = documentedTool(name);
  if (documented !== undefined) return coerce(app, given, documented);
  const open = [...given].filter(([, each]) => 'text' in each).map(([key]) => key);
  if (open.length > 0) {
    await app.notes.note(`shown as text, because a preview does not request their types: ${open.join(', ')}`);
  }
  return buildArguments(given);
}

export function unlistedToolError(error: unknown, name: string, tool: Tool | undefined): unknown {
  if (tool !== undefined || !(error instanceof AppError)) return error;
  if (!UNKNOWN_TOOL_CODES.includes(error.details.rpcCode)) return error;
  const names = DOCUMENTED_TOOLS.map((each) => each.name);
  const [near] = nearest(name, names);
  return error.withMessage(`${name}: ${error.message}`, {
    hint: [
      ...suggestion(name, names, 1),
      {
        text: `the service has no list of its tools; documented are ${names.join(' and ')}`,
        command: restaurant('tools', near ?? names[0] ?? ''),
      },
    ],
  });
}

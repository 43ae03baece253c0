import type { App } from '../../app/app.ts';
import type { Service } from '../../app/service.ts';
import { DOCUMENTED_TOOLS } from '../../client/documented.ts';
import { reworded } from '../../client/http/network-error.ts';
import type { Tool } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { didYouMean, nearest } from '../../util/nearest.ts';
import { fitArguments, type GivenArguments, knownTool, namesAll, plainArguments } from './arguments.ts';

/** A call with the arguments as the tool takes them, and the tool, where it is known. */
export interface PreparedCall {
  readonly tool?: Tool;
  readonly args: Record<string, unknown>;
}

const documentedTool = (name: string): Tool | undefined =>
  DOCUMENTED_TOOLS.find((tool) => tool.name === name);

/**
 * Fits the arguments to the tool. The list of tools is asked for only where the documented ones do not tell all; a
 * service without a list gets the arguments as they stand.
 * @throws {AppError} `not_found` for a tool that is not listed; `usage` for arguments that do not fit
 */
export async function preparedCall(
  app: App,
  service: Service,
  name: string,
  given: GivenArguments,
): Promise<PreparedCall> {
  const documented = documentedTool(name);
  const fitted = async (tool: Tool): Promise<PreparedCall> => ({
    tool,
    args: await fitArguments(app, given, tool),
  });
  if (documented !== undefined && namesAll(documented, given)) return fitted(documented);

  const byList = (tools: readonly Tool[] | undefined): Promise<PreparedCall> | PreparedCall => {
    const isListed = tools?.some((tool) => tool.name === name) === true;
    if (documented !== undefined && !isListed) return fitted(documented);
    return tools === undefined ? { args: plainArguments(given) } : fitted(knownTool(tools, name));
  };
  const ask = (anew: boolean) => app.withSpinner('asking for the tools', () => service.getTools(anew));
  const guide = await ask(false);
  try {
    return await byList(guide.tools);
  } catch (error) {
    if (!guide.fromCache || !(error instanceof AppError)) throw error;
  }
  // The service may have learned something since.
  return byList((await ask(true)).tools);
}

/** JSON-RPC's codes for a method or parameters that a server does not know: MCP servers answer so to an unknown tool. */
const NOT_KNOWN: readonly unknown[] = [-32601, -32602];

/** The failure of a tool that is not documented, at a service without a list: with the tools that are. */
export function unlistedFailure(error: unknown, name: string, tool: Tool | undefined): unknown {
  if (tool !== undefined || !(error instanceof AppError)) return error;
  if (!NOT_KNOWN.includes(error.details.rpcCode)) return error;
  const names = DOCUMENTED_TOOLS.map((each) => each.name);
  const [near] = nearest(name, names);
  return reworded(error, `${name}: ${error.message}`, {
    hint: `${didYouMean(name, names, 1)}The service has no list of its tools; documented are ${names.join(' and ')}: restaurant tools ${near ?? names[0]}`,
  });
}

/** The arguments as they would be sent, as far as that can be told without asking the service. */
export async function plannedArguments(
  app: App,
  name: string,
  given: GivenArguments,
): Promise<Record<string, unknown>> {
  const documented = documentedTool(name);
  if (documented !== undefined) return fitArguments(app, given, documented);
  const open = [...given].filter(([, each]) => 'text' in each).map(([key]) => key);
  if (open.length > 0) {
    await app.note(`shown as text, since the service was not asked for their types: ${open.join(', ')}`);
  }
  return plainArguments(given);
}

import type { Service } from '../../app/service.ts';
import { DOCUMENTED_TOOLS } from '../../client/documented.ts';
import type { Client } from '../../client/restaurant.ts';
import { isObject, type JsonObject, type RpcError, readReply } from '../../client/rpc/envelope.ts';
import type { Tool } from '../../client/types.ts';
import { AppError, type Code } from '../../errors.ts';
import { INTERNAL_ERROR, ProtocolError } from './message.ts';
import type { ToolCallOptions, Upstream } from './methods.ts';
import { LIST_TTL_MS } from './protocol.ts';

export interface UpstreamOptions {
  /** Opens the service with the current settings and login. */
  connect(): Promise<Service>;
  readonly profileName: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** HTTP statuses of a service that does not have the method; it may have tools nevertheless. */
const NO_SUCH_METHOD: readonly number[] = [400, 404, 405, 406, 415, 422, 501];

/** Failures that a login can fix, even while the bridge runs. */
const FIXED_BY_LOGIN: readonly Code[] = ['no_key', 'bad_key', 'no_service', 'bad_config', 'unauthorized'];

/** Hints for people who use an agent instead of a command line. */
const AGENT_HINTS: Readonly<Partial<Record<Code, string>>> = {
  bad_response:
    'restaurant status --check tests the service; restaurant mcp --verbose logs each request on stderr',
  timeout: 'use restaurant mcp --timeout 2m as the command of the MCP client',
};

/** Opens the service behind the bridge. It is connected on first use. */
export function openUpstream({ connect, profileName, now }: UpstreamOptions): Upstream {
  let connection: Promise<Service> | undefined;
  let cached: { readonly tools: readonly Tool[]; readonly at: number } | undefined;
  let pendingList: Promise<readonly Tool[]> | undefined;

  /** Uses the service. After a failure that a login can fix, the next call connects again. */
  async function use<T>(work: (service: Service) => Promise<T>): Promise<T> {
    connection ??= connect();
    const current = connection;
    try {
      return await work(await current);
    } catch (error) {
      if (fixedByLogin(error) && connection === current) connection = undefined;
      throw error instanceof AppError ? withAgentHint(error, profileName) : error;
    }
  }

  async function fetchTools(): Promise<readonly Tool[]> {
    try {
      const tools = (await use((service) => service.tools())) ?? DOCUMENTED_TOOLS;
      cached = { tools: tools.map(withObjectSchema), at: now() };
      return cached.tools;
    } catch (error) {
      // A host without a list shows no tools; with the built-in list the first call reports what to do.
      if (fixedByLogin(error) || hasNoList(error)) return DOCUMENTED_TOOLS;
      throw error;
    }
  }

  return {
    listTools() {
      if (cached !== undefined && now() - cached.at < LIST_TTL_MS) return Promise.resolve(cached.tools);
      pendingList ??= fetchTools().finally(() => {
        pendingList = undefined;
      });
      return pendingList;
    },
    callTool: (name, args, options) => use(({ client }) => callTool(client, name, args, options)),
  };
}

async function callTool(
  client: Client,
  name: string,
  args: JsonObject,
  options: ToolCallOptions,
): Promise<JsonObject> {
  const { envelope, error } = await client.raw('tools/call', { name, arguments: args }, options);
  const reply = readReply(envelope);
  if (error !== undefined && !('error' in reply && error.code === 'rpc_error')) throw error;
  if ('error' in reply) throw forwardError(reply.error);
  if (isObject(reply.result)) return reply.result;
  throw new AppError('bad_response', 'the response of the service has no tool result');
}

/** Converts a JSON-RPC error of the service; its code must be an integer. */
function forwardError({ code, message, data }: RpcError): ProtocolError {
  return typeof code === 'number' && Number.isSafeInteger(code)
    ? new ProtocolError(code, message, data)
    : new ProtocolError(INTERNAL_ERROR, message, { code, data });
}

const fixedByLogin = (error: unknown): error is AppError =>
  error instanceof AppError && FIXED_BY_LOGIN.includes(error.code);

/** Tells whether the service refused the method, not the caller. */
const hasNoList = (error: unknown): boolean =>
  error instanceof AppError &&
  error.details.status !== undefined &&
  NO_SUCH_METHOD.includes(error.details.status);

/** Adds `type: "object"` to a schema without it: hosts reject the whole list for one such tool. */
function withObjectSchema(tool: Tool): Tool {
  return tool.inputSchema?.type === 'object'
    ? tool
    : { ...tool, inputSchema: { ...tool.inputSchema, type: 'object' } };
}

/** Gives an error a hint for the user of an agent, who may not have the environment of a shell. */
function withAgentHint(error: AppError, profileName: string): AppError {
  const { code, details } = error;
  const profile = profileName === 'default' ? '' : ` --profile ${profileName}`;
  const hint =
    code === 'no_key'
      ? `run restaurant login${profile} in a terminal, then try again: the bridge uses the saved login (some agents do not pass variables named KEY or TOKEN to the programs they start)`
      : details.hint === undefined
        ? AGENT_HINTS[code]
        : undefined;
  return hint === undefined ? error : new AppError(code, error.message, { ...details, hint });
}

import type { Service } from '../../app/service.ts';
import type { Client } from '../../client/client.ts';
import { DOCUMENTED_TOOLS } from '../../client/documented.ts';
import { isObject, type JsonObject, type RpcError, readReply } from '../../client/rpc.ts';
import type { Tool } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { INTERNAL_ERROR, ProtocolError } from './message.ts';
import type { ToolCallOptions, Upstream } from './methods.ts';
import { LIST_LIFE_MS } from './protocol.ts';
import { asSeenByAgents, loginMends } from './tool-error.ts';

export interface UpstreamOptions {
  /** Opens the service with the settings and the login of this moment. */
  connect(): Promise<Service>;
  readonly profileName: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** HTTP statuses of a service that does not know the method; there may be tools all the same. */
const NO_SUCH_METHOD: readonly number[] = [400, 404, 405, 406, 415, 422, 501];

/** The service as what the bridge stands in front of. It is opened when it is first needed. */
export function openUpstream({ connect, profileName, now }: UpstreamOptions): Upstream {
  let opened: Promise<Service> | undefined;
  let kept: { readonly tools: readonly Tool[]; readonly at: number } | undefined;
  let asking: Promise<readonly Tool[]> | undefined;

  /** Uses the service. What a login mends is not kept, so that one counts from the next call on. */
  async function use<T>(work: (service: Service) => Promise<T>): Promise<T> {
    opened ??= connect();
    const mine = opened;
    try {
      return await work(await mine);
    } catch (error) {
      if (loginMends(error) && opened === mine) opened = undefined;
      throw error instanceof AppError ? asSeenByAgents(error, profileName) : error;
    }
  }

  async function askForTools(): Promise<readonly Tool[]> {
    try {
      const tools = (await use((service) => service.tools())) ?? DOCUMENTED_TOOLS;
      kept = { tools: tools.map(withSchema), at: now() };
      return kept.tools;
    } catch (error) {
      // A host that gets no list shows no tools; with this one its user is told what to do when they use one.
      if (loginMends(error) || knowsNoList(error)) return DOCUMENTED_TOOLS;
      throw error;
    }
  }

  return {
    listTools() {
      if (kept !== undefined && now() - kept.at < LIST_LIFE_MS) return Promise.resolve(kept.tools);
      asking ??= askForTools().finally(() => {
        asking = undefined;
      });
      return asking;
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
  if ('error' in reply) throw passedOn(reply.error);
  if (isObject(reply.result)) return reply.result;
  throw new AppError('bad_response', 'the service answered without a tool result');
}

/** The service's own error with its code; JSON-RPC knows integers alone. */
function passedOn({ code, message, data }: RpcError): ProtocolError {
  return typeof code === 'number' && Number.isSafeInteger(code)
    ? new ProtocolError(code, message, data)
    : new ProtocolError(INTERNAL_ERROR, message, { code, data });
}

/** Is it a refusal of the method, not of the caller? */
const knowsNoList = (error: unknown): boolean =>
  error instanceof AppError &&
  error.details.status !== undefined &&
  NO_SUCH_METHOD.includes(error.details.status);

/** Hosts refuse a whole list for one tool whose schema is not that of an object. */
function withSchema(tool: Tool): Tool {
  return tool.inputSchema?.type === 'object'
    ? tool
    : { ...tool, inputSchema: { ...tool.inputSchema, type: 'object' } };
}

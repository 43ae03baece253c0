import { AppError } from '../../errors.ts';
import { kindOf } from '../../util/excerpt.ts';
import { firstValue } from '../http/exchange.ts';
import type { CallState, Channel, RpcResponse } from '../rpc/channel.ts';
import { isObject, type JsonObject, request, withProgress } from '../rpc/envelope.ts';
import { rpcError } from '../rpc/errors.ts';
import { type ProtocolClient, type RpcCall, sessionIsGone } from './detect.ts';
import { LEGACY_VERSIONS, METHOD_NOT_FOUND } from './protocol.ts';
import type { ClientInfo } from './stateless.ts';

/** Answers that say nothing about the protocol; they end a handshake with what they are. */
const NO_VERDICT = [401, 402, 403, 407, 408, 425, 429];

/** What a handshake agreed on. */
interface Session {
  readonly version: string;
  /** Header fields of all that follows. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hasSession: boolean;
  readonly capabilities: JsonObject;
}

export interface HandshakeClient extends ProtocolClient {
  /**
   * Makes the handshake, unless it is made.
   * @returns what the service refuses it with, or undefined
   * @throws {AppError} when no verdict came
   */
  open(call: CallState): Promise<AppError | undefined>;
  /** The agreed revision. */
  version(): string | undefined;
  /** The capabilities of the server, once the handshake is done. */
  capabilities(): JsonObject | undefined;
}

/** Speaks MCP with a handshake and, where the service wants one, a session. */
export function handshakeClient(channel: Channel, clientInfo: ClientInfo): HandshakeClient {
  let agreement: Session | undefined;
  let opening: Promise<AppError | undefined> | undefined;

  async function handshake(call: CallState): Promise<AppError | undefined> {
    const params = { protocolVersion: LEGACY_VERSIONS[0], capabilities: {}, clientInfo };
    const read: CallState = { ...call, policy: 'read' };
    const answer = await channel.request(read, { build: (id) => ({ ...request(id, 'initialize', params) }) });
    call.deadline = read.deadline;
    const agreed = agreementIn(answer);
    if (agreed instanceof AppError) {
      if (NO_VERDICT.includes(answer.status) || answer.status >= 500) throw agreed;
      return agreed;
    }
    const message = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const refused = await channel.notify(call, message, agreed.headers);
    if (refused === undefined) agreement = agreed;
    return refused;
  }

  async function open(call: CallState): Promise<AppError | undefined> {
    if (agreement !== undefined) return undefined;
    if (opening !== undefined) {
      // Made by another call; if that one was ended, this one makes its own.
      const made = await opening.catch(() => 'failed' as const);
      if (made !== 'failed') return made;
    }
    opening = handshake(call).finally(() => {
      opening = undefined;
    });
    return opening;
  }

  async function agreed(call: CallState): Promise<Session> {
    const refused = await open(call);
    if (refused !== undefined) throw refused;
    if (agreement === undefined) throw new AppError('unexpected', 'the handshake left no agreement');
    return agreement;
  }

  const tell = (call: CallState, message: JsonObject, { headers }: Session) =>
    channel.notify(call, message, headers).catch(() => undefined);

  function send(call: CallState, wanted: RpcCall, on: Session): Promise<RpcResponse> {
    const { method, params, headers = {}, onMessage } = wanted;
    return channel.request(call, {
      build: (id) => ({ ...request(id, method, withProgress(params, id, onMessage)) }),
      headers: { ...on.headers, ...headers },
      resume: on.headers,
      onMessage(message) {
        const reply = replyTo(message);
        if (reply !== undefined) void tell(call, reply, on);
        else onMessage?.(message);
      },
      cancel: (cancelled, id) =>
        tell(cancelled, { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }, on),
    });
  }

  return {
    open,
    version: () => agreement?.version,
    capabilities: () => agreement?.capabilities,
    async call(call, wanted) {
      const before = await agreed(call);
      const answer = await send(call, wanted, before);
      if (!before.hasSession || !sessionIsGone(answer, answer.id)) return answer;
      if (agreement === before) agreement = undefined;
      return send(call, wanted, await agreed(call));
    },
    async close() {
      if (agreement?.hasSession !== true) return;
      const { headers } = agreement;
      agreement = undefined;
      await channel.end(headers);
    },
  };
}

/** What `initialize` agreed on, or why it did not. */
function agreementIn({ reply, error, status, headers }: RpcResponse): Session | AppError {
  if (error !== undefined) return error;
  if (reply === undefined) return new AppError('bad_response', 'the handshake got no answer');
  if ('error' in reply) return rpcError(reply.error, status);
  const { protocolVersion: version, capabilities } = isObject(reply.result)
    ? reply.result
    : ({} as JsonObject);
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    const got = typeof version === 'string' ? `"${version.slice(0, 40)}"` : kindOf(version);
    return new AppError('bad_response', `the service wants to speak MCP ${got}, which is not known here`, {
      hint: 'restaurant status --check --protocol bare',
    });
  }
  const session = firstValue(headers['mcp-session-id']);
  const usable = session !== undefined && /^[\x21-\x7e]+$/.test(session) ? session : undefined;
  return {
    version,
    hasSession: usable !== undefined,
    capabilities: isObject(capabilities) ? capabilities : {},
    headers: {
      'MCP-Protocol-Version': version,
      ...(usable === undefined ? {} : { 'Mcp-Session-Id': usable }),
    },
  };
}

/** The answer to a request of the server: we are alive, and can do nothing for it. */
function replyTo({ id, method }: JsonObject): JsonObject | undefined {
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
  return { jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
}

import { AppError } from '../../errors.ts';
import { kindOf } from '../../util/excerpt.ts';
import { firstValue } from '../http/exchange.ts';
import type { CallState, Channel, RpcResponse } from '../rpc/channel.ts';
import { isObject, type JsonObject, request, withMeta } from '../rpc/envelope.ts';
import { rpcError } from '../rpc/errors.ts';
import { isSessionExpired, type ProtocolClient, type RpcCall } from './detect.ts';
import { LEGACY_VERSIONS, METHOD_NOT_FOUND } from './protocol.ts';
import type { ClientInfo } from './stateless.ts';

/** Statuses that say nothing about the protocol; they end a handshake with their own error. */
const UNRELATED = [401, 402, 403, 407, 408, 425, 429];

/** The result of a handshake. */
interface Session {
  readonly version: string;
  /** Headers of all further requests. */
  readonly headers: Readonly<Record<string, string>>;
  readonly hasId: boolean;
  readonly capabilities: JsonObject;
}

export interface HandshakeClient extends ProtocolClient {
  /**
   * Performs the handshake, unless it is done.
   * @returns the error with which the service refuses it, or undefined
   * @throws {AppError} when the response says nothing about the protocol
   */
  open(state: CallState): Promise<AppError | undefined>;
  /** Returns the negotiated version. */
  version(): string | undefined;
  /** Returns the capabilities of the server, once the handshake is done. */
  capabilities(): JsonObject | undefined;
  /** Ends the session. */
  close(): Promise<void>;
}

/** MCP with a handshake (`initialize`) and, where the service uses one, a session. */
export function handshakeClient(channel: Channel, clientInfo: ClientInfo): HandshakeClient {
  let session: Session | undefined;
  let opening: Promise<AppError | undefined> | undefined;

  async function handshake(state: CallState): Promise<AppError | undefined> {
    const params = { protocolVersion: LEGACY_VERSIONS[0], capabilities: {}, clientInfo };
    const read: CallState = { ...state, policy: 'read' };
    const response = await channel.request(read, {
      build: (id) => ({ ...request(id, 'initialize', params) }),
    });
    state.deadline = read.deadline;
    const opened = sessionFrom(response);
    if (opened instanceof AppError) {
      if (UNRELATED.includes(response.status) || response.status >= 500) throw opened;
      return opened;
    }
    const message = { jsonrpc: '2.0', method: 'notifications/initialized' };
    const refused = await channel.notify(state, message, opened.headers);
    if (refused === undefined) session = opened;
    return refused;
  }

  async function open(state: CallState): Promise<AppError | undefined> {
    if (session !== undefined) return undefined;
    if (opening !== undefined) {
      // Started by another call; if that one was aborted, this one starts its own.
      const outcome = await opening.catch(() => 'failed' as const);
      if (outcome !== 'failed') return outcome;
    }
    opening = handshake(state).finally(() => {
      opening = undefined;
    });
    return opening;
  }

  async function openedSession(state: CallState): Promise<Session> {
    const refused = await open(state);
    if (refused !== undefined) throw refused;
    if (session === undefined) throw new AppError('unexpected', 'the handshake opened no session');
    return session;
  }

  const notify = (state: CallState, message: JsonObject, { headers }: Session) =>
    channel.notify(state, message, headers).catch(() => undefined);

  function send(state: CallState, call: RpcCall, on: Session): Promise<RpcResponse> {
    const { method, params, headers = {}, onMessage } = call;
    return channel.request(state, {
      build: (id) => {
        const meta = onMessage === undefined ? {} : { progressToken: id };
        return { ...request(id, method, withMeta(params, meta)) };
      },
      headers: { ...on.headers, ...headers },
      resume: on.headers,
      onMessage(message) {
        const reply = replyTo(message);
        if (reply !== undefined) void notify(state, reply, on);
        else onMessage?.(message);
      },
      cancel: (cancelled, id) =>
        notify(
          cancelled,
          { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } },
          on,
        ),
    });
  }

  return {
    open,
    version: () => session?.version,
    capabilities: () => session?.capabilities,
    async call(state, call) {
      const before = await openedSession(state);
      const response = await send(state, call, before);
      if (!before.hasId || !isSessionExpired(response)) return response;
      if (session === before) session = undefined;
      return send(state, call, await openedSession(state));
    },
    async close() {
      if (session?.hasId !== true) return;
      const { headers } = session;
      session = undefined;
      await channel.endSession(headers);
    },
  };
}

/** Returns the session that `initialize` opened, or the reason why it did not. */
function sessionFrom({ reply, error, status, headers }: RpcResponse): Session | AppError {
  if (error !== undefined) return error;
  if (reply === undefined) return new AppError('bad_response', 'no response to the handshake');
  if ('error' in reply) return rpcError(reply.error, status);
  const result: JsonObject = isObject(reply.result) ? reply.result : {};
  const { protocolVersion: version, capabilities } = result;
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    const got = typeof version === 'string' ? `"${version.slice(0, 40)}"` : kindOf(version);
    return new AppError('bad_response', `the service requires the unsupported MCP version ${got}`, {
      hint: 'restaurant status --check --protocol bare',
    });
  }
  const id = firstValue(headers['mcp-session-id']);
  const usableId = id !== undefined && /^[\x21-\x7e]+$/.test(id) ? id : undefined;
  return {
    version,
    hasId: usableId !== undefined,
    capabilities: isObject(capabilities) ? capabilities : {},
    headers: {
      'MCP-Protocol-Version': version,
      ...(usableId === undefined ? {} : { 'Mcp-Session-Id': usableId }),
    },
  };
}

/** Returns the reply to a request of the server: a pong, or that the method is not supported. */
function replyTo({ id, method }: JsonObject): JsonObject | undefined {
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  if (method === 'ping') return { jsonrpc: '2.0', id, result: {} };
  return { jsonrpc: '2.0', id, error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
}

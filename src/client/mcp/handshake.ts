import { AppError } from '../../errors.ts';
import { kindOf } from '../../util/excerpt.ts';
import { isObject, type JsonObject } from '../../util/object.ts';
import { firstValue } from '../http/headers.ts';
import type { CallState, Channel, RpcCall } from '../rpc/channel.ts';
import type { RpcResponse } from '../rpc/reply.ts';
import { CLIENT_INFO, LEGACY_VERSIONS, METHOD_NOT_FOUND } from './protocol.ts';

/** HTTP statuses that are unrelated to the protocol. They end a handshake with their own error. */
const UNRELATED = [401, 402, 403, 407, 408, 425, 429];

/** The result of a handshake. */
interface Session {
  readonly version: string;
  /** Headers of all later requests. */
  readonly headers: Readonly<Record<string, string>>;
  readonly capabilities: JsonObject;
}

const SESSION_ID = 'Mcp-Session-Id';
const hasId = ({ headers }: Session): boolean => headers[SESSION_ID] !== undefined;

/** Creates a client for MCP with a handshake (`initialize`) and, if the service uses one, a session. */
export function handshakeClient(channel: Channel) {
  let session: Session | undefined;
  let opening: Promise<Session | AppError> | undefined;

  async function handshake(state: CallState): Promise<Session | AppError> {
    const params = {
      protocolVersion: LEGACY_VERSIONS[0],
      capabilities: {},
      clientInfo: CLIENT_INFO,
    };
    const response = await channel.request(state, { method: 'initialize', params, policy: 'read' });
    let opened = sessionFrom(response);
    if (!(opened instanceof AppError)) {
      const message = { jsonrpc: '2.0', method: 'notifications/initialized' };
      opened = (await channel.notify(state, message, opened.headers)) ?? opened;
    }
    if (opened instanceof AppError) {
      const { status = 0 } = opened.details;
      if (UNRELATED.includes(status) || status >= 500) throw opened;
    } else session = opened;
    return opened;
  }

  /**
   * Returns the open session, or performs the handshake.
   * @returns the session, or the error with which the service refuses the handshake
   * @throws {AppError} if the response is unrelated to the protocol
   */
  async function open(state: CallState): Promise<Session | AppError> {
    if (session !== undefined) return session;
    // Another call may have started a handshake. If that call was aborted, this call starts its own.
    const shared = opening && (await opening.catch(() => undefined));
    if (shared !== undefined) return shared;
    opening = handshake(state).finally(() => {
      opening = undefined;
    });
    return opening;
  }

  function send(state: CallState, call: RpcCall, { headers }: Session): Promise<RpcResponse> {
    const notify = (on: CallState, message: JsonObject) =>
      channel.notify(on, { jsonrpc: '2.0', ...message }, headers).catch(() => undefined);
    return channel.request(state, {
      ...call,
      wantsProgress: true,
      headers: { ...headers, ...call.headers },
      resume: headers,
      onMessage(message) {
        const reply = replyTo(message);
        if (reply !== undefined) void notify(state, reply);
      },
      cancel: (cancelled, id) =>
        notify(cancelled, { method: 'notifications/cancelled', params: { requestId: id } }),
    });
  }

  return {
    /** Returns the session, if the handshake is done. */
    session: () => session,
    /** Makes a call. @returns the response, or the error with which the service refuses the handshake */
    async call(state: CallState, call: RpcCall): Promise<RpcResponse | AppError> {
      const opened = await open(state);
      if (opened instanceof AppError) return opened;
      const response = await send(state, call, opened);
      if (!hasId(opened) || !isSessionExpired(response)) return response;
      if (session === opened) session = undefined;
      const reopened = await open(state);
      return reopened instanceof AppError ? reopened : send(state, call, reopened);
    },
    /** Ends the session. */
    async close(): Promise<void> {
      if (session === undefined || !hasId(session)) return;
      const { headers } = session;
      session = undefined;
      await channel.endSession(headers);
    },
  };
}

/** Returns the session that `initialize` opened, or the error if it opened none. */
function sessionFrom({ envelope, error, headers }: RpcResponse): Session | AppError {
  if (error !== undefined) return error;
  const { protocolVersion: version, capabilities }: JsonObject = isObject(envelope.result)
    ? envelope.result
    : {};
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    const got = typeof version === 'string' ? `"${version.slice(0, 40)}"` : kindOf(version);
    return new AppError('bad_response', `the service requires the unsupported MCP version ${got}`, {
      hint: 'restaurant status --check --protocol bare',
    });
  }
  const id = firstValue(headers['mcp-session-id']);
  const isUsable = id !== undefined && /^[\x21-\x7e]+$/.test(id);
  return {
    version,
    capabilities: isObject(capabilities) ? capabilities : {},
    headers: { 'MCP-Protocol-Version': version, ...(isUsable ? { [SESSION_ID]: id } : {}) },
  };
}

/**
 * Returns the reply to a request from the server: an empty result for a ping, else an error for an unsupported method.
 */
function replyTo({ id, method }: JsonObject): JsonObject | undefined {
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  return method === 'ping'
    ? { id, result: {} }
    : { id, error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
}

/** Returns whether the session of a request has expired. */
function isSessionExpired(response: RpcResponse): boolean {
  if (response.status === 404) return response.rpcError?.code !== METHOD_NOT_FOUND;
  // An error with our id is about the request. An error about the session has no id.
  return response.status === 400 && response.envelope?.id !== response.id;
}

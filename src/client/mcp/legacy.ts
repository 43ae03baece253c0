import type { ErrorDetails } from '../../errors.ts';
import { excerpt, kindOf } from '../../util/format.ts';
import { isObject, type JsonObject } from '../../util/json.ts';
import { firstValue, type RequestHeaders } from '../http/headers.ts';
import { send } from '../kernel.ts';
import { METHOD_NOT_FOUND } from '../rpc/envelope.ts';
import { type CallState, type Channel, notify, type RpcCall, type RpcMessage } from '../rpc/exchange.ts';
import type { Outcome } from '../rpc/outcome.ts';
import { badResponse, ServiceError } from '../service-error.ts';
import { CLIENT_INFO, LEGACY_VERSIONS } from './protocol.ts';

export interface Handshake {
  readonly version: string;
  readonly headers: RequestHeaders;
  readonly capabilities: JsonObject;
}

/** A handshake that the service refused, or that failed for a reason unrelated to the protocol. */
export interface FailedHandshake {
  readonly failure: ServiceError;
  /** The facts without a call: the failure gets facts about the call that started the handshake. */
  readonly facts: ErrorDetails;
  readonly isRefused: boolean;
}

const UNRELATED = [401, 402, 403, 407, 408, 425, 429];

const SESSION_ID = 'Mcp-Session-Id';
export const hasSession = (headers: RequestHeaders = {}): boolean => headers[SESSION_ID] !== undefined;

export async function shakeHands(channel: Channel, state: CallState): Promise<Handshake | FailedHandshake> {
  const params = { protocolVersion: LEGACY_VERSIONS[0], capabilities: {}, clientInfo: CLIENT_INFO };
  const outcome = await send(channel, state, { method: 'initialize', params, effect: 'read' });
  const { response, failure: error } = outcome;
  if (response === undefined && error !== undefined) return failedHandshake(error, false);
  const handshake = handshakeIn(outcome);
  if (handshake instanceof ServiceError) return failedHandshake(handshake);
  try {
    const failure = await notify(channel, state, { method: 'notifications/initialized' }, handshake.headers);
    return failure === undefined ? handshake : failedHandshake(failure);
  } catch (error) {
    if (error instanceof ServiceError) return failedHandshake(error, false);
    throw error;
  }
}

function failedHandshake(failure: ServiceError, isRefused = isAboutProtocol(failure)): FailedHandshake {
  return { failure, facts: failure.details, isRefused };
}

function isAboutProtocol({ details: { status = 0 } }: ServiceError): boolean {
  return !UNRELATED.includes(status) && status < 500;
}

/** Returns a failed handshake for another call that waited for it, with a failure of its own. */
export const forOtherCall = (failed: FailedHandshake): FailedHandshake => ({
  ...failed,
  failure: new ServiceError(failed.failure.code, failed.facts),
});

function handshakeIn({ response, failure }: Outcome): Handshake | ServiceError {
  if (failure !== undefined) return failure;
  const { envelope, headers } = response;
  const { protocolVersion: version, capabilities }: JsonObject = isObject(envelope.result)
    ? envelope.result
    : {};
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    const got = typeof version === 'string' ? `"${version.slice(0, 40)}"` : kindOf(version);
    return badResponse(`the service requires the unsupported MCP version ${got}`, { reason: 'mcp_version' });
  }
  const id = firstValue(headers['mcp-session-id']);
  const isUsable = id !== undefined && /^[\x21-\x7e]+$/.test(id);
  return {
    version,
    capabilities: isObject(capabilities) ? capabilities : {},
    headers: { 'MCP-Protocol-Version': version, ...(isUsable ? { [SESSION_ID]: id } : {}) },
  };
}

/** Returns a call as it is sent after a handshake. A `ping` of the server is answered; its other requests are refused. */
export function legacyMessage(
  channel: Channel,
  state: CallState,
  call: RpcCall,
  { headers }: Handshake,
): RpcMessage {
  const tell = (on: CallState, message: JsonObject) =>
    notify(channel, on, message, headers).catch(() => undefined);
  return {
    ...call,
    wantsProgress: true,
    headers: { ...headers, ...call.headers },
    resume: headers,
    onMessage(message) {
      const reply = replyTo(message, state);
      if (reply !== undefined) void tell(state, reply);
    },
    cancel: (cancelled, id) =>
      tell(cancelled, { method: 'notifications/cancelled', params: { requestId: id } }),
  };
}

/** Requests for input are refused: nobody can answer them here. */
function replyTo({ id, method, params }: JsonObject, state: CallState): JsonObject | undefined {
  if (typeof id !== 'string' && typeof id !== 'number') return undefined;
  if (method === 'ping') return { id, result: {} };
  state.declinedInput = { method, params };
  // Servers repeat this message as that of the call.
  const message = `the client cannot answer ${excerpt(String(method), 60)}`;
  return { id, error: { code: METHOD_NOT_FOUND, message } };
}

export function isSessionExpired({ response }: Outcome): boolean {
  if (response?.status === 404) return response.rpcError?.code !== METHOD_NOT_FOUND;
  // An error with our id is about the request. An error about the session has no id.
  return response?.status === 400 && response.envelope?.id !== response.id;
}

import type { AppError } from '../../errors.ts';
import { withMessage } from '../http/network-error.ts';
import type { CallState, Channel, RpcCall } from '../rpc/channel.ts';
import { isReplyTo, type JsonObject, type RpcError } from '../rpc/envelope.ts';
import { type RpcResponse, rpcErrorOf } from '../rpc/reply.ts';
import type { Tool } from '../types.ts';
import { handshakeClient } from './handshake.ts';
import {
  type DetectedProtocol,
  INVALID_PARAMS,
  INVALID_REQUEST,
  MODERN_VERSION,
  NOT_INITIALIZED,
  type Protocol,
  type ProtocolMemory,
  UNSUPPORTED_VERSION,
} from './protocol.ts';
import { type ClientInfo, demandsModern, statelessClient } from './stateless.ts';

type Call = (state: CallState, call: RpcCall) => Promise<RpcResponse>;

/** Opens a session with a service in the configured protocol, or in the one that it is found to use. */
export function openSession({
  channel,
  protocol,
  clientInfo,
  memory,
  warn,
}: {
  channel: Channel;
  protocol: Protocol;
  clientInfo: ClientInfo;
  memory: ProtocolMemory | undefined;
  warn(text: string): void;
}) {
  const legacy = handshakeClient(channel, clientInfo);
  let modern: ReturnType<typeof statelessClient> | undefined;

  // Events with ids are an offer to resume the stream, with or without a handshake.
  const plain: Call = (state, call) => channel.request(state, { resume: {}, ...call });

  const callModern: Call = (state, call) => {
    modern ??= statelessClient(channel, clientInfo, warn);
    return modern.call(state, call);
  };

  /** Makes a call in a protocol. Returns undefined when the service refuses the handshake or the protocol is unknown. */
  async function callIn(era: string, state: CallState, call: RpcCall): Promise<RpcResponse | undefined> {
    if (era === 'bare') return plain(state, call);
    if (era === 'modern') return callModern(state, call);
    if (era !== 'legacy' || (await legacy.open(state)) !== undefined) return undefined;
    return legacy.call(state, call);
  }

  /** Uses the configured protocol. A refusal that demands another one says how to get it. */
  const callFixed: Call = async (state, call) => {
    const withProtocolHint = (error: AppError): AppError =>
      withMessage(error, error.message, {
        hint: `the service may use another protocol than ${protocol}: restaurant tools --protocol auto`,
      });
    const isLegacy = protocol === '2025-11-25';
    const refused = isLegacy ? await legacy.open(state) : undefined;
    if (refused !== undefined) throw withProtocolHint(refused);
    const send = isLegacy ? legacy.call : protocol === MODERN_VERSION ? callModern : plain;
    const response = await send(state, call);
    const { error } = response;
    const isAboutProtocol =
      rpcErrorOf(response) !== undefined &&
      !isPlainRefusal(response) &&
      requiredProtocol(response) !== undefined;
    return error !== undefined && isAboutProtocol
      ? { ...response, error: withProtocolHint(error) }
      : response;
  };

  const callDetected = protocol === 'auto' ? detectingCall(callIn, plain, legacy.version, memory) : callFixed;

  return {
    call(state: CallState, call: RpcCall): Promise<RpcResponse> {
      // A caller that sends the parts of a handshake itself gets none from us.
      const isManual = call.method === 'initialize' || call.method.startsWith('notifications/');
      return (isManual ? plain : callDetected)(state, call);
    },
    /** Returns the tools that may be used in the current protocol. */
    filterUsable: (tools: Tool[]): Tool[] => modern?.filterUsable(tools) ?? tools,
    /** Returns the capabilities that a handshake found, if there was one. */
    capabilities: (): JsonObject | undefined => legacy.capabilities(),
    close: legacy.close,
  };
}

/**
 * Detects the protocol of a service: a plain call first, then what its refusal demands. What worked is stored and used
 * from then on; when the service refuses it, it is forgotten and negotiated again, once.
 * @param callIn makes a call in a protocol; undefined when the service refuses the handshake
 * @param legacyVersion returns the version that a handshake negotiated
 */
function detectingCall(
  callIn: (era: string, ...call: Parameters<Call>) => Promise<RpcResponse | undefined>,
  plain: Call,
  legacyVersion: () => string | undefined,
  memory: ProtocolMemory | undefined,
): Call {
  let detected: DetectedProtocol | undefined;
  /** Protocols that the service has refused; not tried again. */
  const refused = new Set<string>();
  /** A protocol that a second negotiation has confirmed: its refusals are about the request. */
  let confirmed: string | undefined;

  function store(era: string): void {
    const version = era === 'legacy' ? legacyVersion() : era === 'modern' ? MODERN_VERSION : undefined;
    if (detected?.era === era && detected.version === version) return;
    detected = version === undefined ? { era } : { era, version };
    memory?.write(detected);
  }

  function isStillValid(response: RpcResponse | undefined, era: string): response is RpcResponse {
    if (response === undefined) return false;
    if (isPlainRefusal(response, era)) return era === confirmed || !isRefusal(response);
    return requiredProtocol(response) === undefined;
  }

  /** Makes a call in the protocol that the response to a plain call demands. Returns that protocol, if one works. */
  async function negotiate(
    state: CallState,
    call: RpcCall,
    response: RpcResponse,
  ): Promise<{ response: RpcResponse; era?: string }> {
    const required = requiredProtocol(response);
    if (required === undefined) {
      return response.reply === undefined || response.error !== undefined
        ? { response }
        : { response, era: 'bare' };
    }
    const second = refused.has(required) ? undefined : await callIn(required, state, call);
    if (
      second !== undefined &&
      (requiredProtocol(second) === undefined || isPlainRefusal(second, required))
    ) {
      return { response: second, era: required };
    }
    // Refused in that protocol, too: the first refusal is the one to report.
    refused.add(required);
    return { response };
  }

  return async (state, call) => {
    const before = detected ?? memory?.read();
    const first = before && (await callIn(before.era, state, call));
    if (before !== undefined) {
      if (isStillValid(first, before.era)) return first;
      detected = undefined;
      refused.clear();
      memory?.forget();
    }
    const plainResponse = before?.era === 'bare' ? first : undefined;
    const { response, era } = await negotiate(state, call, plainResponse ?? (await plain(state, call)));
    if (era !== undefined) store(era);
    if (before === undefined || first === undefined || !isPlainRefusal(first)) return response;
    if (era !== undefined && era !== before.era) return response;
    // No other protocol works better, so the refusal was about the request.
    confirmed = before.era;
    store(before.era);
    return era === undefined ? first : response;
  };
}

/** Whether the service did not understand the request. 401, 403, 429 and 5xx say nothing about the protocol. */
function isRefusal({ status }: RpcResponse): boolean {
  return [400, 404, 422].includes(status);
}

/** Returns the protocol that the response to a call in another one demands, if it does. */
function requiredProtocol(response: RpcResponse): 'legacy' | 'modern' | undefined {
  const error = rpcErrorOf(response);
  const isRefused = isRefusal(response);
  if (error !== undefined && (isRefused || response.status < 300)) {
    if (demandsModern(error)) return 'modern';
    if (demandsHandshake(error)) return 'legacy';
  }
  return isRefused ? 'legacy' : undefined;
}

/**
 * Whether an error says that the session is not initialized. The official SDKs have no code of their own for it, so
 * words count here: a wrong guess costs one request and changes no response.
 */
function demandsHandshake({ code, message }: RpcError): boolean {
  if (code === NOT_INITIALIZED || code === UNSUPPORTED_VERSION) return true;
  return (
    [0, -32000, INVALID_REQUEST, INVALID_PARAMS].includes(Number(code)) && /\binitiali[sz]/i.test(message)
  );
}

/**
 * Whether a refusal is about this request and not the protocol: an error with our id that every version knows.
 * @param era of the request: MCP servers use -32002 for an unknown resource, too
 */
function isPlainRefusal(response: RpcResponse, era = 'bare'): boolean {
  const error = rpcErrorOf(response);
  if (error === undefined || demandsModern(error)) return false;
  const isUnknownResource =
    era !== 'bare' && error.code === NOT_INITIALIZED && !/\binitiali[sz]/i.test(error.message);
  if (demandsHandshake(error) && !isUnknownResource) return false;
  return isReplyTo(response.envelope, response.id);
}

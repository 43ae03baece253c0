import { AppError } from '../../errors.ts';
import type { JsonObject } from '../../util/object.ts';
import type { CallState, Channel, RpcCall } from '../rpc/channel.ts';
import { isReplyTo, type RpcError } from '../rpc/envelope.ts';
import type { RpcResponse } from '../rpc/reply.ts';
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
import { demandsModern, statelessClient } from './stateless.ts';

/** Makes a call in one protocol. @returns the response, or the error with which the service refuses the handshake */
type Call = (state: CallState, call: RpcCall) => Promise<RpcResponse | AppError>;

type Era = 'bare' | 'legacy' | 'modern';
const ERAS = { bare: 'bare', '2025-11-25': 'legacy', '2026-07-28': 'modern' } as const;

/** Opens a session with a service, in the configured or the detected protocol. */
export function openSession({
  channel,
  protocol,
  memory,
  warn,
}: {
  channel: Channel;
  protocol: Protocol;
  memory: ProtocolMemory | undefined;
  warn(text: string): void;
}) {
  if (protocol !== 'auto' && !Object.hasOwn(ERAS, protocol)) {
    throw new AppError(
      'usage',
      `unknown protocol '${protocol}': expected auto, ${Object.keys(ERAS).join(', ')}`,
    );
  }
  const handshake = handshakeClient(channel);
  const stateless = statelessClient(channel, warn);
  // If events have ids, the stream can be resumed, with or without a handshake.
  const plain = (state: CallState, call: RpcCall) => channel.request(state, { resume: {}, ...call });
  const calls: Readonly<Record<Era, Call>> = {
    bare: plain,
    legacy: handshake.call,
    modern: stateless.call,
  };

  let detected: DetectedProtocol | undefined;
  /** Protocols that the service has refused. They are not tried again. */
  const refused = new Set<string>();
  /** A protocol that a second negotiation has confirmed. Later refusals in it are about the request. */
  let confirmed: string | undefined;

  /** Makes a call in a protocol. @returns undefined if the protocol is unknown or the service refuses the handshake */
  async function callIn(era: string, state: CallState, call: RpcCall): Promise<RpcResponse | undefined> {
    const outcome = Object.hasOwn(calls, era) ? await calls[era as Era](state, call) : undefined;
    return outcome instanceof AppError ? undefined : outcome;
  }

  /** Makes a call in the configured protocol. If the service refuses it, the hint suggests `--protocol auto`. */
  async function callFixed(era: Era, state: CallState, call: RpcCall): Promise<RpcResponse> {
    const withProtocolHint = (error: AppError): AppError =>
      error.withHint(
        `the service may use another protocol than ${protocol}: restaurant tools --protocol auto`,
      );
    const outcome = await calls[era](state, call);
    if (outcome instanceof AppError) throw withProtocolHint(outcome);
    return outcome.rpcError === undefined || isUnderstood(outcome, era)
      ? outcome
      : { ...outcome, error: withProtocolHint(outcome.error) };
  }

  /**
   * Makes a call in the protocol that the response to a plain call requires, unless the service has refused it before.
   * @returns the response to report, and the protocol if it works
   */
  async function negotiate(
    state: CallState,
    call: RpcCall,
    response: RpcResponse,
  ): Promise<{ response: RpcResponse; era?: string }> {
    const era = demandedProtocol(response);
    if (era === undefined) {
      return response.envelope !== undefined && response.status < 300
        ? { response, era: 'bare' }
        : { response };
    }
    const second = refused.has(era) ? undefined : await callIn(era, state, call);
    if (second !== undefined && isUnderstood(second, era)) return { response: second, era };
    // The service refuses that protocol, too: report the first refusal.
    refused.add(era);
    return { response };
  }

  function store(era: string): void {
    const version =
      era === 'legacy' ? handshake.session()?.version : era === 'modern' ? MODERN_VERSION : undefined;
    if (detected?.era === era && detected.version === version) return;
    detected = version === undefined ? { era } : { era, version };
    memory?.write(detected);
  }

  /**
   * Detects the protocol: tries a plain call first, then the protocol that its refusal requires. The protocol that works
   * is stored and used for later calls. If the service refuses it later, it is negotiated again, once.
   */
  async function callDetected(state: CallState, call: RpcCall): Promise<RpcResponse> {
    detected ??= memory?.read();
    const known = detected;
    const first = known && (await callIn(known.era, state, call));
    const isAnswer = known !== undefined && first !== undefined && isUnderstood(first, known.era);
    if (isAnswer && (known.era === confirmed || !isRefusal(first))) return first;
    if (known !== undefined) {
      detected = undefined;
      refused.clear();
      memory?.forget();
    }
    const plainResponse = known?.era === 'bare' && first !== undefined ? first : await plain(state, call);
    const { response, era } = await negotiate(state, call, plainResponse);
    if (era !== undefined) store(era);
    if (!isAnswer || (era !== undefined && era !== known.era)) return response;
    // No other protocol works better, so the refusal was about the request.
    confirmed = known.era;
    store(known.era);
    return era === undefined ? first : response;
  }

  return {
    call(state: CallState, call: RpcCall): Promise<RpcResponse> {
      // A caller that sends the messages of a handshake itself does not need ours.
      if (call.method === 'initialize' || call.method.startsWith('notifications/')) return plain(state, call);
      return protocol === 'auto' ? callDetected(state, call) : callFixed(ERAS[protocol], state, call);
    },
    /** Returns the tools that may be used in the current protocol. */
    filterUsable(tools: Tool[]): Tool[] {
      const era = protocol === 'auto' ? detected?.era : ERAS[protocol];
      return era === 'modern' ? stateless.filterUsable(tools) : tools;
    },
    /** Returns the capabilities that a handshake found, if there was one. */
    capabilities: (): JsonObject | undefined => handshake.session()?.capabilities,
    close: handshake.close,
  };
}

/** Returns whether the service did not understand the request. 401, 403, 429, and 5xx are unrelated to the protocol. */
function isRefusal({ status }: RpcResponse): boolean {
  return [400, 404, 422].includes(status);
}

/** Returns the protocol that the response to a call in another protocol requires, if any. */
function demandedProtocol(response: RpcResponse): 'legacy' | 'modern' | undefined {
  const { rpcError: error } = response;
  const isRefused = isRefusal(response);
  if (error !== undefined && (isRefused || response.status < 300)) {
    if (demandsModern(error)) return 'modern';
    if (demandsHandshake(error)) return 'legacy';
  }
  return isRefused ? 'legacy' : undefined;
}

/**
 * Returns whether the service understood a call in this protocol: it does not require another one, or it rejects the
 * request with an error that has our id and exists in every version.
 */
function isUnderstood(response: RpcResponse, era: string): boolean {
  if (demandedProtocol(response) === undefined) return true;
  const { rpcError: error } = response;
  if (error === undefined || demandsModern(error)) return false;
  // MCP servers use -32002 for an unknown resource, too.
  const isUnknownResource =
    era !== 'bare' && error.code === NOT_INITIALIZED && !INITIALIZE.test(error.message);
  return (!demandsHandshake(error) || isUnknownResource) && isReplyTo(response.envelope, response.id);
}

const INITIALIZE = /\binitiali[sz]/i;

/**
 * Returns whether an error means that the session is not initialized. The official SDKs have no separate code for it, so
 * the message is searched. A wrong guess costs one request and does not change the result.
 */
function demandsHandshake({ code, message }: RpcError): boolean {
  if (code === NOT_INITIALIZED || code === UNSUPPORTED_VERSION) return true;
  return [0, -32000, INVALID_REQUEST, INVALID_PARAMS].includes(Number(code)) && INITIALIZE.test(message);
}

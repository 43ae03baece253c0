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

type Era = 'bare' | 'legacy' | 'modern';
const ERAS = { bare: 'bare', '2025-11-25': 'legacy', '2026-07-28': 'modern' } as const;
const isEra = (era: string | undefined): era is Era => Object.values<string | undefined>(ERAS).includes(era);

/** One protocol that a service may use. */
interface ProtocolClient {
  /** Makes a call. @returns the response, or the error with which the service refuses the handshake */
  call(state: CallState, call: RpcCall): Promise<RpcResponse | AppError>;
  /** Returns the negotiated version. */
  version(): string | undefined;
}

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
  const protocols: Record<Era, ProtocolClient> = {
    bare: { call: plain, version: () => undefined },
    legacy: { call: handshake.call, version: () => handshake.session()?.version },
    modern: { call: stateless.call, version: () => MODERN_VERSION },
  };
  const detector = protocolDetector(protocols, plain, memory);

  /** Makes a call in the configured protocol. If the service refuses it, the hint suggests `--protocol auto`. */
  async function callFixed(era: Era, state: CallState, call: RpcCall): Promise<RpcResponse> {
    const withProtocolHint = (error: AppError): AppError =>
      error.withHint(
        `the service may use another protocol than ${protocol}: restaurant tools --protocol auto`,
      );
    const outcome = await protocols[era].call(state, call);
    if (outcome instanceof AppError) throw withProtocolHint(outcome);
    return outcome.rpcError === undefined || isUnderstood(outcome, era)
      ? outcome
      : { ...outcome, error: withProtocolHint(outcome.error) };
  }

  return {
    call(state: CallState, call: RpcCall): Promise<RpcResponse> {
      // A caller that sends the handshake messages itself gets no handshake from this client.
      if (call.method === 'initialize' || call.method.startsWith('notifications/')) return plain(state, call);
      return protocol === 'auto' ? detector.call(state, call) : callFixed(ERAS[protocol], state, call);
    },
    /** Returns the tools that may be used in the current protocol. */
    filterUsable(tools: Tool[]): Tool[] {
      const era = protocol === 'auto' ? detector.era() : ERAS[protocol];
      return era === 'modern' ? stateless.filterUsable(tools) : tools;
    },
    /** Returns the capabilities that a handshake found, if there was one. */
    capabilities: (): JsonObject | undefined => handshake.session()?.capabilities,
    close: handshake.close,
  };
}

/** Detects which protocol a service uses. The protocol that worked is stored and used until the service refuses it. */
function protocolDetector(
  protocols: Readonly<Record<Era, ProtocolClient>>,
  plain: (state: CallState, call: RpcCall) => Promise<RpcResponse>,
  memory: ProtocolMemory | undefined,
) {
  let detected: DetectedProtocol | undefined;
  /** Protocols that the service has refused. They are not tried again. */
  const refused = new Set<Era>();
  /** A protocol that a second detection has confirmed. Later refusals in it are about the request. */
  let confirmed: Era | undefined;

  function store(era: Era): void {
    const version = protocols[era].version();
    if (detected?.era === era && detected.version === version) return;
    detected = version === undefined ? { era } : { era, version };
    memory?.write(detected);
  }
  function forget(): void {
    detected = undefined;
    refused.clear();
    memory?.forget();
  }

  /** Makes a call in a protocol. @returns undefined if the service refuses the handshake */
  async function callIn(era: Era, state: CallState, call: RpcCall): Promise<RpcResponse | undefined> {
    const outcome = await protocols[era].call(state, call);
    return outcome instanceof AppError ? undefined : outcome;
  }

  /**
   * Calls again in the protocol that the response to a plain call requires, unless the service has refused that protocol
   * before.
   * @returns the response to report, and the protocol that works, if any
   */
  async function detect(
    state: CallState,
    call: RpcCall,
    response: RpcResponse,
  ): Promise<{ response: RpcResponse; era?: Era }> {
    const era = demandedProtocol(response);
    if (era === undefined) {
      if (response.envelope === undefined || response.status >= 300) return { response };
      store('bare');
      return { response, era: 'bare' };
    }
    const second = refused.has(era) ? undefined : await callIn(era, state, call);
    if (second === undefined || !isUnderstood(second, era)) {
      // The service also refuses that protocol, so the first refusal is reported.
      refused.add(era);
      return { response };
    }
    store(era);
    return { response: second, era };
  }

  /** Makes a call in the detected protocol. If the service refuses it, the protocol is detected again, once. */
  async function callDetected(era: Era, state: CallState, call: RpcCall): Promise<RpcResponse> {
    const first = await callIn(era, state, call);
    const understood = first !== undefined && isUnderstood(first, era);
    if (understood && (era === confirmed || !isRefusal(first))) return first;
    forget();
    const next = await detect(state, call, era === 'bare' && first ? first : await plain(state, call));
    if (!understood || (next.era !== undefined && next.era !== era)) return next.response;
    // No other protocol works better, so the refusal was about the request.
    confirmed = era;
    store(era);
    return next.era === undefined ? first : next.response;
  }

  return {
    async call(state: CallState, call: RpcCall): Promise<RpcResponse> {
      detected ??= memory?.read();
      const era = detected?.era;
      if (isEra(era)) return callDetected(era, state, call);
      // Stored by a later version of this program.
      if (era !== undefined) forget();
      return (await detect(state, call, await plain(state, call))).response;
    },
    era: () => detected?.era,
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
function isUnderstood(response: RpcResponse, era: Era): boolean {
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

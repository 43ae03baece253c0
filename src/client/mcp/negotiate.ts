import type { AppError } from '../../errors.ts';
import { withMessage } from '../http/network-error.ts';
import type { CallState, Channel, RpcResponse } from '../rpc/channel.ts';
import { type JsonObject, request } from '../rpc/envelope.ts';
import type { Tool } from '../types.ts';
import {
  type DetectedProtocol,
  isPlainRefusal,
  isRefusal,
  type Protocol,
  type ProtocolClient,
  type ProtocolMemory,
  type RpcCall,
  requiredProtocol,
  rpcErrorOf,
} from './detect.ts';
import { type HandshakeClient, handshakeClient } from './handshake.ts';
import { LEGACY_VERSIONS, MODERN_VERSIONS } from './protocol.ts';
import { type ClientInfo, type StatelessClient, statelessClient } from './stateless.ts';

/** Makes calls in the configured or detected protocol. */
export interface ProtocolSession extends ProtocolClient {
  /** Returns the tools that may be used in the current protocol. */
  filterUsable(tools: Tool[]): Tool[];
  /** Returns the capabilities that a handshake found, if there was one. */
  capabilities(): JsonObject | undefined;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly channel: Channel;
  readonly protocol: Protocol;
  readonly clientInfo: ClientInfo;
  readonly memory?: ProtocolMemory | undefined;
  warn(text: string): void;
}

/** One client for each protocol. */
interface ProtocolClients {
  readonly bare: ProtocolClient;
  readonly legacy: HandshakeClient;
  modern(version: string): StatelessClient;
}

/** Opens a session with a service in the configured protocol, or in the one that it is found to use. */
export function openSession({
  channel,
  protocol,
  clientInfo,
  memory,
  warn,
}: SessionOptions): ProtocolSession {
  let modern: { version: string; client: StatelessClient } | undefined;
  const clients: ProtocolClients = {
    bare: plainClient(channel),
    legacy: handshakeClient(channel, clientInfo),
    modern(version) {
      if (modern?.version !== version) {
        modern = { version, client: statelessClient(channel, clientInfo, version, warn) };
      }
      return modern.client;
    },
  };
  const client = protocol === 'auto' ? negotiatingClient(clients, memory) : fixedClient(clients, protocol);
  return {
    call(state, call) {
      // These are parts of a handshake; made by hand they are sent as they are.
      const isManual = call.method === 'initialize' || call.method.startsWith('notifications/');
      return (isManual ? clients.bare : client).call(state, call);
    },
    filterUsable: (tools) => modern?.client.filterUsable(tools) ?? tools,
    capabilities: () => clients.legacy.capabilities(),
    close: () => clients.legacy.close(),
  };
}

/** Uses the configured protocol. A refusal that demands another one says how to get it. */
function fixedClient(clients: ProtocolClients, protocol: Protocol): ProtocolClient {
  const isLegacy = LEGACY_VERSIONS.includes(protocol);
  const client = isLegacy
    ? clients.legacy
    : MODERN_VERSIONS.includes(protocol)
      ? clients.modern(protocol)
      : clients.bare;
  const withProtocolHint = (error: AppError): AppError =>
    withMessage(error, error.message, {
      hint: `the service may use another protocol than ${protocol}: restaurant tools --protocol auto`,
    });
  return {
    async call(state, call) {
      const refused = isLegacy ? await clients.legacy.open(state) : undefined;
      if (refused !== undefined) throw withProtocolHint(refused);
      const response = await client.call(state, call);
      const { error } = response;
      if (error === undefined || rpcErrorOf(response) === undefined || isPlainRefusal(response)) {
        return response;
      }
      return requiredProtocol(response) === undefined
        ? response
        : { ...response, error: withProtocolHint(error) };
    },
  };
}

/**
 * Detects the protocol of a service: a plain call first, then what its refusal demands. What worked is stored and used
 * from then on; when the service refuses it, it is forgotten and negotiated again, once.
 */
function negotiatingClient(clients: ProtocolClients, memory: ProtocolMemory | undefined): ProtocolClient {
  let detected: DetectedProtocol | undefined;
  let isLoaded = false;
  /** Protocols that the service has refused; not tried again. */
  const refused = new Set<string>();
  /** A protocol that a second negotiation has confirmed: its refusals are about the request. */
  let confirmed: string | undefined;

  function store(found: DetectedProtocol): void {
    if (detected?.era === found.era && detected.version === found.version) return;
    detected = found;
    memory?.write(found);
  }

  function isStillValid(response: RpcResponse | undefined, era: string): response is RpcResponse {
    if (response === undefined) return false;
    if (isPlainRefusal(response, era)) return era === confirmed || !isRefusal(response);
    return requiredProtocol(response) === undefined;
  }

  async function negotiate(state: CallState, call: RpcCall, plain?: RpcResponse): Promise<Negotiated> {
    const response = plain ?? (await clients.bare.call(state, call));
    const required = requiredProtocol(response);
    if (required === undefined) {
      if (response.reply === undefined || response.error !== undefined) return { response };
      return { response, found: { era: 'bare' } };
    }
    if (refused.has(required.era)) return { response };
    const second = await callWith(clients, required, state, call);
    // Refused in that protocol, too: the first refusal is the one to report.
    if (
      second === undefined ||
      (requiredProtocol(second) !== undefined && !isPlainRefusal(second, required.era))
    ) {
      refused.add(required.era);
      return { response };
    }
    const version = 'version' in required ? required.version : clients.legacy.version();
    return {
      response: second,
      found: { era: required.era, ...(version === undefined ? {} : { version }) },
    };
  }

  return {
    async call(state, call) {
      if (!isLoaded) detected = memory?.read();
      isLoaded = true;
      const before = detected;
      const first = before === undefined ? undefined : await callWith(clients, before, state, call);
      if (before !== undefined) {
        if (isStillValid(first, before.era)) return first;
        detected = undefined;
        refused.clear();
        memory?.forget();
      }
      const { response, found } = await negotiate(state, call, before?.era === 'bare' ? first : undefined);
      if (found !== undefined) store(found);
      if (before === undefined || first === undefined || !isPlainRefusal(first)) return response;
      if (found !== undefined && found.era !== before.era) return response;
      // No other protocol works better, so the refusal was about the request.
      confirmed = before.era;
      store(before);
      return found === undefined ? first : response;
    },
  };
}

interface Negotiated {
  readonly response: RpcResponse;
  /** The protocol that works, if one was found. */
  readonly found?: DetectedProtocol;
}

/** Makes a call in a protocol. Returns undefined when the service refuses the handshake or the protocol is unknown. */
async function callWith(
  clients: ProtocolClients,
  { era, version }: DetectedProtocol,
  state: CallState,
  call: RpcCall,
): Promise<RpcResponse | undefined> {
  if (era === 'bare') return clients.bare.call(state, call);
  if (era === 'modern') {
    const known = MODERN_VERSIONS.find((each) => each === version) ?? MODERN_VERSIONS[0] ?? '';
    return clients.modern(known).call(state, call);
  }
  if (era !== 'legacy' || (await clients.legacy.open(state)) !== undefined) return undefined;
  return clients.legacy.call(state, call);
}

/** Plain JSON-RPC: the call and nothing before it. */
function plainClient(channel: Channel): ProtocolClient {
  return {
    call: (state, { method, params, headers = {}, onMessage }) =>
      channel.request(state, {
        build: (id) => ({ ...request(id, method, params) }),
        headers,
        // Events with ids are an offer to resume the stream, with or without a handshake.
        resume: {},
        ...(onMessage === undefined ? {} : { onMessage }),
      }),
  };
}

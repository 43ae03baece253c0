import type { AppError } from '../../errors.ts';
import { withMessage } from '../http/network-error.ts';
import type { CallState, Channel, RpcResponse } from '../rpc/channel.ts';
import { type JsonObject, request } from '../rpc/envelope.ts';
import type { Tool } from '../types.ts';
import {
  type DetectedProtocol,
  isPlainRefusal,
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

export interface ProtocolSession extends ProtocolClient {
  /** The tools that may be used in the protocol that is spoken. */
  filterUsable(tools: Tool[]): Tool[];
  /** The capabilities that a handshake found, if there was one. */
  capabilities(): JsonObject | undefined;
}

export interface SessionOptions {
  readonly channel: Channel;
  readonly protocol: Protocol;
  readonly clientInfo: ClientInfo;
  readonly memory?: ProtocolMemory | undefined;
  warn(text: string): void;
}

/** Speaks to a service in the protocol that is set, or in the one that it is found to understand. */
export function openSession(options: SessionOptions): ProtocolSession {
  const speakers = openSpeakers(options);
  const { protocol } = options;
  const speaker =
    protocol === 'auto' ? negotiatingClient(speakers, options.memory) : fixedClient(speakers, protocol);
  return {
    call: (call, wanted) => {
      // These are the parts of a handshake; made by hand they go as they are.
      const byHand = wanted.method === 'initialize' || wanted.method.startsWith('notifications/');
      return (byHand ? speakers.bare : speaker).call(call, wanted);
    },
    filterUsable: (tools) => speakers.openModern()?.filterUsable(tools) ?? tools,
    capabilities: () => speakers.legacy.capabilities(),
    close: () => speakers.legacy.close(),
  };
}

export interface ProtocolClients {
  readonly bare: ProtocolClient;
  readonly legacy: HandshakeClient;
  modern(version: string): StatelessClient;
  /** The modern speaker, if one was needed. */
  openModern(): StatelessClient | undefined;
}

function openSpeakers({ channel, clientInfo, warn }: SessionOptions): ProtocolClients {
  let modern: { version: string; speaker: StatelessClient } | undefined;
  return {
    bare: plainClient(channel),
    legacy: handshakeClient(channel, clientInfo),
    modern(version) {
      if (modern?.version !== version) {
        modern = { version, speaker: statelessClient(channel, clientInfo, version, warn) };
      }
      return modern.speaker;
    },
    openModern: () => modern?.speaker,
  };
}

/** Speaks as it was told. A refusal that asks for another protocol says how to get it. */
function fixedClient(speakers: ProtocolClients, protocol: Protocol): ProtocolClient {
  const isLegacy = LEGACY_VERSIONS.includes(protocol);
  const speaker = isLegacy
    ? speakers.legacy
    : MODERN_VERSIONS.includes(protocol)
      ? speakers.modern(protocol)
      : speakers.bare;
  const hinted = (error: AppError): AppError =>
    withMessage(error, error.message, {
      hint: `it may want another protocol than ${protocol}: restaurant tools --protocol auto`,
    });
  return {
    async call(call, wanted) {
      const refused = isLegacy ? await speakers.legacy.open(call) : undefined;
      if (refused !== undefined) throw hinted(refused);
      const answer = await speaker.call(call, wanted);
      const { error } = answer;
      if (error === undefined || rpcErrorOf(answer) === undefined || isPlainRefusal(answer, answer.id))
        return answer;
      return requiredProtocol(answer) === undefined ? answer : { ...answer, error: hinted(error) };
    },
    close: async () => {},
  };
}

/** Speaks plain JSON-RPC: a call and nothing before it. */
function plainClient(channel: Channel): ProtocolClient {
  return {
    call: (call, { method, params, headers = {}, onMessage }) =>
      channel.request(call, {
        build: (id) => ({ ...request(id, method, params) }),
        headers,
        // Events with ids are the offer to take up a stream, handshake or not.
        resume: {},
        ...(onMessage === undefined ? {} : { onMessage: onMessage }),
      }),
    close: async () => {},
  };
}

/** Finds out what a service speaks: plain first, and what its refusal asks for. What worked is remembered. */
export function negotiatingClient(
  speakers: ProtocolClients,
  memory: ProtocolMemory | undefined,
): ProtocolClient {
  let known: DetectedProtocol | undefined;
  let asked = false;
  /** Eras that the service has refused: not tried twice. */
  const ruledOut = new Set<string>();

  function remember(found: DetectedProtocol): void {
    if (known?.era === found.era && known.version === found.version) return;
    known = found;
    memory?.write(found);
  }

  /** Whether an answer in the era that worked before is to be kept. If not, that era is forgotten. */
  function stillWorks(answer: RpcResponse | undefined): answer is RpcResponse {
    if (answer !== undefined && requiredProtocol(answer) === undefined) return true;
    if (answer !== undefined && isPlainRefusal(answer, answer.id)) return true;
    known = undefined;
    memory?.forget();
    return false;
  }

  return {
    async call(call, wanted) {
      if (!asked) known = memory?.read();
      asked = true;
      const before = known;
      const first = before === undefined ? undefined : await speakAs(speakers, before, call, wanted);
      if (before !== undefined && stillWorks(first)) return first;
      const plain = before?.era === 'bare' ? first : undefined;
      const answer = plain ?? (await speakers.bare.call(call, wanted));
      const demand = requiredProtocol(answer);
      if (demand === undefined) {
        if (answer.reply !== undefined && answer.error === undefined) remember({ era: 'bare' });
        return answer;
      }
      const found: DetectedProtocol =
        demand.era === 'modern' ? { era: 'modern', version: demand.version } : { era: 'legacy' };
      if (ruledOut.has(found.era)) return answer;
      const second = await speakAs(speakers, found, call, wanted);
      // Refused in that way too: the first refusal is the one to tell.
      if (
        second === undefined ||
        (requiredProtocol(second) !== undefined && !isPlainRefusal(second, second.id))
      ) {
        ruledOut.add(found.era);
        return answer;
      }
      const version = found.version ?? speakers.legacy.version();
      remember({ era: found.era, ...(version === undefined ? {} : { version }) });
      return second;
    },
    close: async () => {},
  };
}

/** Makes a call in an era; undefined when the service refuses the handshake, or the era is not known. */
async function speakAs(
  speakers: ProtocolClients,
  { era, version }: DetectedProtocol,
  call: CallState,
  wanted: RpcCall,
): Promise<RpcResponse | undefined> {
  if (era === 'bare') return speakers.bare.call(call, wanted);
  if (era === 'modern') {
    return speakers
      .modern(MODERN_VERSIONS.find((each) => each === version) ?? MODERN_VERSIONS[0] ?? '')
      .call(call, wanted);
  }
  if (era !== 'legacy') return undefined;
  const refused: AppError | undefined = await speakers.legacy.open(call);
  return refused === undefined ? speakers.legacy.call(call, wanted) : undefined;
}

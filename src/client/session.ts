import type { AppError } from '../errors.ts';
import type { Call, Channel, ChannelAnswer } from './channel.ts';
import { demandIn, isPlainRefusal, rpcErrorOf } from './era.ts';
import { reworded } from './failure.ts';
import type { RequestHeaders } from './headers.ts';
import { learningSpeaker } from './learn.ts';
import { LEGACY_VERSIONS, type LegacySpeaker, legacySpeaker } from './legacy.ts';
import { type ClientInfo, MODERN_VERSIONS } from './modern.ts';
import { type ModernSpeaker, modernSpeaker } from './modern-speaker.ts';
import { type JsonObject, request } from './rpc.ts';
import type { RpcRequest, Tool } from './types.ts';

/** Which protocol to speak: found out, plain JSON-RPC, or a revision of MCP. */
export type Protocol = 'auto' | 'bare' | '2025-11-25' | '2026-07-28';

/** What an endpoint was found to speak. */
export interface Remembered {
  readonly era: string;
  /** Revision that was agreed on. */
  readonly version?: string;
}

/** Keeps what an endpoint speaks between runs. */
export interface SessionMemory {
  read(): Remembered | undefined;
  write(value: Remembered): void;
  forget(): void;
}

/** A call as a caller means it, whatever the protocol. */
export interface Wanted {
  readonly method: string;
  readonly params?: RpcRequest['params'];
  readonly headers?: RequestHeaders;
  /** The tool that is called, where its schema is known. */
  readonly tool?: Tool | undefined;
  /** Gets the notifications that precede the answer, and asks for those of progress where the protocol can. */
  onMessage?(message: JsonObject): void;
}

/** One way to make a call. */
export interface Speaker {
  call(call: Call, wanted: Wanted): Promise<ChannelAnswer>;
  close(): Promise<void>;
}

export interface Session extends Speaker {
  /** The tools that may be used in the protocol that is spoken. */
  screen(tools: Tool[]): Tool[];
}

export interface SessionOptions {
  readonly channel: Channel;
  readonly protocol: Protocol;
  readonly clientInfo: ClientInfo;
  readonly memory?: SessionMemory | undefined;
  warn(text: string): void;
}

/** Speaks to a service in the protocol that is set, or in the one that it is found to understand. */
export function openSession(options: SessionOptions): Session {
  const speakers = openSpeakers(options);
  const { protocol } = options;
  const speaker =
    protocol === 'auto' ? learningSpeaker(speakers, options.memory) : fixedSpeaker(speakers, protocol);
  return {
    call: (call, wanted) => {
      // These are the parts of a handshake; made by hand they go as they are.
      const byHand = wanted.method === 'initialize' || wanted.method.startsWith('notifications/');
      return (byHand ? speakers.bare : speaker).call(call, wanted);
    },
    screen: (tools) => speakers.openModern()?.screen(tools) ?? tools,
    close: () => speakers.legacy.close(),
  };
}

export interface Speakers {
  readonly bare: Speaker;
  readonly legacy: LegacySpeaker;
  modern(version: string): ModernSpeaker;
  /** The modern speaker, if one was needed. */
  openModern(): ModernSpeaker | undefined;
}

function openSpeakers({ channel, clientInfo, warn }: SessionOptions): Speakers {
  let modern: { version: string; speaker: ModernSpeaker } | undefined;
  return {
    bare: bareSpeaker(channel),
    legacy: legacySpeaker(channel, clientInfo),
    modern(version) {
      if (modern?.version !== version) {
        modern = { version, speaker: modernSpeaker(channel, clientInfo, version, warn) };
      }
      return modern.speaker;
    },
    openModern: () => modern?.speaker,
  };
}

/** Speaks as it was told. A refusal that asks for another protocol says how to get it. */
function fixedSpeaker(speakers: Speakers, protocol: Protocol): Speaker {
  const isLegacy = LEGACY_VERSIONS.includes(protocol);
  const speaker = isLegacy
    ? speakers.legacy
    : MODERN_VERSIONS.includes(protocol)
      ? speakers.modern(protocol)
      : speakers.bare;
  const hinted = (error: AppError): AppError =>
    reworded(error, error.message, {
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
      return demandIn(answer) === undefined ? answer : { ...answer, error: hinted(error) };
    },
    close: async () => {},
  };
}

/** Speaks plain JSON-RPC: a call and nothing before it. */
function bareSpeaker(channel: Channel): Speaker {
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

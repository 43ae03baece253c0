import { AppError } from '../../errors.ts';
import { untilAborted } from '../../util/async.ts';
import type { JsonObject } from '../../util/json.ts';
import { send } from '../kernel.ts';
import { type CallState, type Channel, endSession, type RpcCall, type RpcMessage } from '../rpc/exchange.ts';
import type { Outcome } from '../rpc/outcome.ts';
import type { Tool } from '../types.ts';
import type { FailedHandshake, Handshake } from './legacy.ts';
import type { ToolHeaders } from './modern.ts';
import {
  type DetectedProtocol,
  type Era,
  isUnderstood,
  MODERN_VERSION,
  nextProtocol,
  type Protocol,
  type ProtocolKnowledge,
  type ProtocolMemory,
  type ProtocolTrial,
} from './protocol.ts';

const ERAS = { bare: 'bare', '2025-11-25': 'legacy', '2026-07-28': 'modern' } as const;
/** Loaded on first use: most services are called without these protocols. */
const legacy = () => import('./legacy.ts');
const modern = () => import('./modern.ts');
const isEra = (era: string): era is Era => Object.values<string>(ERAS).includes(era);

interface SessionOptions {
  readonly channel: Channel;
  readonly protocol: Protocol;
  readonly memory: ProtocolMemory | undefined;
  warn(text: string): void;
}

/** The protocol of one client, and what its calls have learned about it. */
export class Session {
  readonly #options: SessionOptions;
  /** The configured protocol; undefined if it is detected. */
  readonly #fixed: Era | undefined;
  #knowledge: ProtocolKnowledge = { refused: [] };
  #stored: DetectedProtocol | undefined;
  #handshake: Handshake | undefined;
  #opening: Promise<Handshake | FailedHandshake> | undefined;
  #toolHeaders: ToolHeaders = new Map();

  constructor(options: SessionOptions) {
    const { protocol } = options;
    if (protocol !== 'auto' && !Object.hasOwn(ERAS, protocol)) {
      const known = Object.keys(ERAS).join(', ');
      throw new AppError('usage', `unknown protocol '${protocol}': expected auto, ${known}`);
    }
    this.#options = options;
    this.#fixed = protocol === 'auto' ? undefined : ERAS[protocol];
  }

  /** Those of the server; undefined without a handshake. */
  get capabilities(): JsonObject | undefined {
    return this.#handshake?.capabilities;
  }

  get isModern(): boolean {
    return (this.#fixed ?? this.#knowledge.era) === 'modern';
  }

  /** Sends a call in the protocol that is configured or known, else in one after the other until the service understands. */
  async speak(state: CallState, call: RpcCall): Promise<Outcome> {
    const { channel } = this.#options;
    // A caller that sends the handshake messages itself gets no handshake from this client.
    const isHandshake = call.method === 'initialize' || call.method.startsWith('notifications/');
    if (isHandshake) return send(channel, state, plainMessage(call));
    const known = this.#fixed ?? this.#knownEra();
    let era = known ?? 'bare';
    let isRepeated = false;
    const trials: ProtocolTrial[] = [];
    for (;;) {
      const message = await this.#messageIn(era, state, call);
      const isFailed = 'failure' in message;
      const outcome = isFailed ? message : await send(channel, state, message);
      if (!isFailed && !isRepeated && (await this.#mustRepeat(era, state, message, outcome))) {
        isRepeated = true;
        continue;
      }
      const trial: ProtocolTrial = { era, outcome, isHandshakeRefused: isFailed && message.isRefused };
      if (this.#fixed !== undefined) return withProtocol(trial);
      const { next, answer, knowledge } = nextProtocol(this.#knowledge, trials, trial, known !== undefined);
      trials.push(trial);
      this.#learn(knowledge);
      if (answer !== undefined) return answer;
      era = next;
      isRepeated = false;
    }
  }

  /** Leaves out tools that cannot be called. */
  async filterTools(tools: Tool[]): Promise<Tool[]> {
    if (!this.isModern) return tools;
    const { usableTools } = await modern();
    const { usable, headers } = usableTools(tools, this.#options.warn);
    this.#toolHeaders = headers;
    return usable;
  }

  async close(): Promise<void> {
    const handshake = this.#handshake;
    this.#handshake = undefined;
    if (handshake !== undefined && (await legacy()).hasSession(handshake.headers))
      await endSession(this.#options.channel, handshake.headers);
  }

  async #messageIn(era: Era, state: CallState, call: RpcCall): Promise<RpcMessage | FailedHandshake> {
    if (era === 'bare') return plainMessage(call);
    if (era === 'modern') return (await modern()).modernMessage(call, this.#toolHeaders);
    const { legacyMessage } = await legacy();
    const handshake = await this.#openHandshake(state);
    return 'failure' in handshake ? handshake : legacyMessage(this.#options.channel, state, call, handshake);
  }

  async #openHandshake(state: CallState): Promise<Handshake | FailedHandshake> {
    if (this.#handshake !== undefined) return this.#handshake;
    const { forOtherCall, shakeHands } = await legacy();
    // Another call may have started a handshake. If that call was aborted or ran out of time, one that waited starts another.
    while (this.#opening !== undefined) {
      const opening = this.#opening.catch(() => undefined);
      const shared = await untilAborted(opening, state.signal);
      if (shared !== undefined && 'version' in shared) return shared;
      if (shared !== undefined && shared.failure.details.reason !== 'time') return forOtherCall(shared);
    }
    this.#opening = shakeHands(this.#options.channel, state).finally(() => {
      this.#opening = undefined;
    });
    const opened = await this.#opening;
    if ('version' in opened) this.#handshake = opened;
    return opened;
  }

  /** Returns whether a message is sent again: in a new session, or with the headers that the service requires. */
  async #mustRepeat(era: Era, state: CallState, message: RpcMessage, outcome: Outcome): Promise<boolean> {
    if (era === 'bare') return false;
    if (era === 'legacy') {
      const { hasSession, isSessionExpired } = await legacy();
      if (!hasSession(message.resume) || !isSessionExpired(outcome)) return false;
      // Another call may have opened a new session already.
      if (this.#handshake?.headers === message.resume) this.#handshake = undefined;
      return true;
    }
    const { listHeaders, requiresRepeat, usableTools } = await modern();
    if (!requiresRepeat(message, outcome)) return false;
    const { channel, warn } = this.#options;
    const tools = await listHeaders(channel, state, outcome);
    if (tools !== undefined) this.#toolHeaders = usableTools(tools, warn).headers;
    return true;
  }

  #knownEra(): Era | undefined {
    if (this.#knowledge.era !== undefined) return this.#knowledge.era;
    this.#stored ??= this.#options.memory?.read();
    const era = this.#stored?.era;
    if (era === undefined) return undefined;
    if (isEra(era)) this.#knowledge = { ...this.#knowledge, era };
    // A later version of this program may have stored another one.
    else this.#forget();
    return this.#knowledge.era;
  }

  #learn(knowledge: ProtocolKnowledge): void {
    const { era } = knowledge;
    this.#knowledge = knowledge;
    if (era === undefined) {
      this.#forget();
      return;
    }
    const version = { bare: undefined, legacy: this.#handshake?.version, modern: MODERN_VERSION }[era];
    if (this.#stored?.era === era && this.#stored.version === version) return;
    this.#stored = { era, ...(version !== undefined && { version }) };
    this.#options.memory?.write(this.#stored);
  }

  #forget(): void {
    if (this.#stored === undefined) return;
    this.#stored = undefined;
    this.#options.memory?.forget();
  }
}

/** If events have ids, the stream can be resumed, with or without a handshake. */
const plainMessage = (call: RpcCall): RpcMessage => ({ resume: {}, ...call });

/** Names the configured protocol in a failure, if the service may use another one. */
function withProtocol(trial: ProtocolTrial): Outcome {
  const { era, outcome, isHandshakeRefused } = trial;
  const { failure, response } = outcome;
  if (failure === undefined) return outcome;
  const isOther = isHandshakeRefused || (response?.rpcError !== undefined && !isUnderstood(trial));
  if (!isOther) return outcome;
  return { ...outcome, failure: failure.add({ protocol: protocolName(era) }) };
}

const protocolName = (era: Era): string => Object.entries(ERAS).find(([, each]) => each === era)?.[0] ?? era;

import { AppError } from '../../errors.ts';
import type { JsonObject } from '../../util/json.ts';
import { send } from '../kernel.ts';
import { type CallState, type Channel, endSession, type RpcCall, type RpcMessage } from '../rpc/exchange.ts';
import type { Outcome } from '../rpc/outcome.ts';
import type { Tool } from '../types.ts';
import {
  type FailedHandshake,
  type Handshake,
  hasSession,
  isSessionExpired,
  legacyMessage,
  shakeHands,
} from './handshake.ts';
import {
  type DetectedProtocol,
  type Era,
  isUnderstood,
  type Knowledge,
  MODERN_VERSION,
  nextProtocol,
  type Protocol,
  type ProtocolMemory,
  type Trial,
} from './protocol.ts';
import { listHeaders, modernMessage, requiresRepeat, type ToolHeaders, usableTools } from './stateless.ts';

const ERAS = { bare: 'bare', '2025-11-25': 'legacy', '2026-07-28': 'modern' } as const;
const isEra = (era: string): era is Era => Object.values<string>(ERAS).includes(era);

/** The protocol state of one client, which its calls share. */
export interface Session {
  readonly channel: Channel;
  /** The configured protocol; undefined if it is detected. */
  readonly fixed: Era | undefined;
  readonly memory: ProtocolMemory | undefined;
  /** Declared in the handshake. */
  readonly capabilities: JsonObject;
  stored: DetectedProtocol | undefined;
  warn(text: string): void;
  knowledge: Knowledge;
  handshake: Handshake | undefined;
  opening: Promise<Handshake | FailedHandshake> | undefined;
  toolHeaders: ToolHeaders;
}

export function openSession({
  protocol,
  ...options
}: Pick<Session, 'channel' | 'memory' | 'capabilities' | 'warn'> & { readonly protocol: Protocol }): Session {
  if (protocol !== 'auto' && !Object.hasOwn(ERAS, protocol)) {
    const known = Object.keys(ERAS).join(', ');
    throw new AppError('usage', `unknown protocol '${protocol}': expected auto, ${known}`);
  }
  return {
    ...options,
    fixed: protocol === 'auto' ? undefined : ERAS[protocol],
    stored: undefined,
    knowledge: { refused: [] },
    handshake: undefined,
    opening: undefined,
    toolHeaders: new Map(),
  };
}

export async function speak(session: Session, state: CallState, call: RpcCall): Promise<Outcome> {
  const { channel, fixed } = session;
  // A caller that sends the handshake messages itself gets no handshake from this client.
  const isHandshake = call.method === 'initialize' || call.method.startsWith('notifications/');
  if (isHandshake) return send(channel, state, plainMessage(call));
  const known = fixed ?? knownEra(session);
  let era = known ?? 'bare';
  let isRepeated = false;
  const trials: Trial[] = [];
  for (;;) {
    const message = await messageIn(session, era, state, call);
    const outcome = 'failure' in message ? message : await send(channel, state, message);
    if (!isRepeated && 'method' in message && (await mustRepeat(session, era, state, message, outcome))) {
      isRepeated = true;
      continue;
    }
    const trial: Trial = { era, outcome, ...('isRefused' in message && message.isRefused && REFUSED) };
    if (fixed !== undefined) return asFixed(trial);
    const { next, answer, knowledge } = nextProtocol(session.knowledge, trials, trial, known !== undefined);
    trials.push(trial);
    learn(session, knowledge);
    if (answer !== undefined) return answer;
    era = next;
    isRepeated = false;
  }
}

const REFUSED = { isHandshake: true } as const;

export async function closeSession(session: Session): Promise<void> {
  const { handshake } = session;
  session.handshake = undefined;
  if (handshake !== undefined && hasSession(handshake.headers))
    await endSession(session.channel, handshake.headers);
}

export const isModern = ({ fixed, knowledge }: Session): boolean => (fixed ?? knowledge.era) === 'modern';

export function filterTools(session: Session, tools: Tool[]): Tool[] {
  if (!isModern(session)) return tools;
  const { usable, headers } = usableTools(tools, session.warn);
  session.toolHeaders = headers;
  return usable;
}

/** If events have ids, the stream can be resumed, with or without a handshake. */
const plainMessage = (call: RpcCall): RpcMessage => ({ resume: {}, ...call });

async function messageIn(
  session: Session,
  era: Era,
  state: CallState,
  call: RpcCall,
): Promise<RpcMessage | FailedHandshake> {
  if (era === 'bare') return plainMessage(call);
  if (era === 'modern') return modernMessage(call, session.toolHeaders);
  const handshake = await openHandshake(session, state);
  return 'failure' in handshake ? handshake : legacyMessage(session.channel, state, call, handshake);
}

async function openHandshake(session: Session, state: CallState): Promise<Handshake | FailedHandshake> {
  if (session.handshake !== undefined) return session.handshake;
  // Another call may have started a handshake. If that call failed or was aborted, this call starts its own.
  const shared = session.opening && (await session.opening.catch(() => undefined));
  if (shared !== undefined && ('version' in shared || shared.isRefused)) return shared;
  session.opening = shakeHands(session.channel, state, session.capabilities).finally(() => {
    session.opening = undefined;
  });
  const opened = await session.opening;
  if ('version' in opened) session.handshake = opened;
  return opened;
}

/** Returns whether a message is sent again: in a new session, or with the headers that the service requires. */
async function mustRepeat(
  session: Session,
  era: Era,
  state: CallState,
  message: RpcMessage,
  outcome: Outcome,
): Promise<boolean> {
  const { handshake, channel, warn } = session;
  if (era === 'bare') return false;
  if (era === 'legacy') {
    if (!hasSession(message.resume) || !isSessionExpired(outcome)) return false;
    // Another call may have opened a new session already.
    if (handshake?.headers === message.resume) session.handshake = undefined;
    return true;
  }
  if (!requiresRepeat(message, outcome)) return false;
  const tools = await listHeaders(channel, state, outcome);
  if (tools !== undefined) session.toolHeaders = usableTools(tools, warn).headers;
  return true;
}

function asFixed({ era, outcome, isHandshake }: Trial): Outcome {
  const { failure, response } = outcome;
  if (failure === undefined) return outcome;
  const isOther = isHandshake ?? (response?.rpcError !== undefined && !isUnderstood({ era, outcome }));
  if (!isOther) return outcome;
  return { ...outcome, failure: failure.withMessage(failure.message, { protocol: protocolName(era) }) };
}

const protocolName = (era: Era): string => Object.entries(ERAS).find(([, each]) => each === era)?.[0] ?? era;

function knownEra(session: Session): Era | undefined {
  const { knowledge, memory } = session;
  if (knowledge.era !== undefined) return knowledge.era;
  session.stored ??= memory?.read();
  const era = session.stored?.era;
  if (era === undefined) return undefined;
  if (isEra(era)) session.knowledge = { ...knowledge, era };
  // A later version of this program may have stored another one.
  else forget(session);
  return session.knowledge.era;
}

function learn(session: Session, knowledge: Knowledge): void {
  const { era } = knowledge;
  session.knowledge = knowledge;
  if (era === undefined) {
    forget(session);
    return;
  }
  const version = { bare: undefined, legacy: session.handshake?.version, modern: MODERN_VERSION }[era];
  if (session.stored?.era === era && session.stored.version === version) return;
  session.stored = { era, ...(version !== undefined && { version }) };
  session.memory?.write(session.stored);
}

function forget(session: Session): void {
  if (session.stored === undefined) return;
  session.stored = undefined;
  session.memory?.forget();
}

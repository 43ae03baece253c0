import { isObject } from '../../util/object.ts';
import { isReplyTo, type RpcError } from '../rpc/envelope.ts';
import type { Outcome, RpcResponse } from '../rpc/reply.ts';
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  INVALID_REQUEST,
  MISSING_CAPABILITY,
  MODERN_VERSION,
  NOT_INITIALIZED,
  UNSUPPORTED_VERSION,
} from './protocol.ts';

/** Plain JSON-RPC, MCP with a handshake, or MCP 2026-07-28. */
export type Era = 'bare' | 'legacy' | 'modern';

/** Facts about the protocol of a service, learned from its responses. */
export interface Knowledge {
  /** The protocol that worked last. */
  readonly era?: Era | undefined;
  /** A second detection confirmed the protocol, so later refusals are about the request. */
  readonly isConfirmed?: boolean;
  /** Protocols that the service has refused. They are not tried again. */
  readonly refused: readonly Era[];
}

/** The outcome of a message in one protocol. */
export interface Trial {
  readonly era: Era;
  readonly outcome: Outcome;
  /** The service refused the handshake, so the message was not sent. */
  readonly isHandshake?: true;
}

/** The next protocol to try, or the answer of the call. */
export type Step = { readonly knowledge: Knowledge } & (
  | { readonly next: Era; readonly answer?: undefined }
  | { readonly next?: undefined; readonly answer: Outcome }
);

/**
 * Decides what follows the trials of one call. The first trial is in the protocol that is known, else plain. If it is
 * refused, the plain call is tried, then the protocol that its refusal requires. If none works better than the known
 * one, the refusal was about the request.
 */
export function nextProtocol(knowledge: Knowledge, trials: readonly Trial[], isKnown: boolean): Step {
  const [first] = trials;
  const last = trials.at(-1);
  if (first === undefined || last === undefined) return { next: knowledge.era ?? 'bare', knowledge };
  const { outcome } = last;
  // Without a response, nothing is known about the protocol.
  if (outcome.response === undefined && last.isHandshake === undefined) return { answer: outcome, knowledge };
  if (isKnown && trials.length === 1) {
    const accepted = isUnderstood(first) && (knowledge.isConfirmed === true || !isRefusal(first.outcome));
    if (accepted) return { answer: outcome, knowledge };
    if (first.era !== 'bare') return { next: 'bare', knowledge: { refused: [] } };
  }
  const earlier = isKnown ? first : undefined;
  if (last.era === 'bare') {
    const required = requiredProtocol(outcome.response);
    const refused = isKnown && first.era === 'bare' ? [] : knowledge.refused;
    if (required !== undefined && !refused.includes(required))
      return { next: required, knowledge: { refused } };
    const works = required === undefined && isReadable(outcome);
    return settle({ refused, era: works ? 'bare' : undefined }, outcome, earlier);
  }
  if (isUnderstood(last)) return settle({ era: last.era, refused: knowledge.refused }, outcome, earlier);
  // The service refuses that protocol, too, so the refusal of the plain call is reported.
  const plain = trials.findLast(({ era }) => era === 'bare') ?? last;
  return settle({ refused: [...knowledge.refused, last.era] }, plain.outcome, earlier);
}

/** @param earlier the trial in the protocol that was known */
function settle(knowledge: Knowledge, answer: Outcome, earlier: Trial | undefined): Step {
  const { era } = knowledge;
  const isOther = era !== undefined && era !== earlier?.era;
  if (earlier === undefined || isOther || !isUnderstood(earlier)) return { answer, knowledge };
  // No other protocol works better, so the refusal was about the request.
  const confirmed = { ...knowledge, era: earlier.era, isConfirmed: true };
  return { answer: era === undefined ? earlier.outcome : answer, knowledge: confirmed };
}

const isReadable = ({ response }: Outcome): boolean =>
  response?.envelope !== undefined && response.status < 300;

/** Whether the service did not understand the request. 401, 403, 429, and 5xx are unrelated to the protocol. */
const isRefusal = ({ response }: Outcome): boolean => [400, 404, 422].includes(response?.status ?? 0);

/** Returns the protocol that the response to a call in another protocol requires, if any. */
function requiredProtocol(response: RpcResponse | undefined): 'legacy' | 'modern' | undefined {
  if (response === undefined) return undefined;
  const { rpcError: error, status } = response;
  const isRefused = [400, 404, 422].includes(status);
  if (error !== undefined && (isRefused || status < 300)) {
    if (requiresModern(error)) return 'modern';
    if (requiresHandshake(error)) return 'legacy';
  }
  return isRefused ? 'legacy' : undefined;
}

/**
 * Returns whether the service understood a call in a protocol: it does not require another one, or it rejects the request
 * with an error that has our id and exists in every version.
 */
export function isUnderstood({ era, outcome: { response }, isHandshake }: Trial): boolean {
  if (isHandshake === true || response === undefined) return false;
  if (requiredProtocol(response) === undefined) return true;
  const { rpcError: error } = response;
  if (error === undefined || requiresModern(error)) return false;
  // MCP servers use -32002 for an unknown resource, too.
  const isUnknownResource =
    era !== 'bare' && error.code === NOT_INITIALIZED && !INITIALIZE.test(error.message);
  return (!requiresHandshake(error) || isUnknownResource) && isReplyTo(response.envelope, response.id);
}

const INITIALIZE = /\binitiali[sz]/i;

/**
 * Returns whether an error means that the session is not initialized. The official SDKs have no separate code for it, so
 * the message is searched. A wrong guess costs one request and does not change the result.
 */
function requiresHandshake({ code, message }: RpcError): boolean {
  if (code === NOT_INITIALIZED || code === UNSUPPORTED_VERSION) return true;
  return [0, -32000, INVALID_REQUEST, INVALID_PARAMS].includes(Number(code)) && INITIALIZE.test(message);
}

/** Returns whether only a service of MCP 2026-07-28 sends this error. */
export function requiresModern({ code, data }: RpcError): boolean {
  if (code === HEADER_MISMATCH || code === MISSING_CAPABILITY) return true;
  if (!isObject(data)) return false;
  if (code === INVALID_PARAMS) return 'envelope' in data;
  return (
    code === UNSUPPORTED_VERSION && Array.isArray(data.supported) && data.supported.includes(MODERN_VERSION)
  );
}

import { isObject } from '../../util/json.ts';
import { VERSION } from '../../version.ts';
import {
  HEADER_MISMATCH,
  INVALID_PARAMS,
  INVALID_REQUEST,
  isReplyTo,
  MISSING_CAPABILITY,
  NOT_INITIALIZED,
  type RpcError,
  UNSUPPORTED_VERSION,
} from '../rpc/envelope.ts';
import type { Outcome, RpcResponse } from '../rpc/outcome.ts';

export const CLIENT_INFO = { name: 'restaurant-data-cli', version: VERSION };

/** Revision of MCP without handshake and session: every request carries its own metadata. */
export const MODERN_VERSION = '2026-07-28';

/** Revisions with a handshake (`initialize`), newest first. */
export const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** Which protocol to use: detected (`auto`), plain JSON-RPC (`bare`), or a version of MCP. */
export type Protocol = 'auto' | 'bare' | '2025-11-25' | '2026-07-28';

export interface DetectedProtocol {
  /** `bare`, `legacy` (with a handshake) or `modern`. */
  readonly era: string;
  readonly version?: string;
}

/** Stores the detected protocol of an endpoint between runs. */
export interface ProtocolMemory {
  read(): DetectedProtocol | undefined;
  write(value: DetectedProtocol): void;
  forget(): void;
}

export const META_PREFIX = 'io.modelcontextprotocol/';

/** Plain JSON-RPC, MCP with a handshake, or MCP 2026-07-28. */
export type Era = 'bare' | 'legacy' | 'modern';

/** Facts about the protocol of a service, learned from its responses. */
export interface ProtocolKnowledge {
  /** The protocol that worked last. */
  readonly era?: Era | undefined;
  /** A second detection confirmed the protocol, so later refusals are about the request. */
  readonly isConfirmed?: boolean;
  /** Protocols that the service has refused. They are not tried again. */
  readonly refused: readonly Era[];
}

export interface ProtocolTrial {
  readonly era: Era;
  readonly outcome: Outcome;
  /** The service refused the handshake, so the message was not sent. */
  readonly isHandshakeRefused: boolean;
}

type ProtocolStep = { readonly knowledge: ProtocolKnowledge } & (
  | { readonly next: Era; readonly answer?: undefined }
  | { readonly next?: undefined; readonly answer: Outcome }
);

interface Facts {
  readonly knowledge: ProtocolKnowledge;
  readonly last: ProtocolTrial;
  /** The trial in the protocol that was known; undefined if none was. */
  readonly known: ProtocolTrial | undefined;
  readonly plain: ProtocolTrial | undefined;
  readonly required: Era | undefined;
  readonly refused: readonly Era[];
}

interface Rule {
  readonly when: (facts: Facts) => boolean;
  readonly step: (facts: Facts) => ProtocolStep;
}

/** The first rule that applies decides. */
const RULES: readonly Rule[] = [
  {
    // Without a response, nothing is known about the protocol. The refusal of the plain call says more than silence.
    when: ({ last }) => last.outcome.response === undefined && !last.isHandshakeRefused,
    step: ({ last, plain, knowledge }) => {
      const isSilent = last.outcome.failure?.details.status === undefined;
      return { answer: isSilent && plain?.outcome.response ? plain.outcome : last.outcome, knowledge };
    },
  },
  {
    // The known protocol works.
    when: ({ last, known, knowledge }) =>
      last === known &&
      isUnderstood(last) &&
      (knowledge.isConfirmed === true || !isRefusal(last.outcome.response)),
    step: ({ last, knowledge }) => ({ answer: last.outcome, knowledge }),
  },
  {
    // The known protocol is refused: starts again with the plain call.
    when: ({ last, known }) => last === known && last.era !== 'bare',
    step: () => ({ next: 'bare', knowledge: { refused: [] } }),
  },
  {
    // The refusal of the plain call requires another protocol.
    when: ({ last, required, refused }) =>
      last.era === 'bare' && required !== undefined && !refused.includes(required),
    step: ({ required, refused }) => ({ next: required ?? 'bare', knowledge: { refused } }),
  },
  {
    // The plain call works.
    when: ({ last, required }) => last.era === 'bare' && required === undefined && isReadable(last.outcome),
    step: ({ last, refused, known }) => settle({ refused, era: 'bare' }, last.outcome, known),
  },
  {
    // No protocol works.
    when: ({ last }) => last.era === 'bare',
    step: ({ last, refused, known }) => settle({ refused }, last.outcome, known),
  },
  {
    // The required protocol works.
    when: ({ last }) => isUnderstood(last),
    step: ({ last, refused, known }) => settle({ refused, era: last.era }, last.outcome, known),
  },
  {
    // The service refuses that protocol, too, so the refusal of the plain call is reported.
    when: () => true,
    step: ({ last, plain = last, refused, known }) =>
      settle({ refused: [...refused, last.era] }, plain.outcome, known),
  },
];

/**
 * Decides what follows the last trial of a call. The first trial is in the protocol that is known, else plain. If it is
 * refused, the plain call is tried, then the protocol that its refusal requires. If none works better than the known
 * one, the refusal was about the request.
 * @param trials those before the last one
 */
export function nextProtocol(
  knowledge: ProtocolKnowledge,
  trials: readonly ProtocolTrial[],
  last: ProtocolTrial,
  isKnown: boolean,
): ProtocolStep {
  const known = isKnown ? (trials[0] ?? last) : undefined;
  const facts: Facts = {
    knowledge,
    last,
    known,
    plain: [...trials, last].findLast(({ era }) => era === 'bare'),
    required: requiredProtocol(last.outcome.response),
    refused: known?.era === 'bare' ? [] : knowledge.refused,
  };
  const rule = RULES.find(({ when }) => when(facts)) as Rule;
  return rule.step(facts);
}

function settle(
  knowledge: ProtocolKnowledge,
  answer: Outcome,
  known: ProtocolTrial | undefined,
): ProtocolStep {
  const { era } = knowledge;
  const isOther = era !== undefined && era !== known?.era;
  if (known === undefined || isOther || !isUnderstood(known)) return { answer, knowledge };
  // No other protocol works better, so the refusal was about the request.
  const confirmed = { ...knowledge, era: known.era, isConfirmed: true };
  return { answer: era === undefined ? known.outcome : answer, knowledge: confirmed };
}

const isReadable = ({ response }: Outcome): boolean =>
  response?.envelope !== undefined && response.status < 300;

/** Whether the service did not understand the request. 401, 403, 429, and 5xx are unrelated to the protocol. */
const isRefusal = (response: RpcResponse | undefined): boolean =>
  [400, 404, 422].includes(response?.status ?? 0);

function requiredProtocol(response: RpcResponse | undefined): 'legacy' | 'modern' | undefined {
  if (response === undefined) return undefined;
  const { rpcError: error, status } = response;
  if (error !== undefined && (isRefusal(response) || status < 300)) {
    if (requiresModern(error)) return 'modern';
    if (requiresHandshake(error)) return 'legacy';
  }
  return isRefusal(response) ? 'legacy' : undefined;
}

/** It requires no other protocol, or it rejects the request with an error that has our id and exists in every version. */
export function isUnderstood({ era, outcome: { response }, isHandshakeRefused }: ProtocolTrial): boolean {
  if (isHandshakeRefused || response === undefined) return false;
  if (era === 'modern' && response.rpcError?.code === MISSING_CAPABILITY) return true;
  if (requiredProtocol(response) === undefined) return true;
  const { rpcError: error } = response;
  if (error === undefined || requiresModern(error)) return false;
  // MCP servers use -32002 for an unknown resource, too.
  const isUnknownResource =
    era !== 'bare' && error.code === NOT_INITIALIZED && !INITIALIZE.test(error.message);
  return (!requiresHandshake(error) || isUnknownResource) && isReplyTo(response.envelope, response.id);
}

const INITIALIZE = /\binitiali[sz]/i;

/** The official SDKs have no code for it, so the message is searched. A wrong guess costs one request. */
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

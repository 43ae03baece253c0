import { expect, it } from 'vitest';
import { type Era, type Knowledge, nextProtocol, type Trial } from '../../../src/client/mcp/protocol.ts';
import type { Outcome, RpcResponse } from '../../../src/client/rpc/reply.ts';
import { AppError } from '../../../src/errors.ts';

const failure = new AppError('http_error', 'refused');

/** The outcome of request 1: a result, or the error with this code and message. */
function outcome(status: number, code?: number, message = '', data?: unknown): Outcome {
  const error = code === undefined ? undefined : { code, message, data };
  const envelope = { jsonrpc: '2.0', id: 1, ...(error ? { error } : { result: {} }) };
  const response = { id: 1, status, statusText: '', headers: {}, text: '', envelope } satisfies RpcResponse;
  return error === undefined && status < 300
    ? { response }
    : { response: { ...response, ...(error && { rpcError: error }) }, failure };
}

const OUTCOMES = {
  works: outcome(200),
  'is not initialized': outcome(400, -32002, 'Server not initialized'),
  'needs 2026-07-28': outcome(400, -32022, 'Unsupported version', { supported: ['2026-07-28'] }),
  'has bad params': outcome(200, -32602, 'Invalid params'),
  'is a 404': outcome(404),
  'is a 429': outcome(429),
  'has no response': { failure },
} as const;

/** The trial that a step such as `legacy refused the handshake` describes. */
function trial(step: string): Trial {
  const [era, ...words] = step.split(' ');
  const what = words.join(' ');
  return what === 'refused the handshake'
    ? { era: era as Era, outcome: { failure }, isHandshake: true }
    : { era: era as Era, outcome: OUTCOMES[what as keyof typeof OUTCOMES] };
}

const NONE: Knowledge = { refused: [] };
const BARE: Knowledge = { era: 'bare', refused: [] };
const LEGACY: Knowledge = { era: 'legacy', refused: [] };
const MODERN: Knowledge = { era: 'modern', refused: [] };
const NO_LEGACY: Knowledge = { refused: ['legacy'] };

it.each<{
  knowledge?: Knowledge;
  known?: true;
  trials: readonly string[];
  next?: Era;
  answer?: number;
  learns: Knowledge;
}>([
  // Nothing is known: the plain call is first.
  { trials: ['bare works'], answer: 0, learns: BARE },
  { trials: ['bare has bad params'], answer: 0, learns: BARE },
  { trials: ['bare has no response'], answer: 0, learns: NONE },
  { trials: ['bare is a 429'], answer: 0, learns: NONE },
  { trials: ['bare is not initialized'], next: 'legacy', learns: NONE },
  { trials: ['bare is a 404'], next: 'legacy', learns: NONE },
  { trials: ['bare needs 2026-07-28'], next: 'modern', learns: NONE },
  { trials: ['bare is not initialized', 'legacy works'], answer: 1, learns: LEGACY },
  { trials: ['bare needs 2026-07-28', 'modern has bad params'], answer: 1, learns: MODERN },
  // Both are refused: the refusal of the plain call is the answer.
  { trials: ['bare is a 404', 'legacy refused the handshake'], answer: 0, learns: NO_LEGACY },
  { knowledge: NO_LEGACY, trials: ['bare is a 404'], answer: 0, learns: NO_LEGACY },
  // The protocol is known.
  { knowledge: LEGACY, known: true, trials: ['legacy works'], answer: 0, learns: LEGACY },
  { knowledge: LEGACY, known: true, trials: ['legacy is a 404'], next: 'bare', learns: NONE },
  { known: true, trials: ['legacy is a 404', 'bare works'], answer: 1, learns: BARE },
  {
    knowledge: { era: 'bare', refused: ['legacy'] },
    known: true,
    trials: ['bare is not initialized'],
    next: 'legacy',
    learns: NONE,
  },
  // No other protocol works better, so the refusal was about the request.
  { knowledge: BARE, known: true, trials: ['bare is a 429'], answer: 0, learns: BARE },
  {
    known: true,
    trials: ['legacy refused the handshake', 'bare is not initialized', 'legacy refused the handshake'],
    answer: 1,
    learns: NO_LEGACY,
  },
])('after $trials, knowing $knowledge: next $next, answer $answer', (row) => {
  const { knowledge = NONE, known = false, next, answer, learns } = row;
  const trials = row.trials.map(trial);
  const last = trials.at(-1) as Trial;
  const step = nextProtocol(knowledge, trials.slice(0, -1), last, known);
  expect({ next: step.next, answer: step.answer, knowledge: step.knowledge }).toEqual({
    next,
    answer: answer === undefined ? undefined : trials[answer]?.outcome,
    knowledge: learns,
  });
});

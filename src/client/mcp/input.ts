import { AppError } from '../../errors.ts';
import { isObject, type JsonObject, mapValues } from '../../util/json.ts';
import type { CallState, Channel, RpcCall } from '../rpc/exchange.ts';
import type { Outcome } from '../rpc/outcome.ts';
import type { InputRequest, InputSource } from '../types.ts';

/** The requests that a server may send, and the capabilities that they need. */
const NEEDS: ReadonlyMap<string, string> = new Map([
  ['elicitation/create', 'elicitation'],
  ['sampling/createMessage', 'sampling'],
  ['roots/list', 'roots'],
]);

/** The capabilities that only concern such requests. Changes of roots are not reported. */
export function inputCapabilities(capabilities: unknown): JsonObject {
  if (!isObject(capabilities)) return {};
  const { elicitation, sampling, roots } = capabilities;
  return {
    ...(isObject(elicitation) && { elicitation }),
    ...(isObject(sampling) && { sampling }),
    ...(isObject(roots) && { roots: {} }),
  };
}

export const canAnswer = ({ method }: InputRequest, { capabilities }: InputSource): boolean =>
  isObject(capabilities[NEEDS.get(method) ?? '']);

/** Longest time for one input, ms. */
const INPUT_MS = 10 * 60_000;

/** Asks for input. The time limit of the call stands still meanwhile. */
export async function askFor(
  request: InputRequest,
  source: InputSource,
  state: CallState,
  { now }: Pick<Channel, 'now'>,
): Promise<JsonObject> {
  const from = now();
  state.deadline += INPUT_MS;
  try {
    return await source.answer(request, state.signal);
  } finally {
    state.deadline += now() - from - INPUT_MS;
  }
}

const MAX_ROUNDS = 10;

/** Repeats a call with the input that its result requests (MCP 2026-07-28). */
export async function repeatWithInput(
  call: RpcCall,
  first: Outcome,
  input: InputSource,
  state: CallState,
  channel: Channel,
  speak: (call: RpcCall) => Promise<Outcome>,
): Promise<Outcome> {
  const { params } = call;
  let outcome = first;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    if (input.repeats === true || outcome.failure !== undefined) break;
    const required = answerable(outcome.response.envelope.result, input);
    if (required === undefined || Array.isArray(params)) break;
    const { inputRequests, requestState } = required;
    const inputResponses: Record<string, JsonObject> = {};
    for (const [key, request] of Object.entries(inputRequests)) {
      inputResponses[key] = await askFor(request, input, state, channel);
    }
    outcome = await speak({
      ...call,
      params: { ...params, inputResponses, ...(requestState === undefined ? {} : { requestState }) },
    });
  }
  return outcome;
}

interface InputRequired {
  readonly inputRequests: Readonly<Record<string, InputRequest>>;
  readonly requestState: unknown;
}

/** @returns what a result requests, if the source can provide all of it. @throws {AppError} `bad_response` */
export function answerable(result: unknown, input: InputSource): InputRequired | undefined {
  if (!isObject(result) || result.resultType !== 'input_required') return undefined;
  const { inputRequests = {}, requestState } = result;
  const requests = mapValues(isObject(inputRequests) ? inputRequests : {}, (value) => {
    const request = isObject(value) ? inputRequest(value) : undefined;
    if (request === undefined) throw new AppError('bad_response', 'the request for input has no method');
    return request;
  });
  const isKnown = Object.values(requests).every((request) => canAnswer(request, input));
  return isKnown ? { inputRequests: requests, requestState } : undefined;
}

export function inputRequest({ method, params = {} }: JsonObject): InputRequest | undefined {
  return typeof method === 'string' && isObject(params) ? { method, params } : undefined;
}

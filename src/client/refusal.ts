import { AppError, type Code } from '../errors.ts';
import { excerpt } from './excerpt.ts';
import { isObject, type RpcError } from './rpc.ts';

/** How a message begins that repeats the service's own words. */
export const SERVICE_SAYS = 'the service says: ';

/** Words of a refusal that mean one of our codes. They are compared with fields made for programs, never with prose. */
const TOKENS: Readonly<Record<string, Code>> = {
  not_found: 'not_found',
  plan_required: 'plan_required',
  payment_required: 'plan_required',
  upgrade_required: 'plan_required',
  paid_key_required: 'plan_required',
  paid_plan_required: 'plan_required',
  unauthorized: 'unauthorized',
  invalid_key: 'unauthorized',
  invalid_api_key: 'unauthorized',
  rate_limited: 'rate_limited',
};

/** A JSON-RPC `error` as ours. `status` is that of the HTTP answer it came in. */
export function rpcFailure(error: RpcError, status?: number): AppError {
  const data = isObject(error.data) ? error.data : {};
  const code = codeOf([error.code, data.code, data.status, data.reason]) ?? 'rpc_error';
  const number = error.code === undefined ? '' : ` (JSON-RPC error ${excerpt(String(error.code), 40)})`;
  const about = argumentIn(error);
  const what = excerpt(about === undefined ? error.message : `${error.message} (${about})`);
  return new AppError(code, `${SERVICE_SAYS}${what}${number}`, {
    ...(error.code === undefined ? {} : { rpcCode: error.code }),
    ...(status === undefined ? {} : { status }),
  });
}

const INVALID_PARAMS = -32602;
/** Under these names data tells what is wrong with the parameters. */
const ARGUMENT_NAMES = ['argument', 'parameter', 'param', 'field', 'property', 'path', 'name'];

/** The argument that invalid parameters are about, where the data names it and the message does not. */
function argumentIn({ code, message, data }: RpcError): string | undefined {
  if (code !== INVALID_PARAMS) return undefined;
  const [first = undefined] = Array.isArray(data) ? data : [data];
  const named = isObject(first) ? ARGUMENT_NAMES.map((name) => first[name]) : [first];
  const told = named.map((value) => (Array.isArray(value) ? value.join('.') : value));
  const argument = told.find((value) => typeof value === 'string' && value !== '');
  return typeof argument === 'string' && !message.includes(argument) ? excerpt(argument, 80) : undefined;
}

/** The output of a tool that failed, as ours: `output` where its text is JSON, else the text alone. */
export function toolFailure(output: unknown, text: string): AppError {
  const object = isObject(output) ? output : {};
  const inner = isObject(object.error) ? object.error : {};
  const code = codeOf([object.status, object.code, object.error, inner.code, inner.status]);
  const told = [inner.message, object.message, object.error, text].find(
    (part) => typeof part === 'string' && part.trim() !== '',
  );
  const says =
    typeof told === 'string' ? `${SERVICE_SAYS}${excerpt(told)}` : 'the tool failed without a word';
  return new AppError(code ?? 'tool_error', says);
}

function codeOf(tokens: readonly unknown[]): Code | undefined {
  for (const token of tokens) {
    if (typeof token !== 'string' || token.length > 40) continue;
    const code = Object.hasOwn(TOKENS, normal(token)) ? TOKENS[normal(token)] : undefined;
    if (code !== undefined) return code;
  }
  return undefined;
}

/** `Not Found`, `notFound` and `NOT-FOUND` are `not_found`. */
function normal(token: string): string {
  return token
    .trim()
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[\s-]+/g, '_')
    .toLowerCase();
}

import {
  envelope,
  type Fault,
  faultsEnding,
  httpResponse,
  type Reply,
  rowsFor,
  withError,
  withResult,
  withText,
} from './fault.ts';
import { faultSuite } from './suite.ts';

const found = faultsEnding({ exit: 0, stdout: 'Nopa', waits: [] });
const unreadable = faultsEnding({ exit: 7, code: 'bad_response', waits: [] });
const error = faultsEnding({ exit: 7, code: 'rpc_error', waits: [] });
/** Makes faults of JSON that ends early, which is requested once more. */
const cut = faultsEnding({ exit: 7, code: 'bad_response', requests: 2, waits: [250], message: 'ends early' });

/** Changes the text of a valid response. */
const changed =
  (change: (text: string, id: unknown) => string): Reply =>
  ({ id }) =>
    httpResponse(change(envelope(id), id));
const body = (text: string): Reply => changed(() => text);
const sendError =
  (value: unknown): Reply =>
  ({ id }) =>
    httpResponse(withError(id, value));
const replaced = (part: string | RegExp, other: string): Reply =>
  changed((text) => text.replace(part, other));
/** Adds members to the result. */
const withMembers = (members: string): Reply => replaced('{"content"', `{${members},"content"`);
const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;

const texts: Fault[] = [
  ...cut({
    'JSON that ends too early': changed((text) => text.slice(0, -2)),
  }),
  ...unreadable({
    'text after the JSON': [changed((text) => `${text}x`), /offset \d+/],
    'a guard before the JSON': changed((text) => `)]}',\n${text}`),
    '300 levels': [withMembers(`"x":${nested(300)}`), 'deeper than 200'],
    '100,000 levels': [body('['.repeat(100_000)), 'deeper than 200'],
  }),
  ...found({
    '100 levels': withMembers(`"x":${nested(100)}`),
    'a duplicate key, whose last value is used': replaced('"result"', '"result":{"content":[]},"result"'),
    'keys named like properties of every object': withMembers(
      '"__proto__":{"isError":true},"constructor":{"prototype":{"x":1}}',
    ),
    '10,000 keys': withMembers(Array.from({ length: 10_000 }, (_, at) => `"k${at}":${at}`).join()),
  }),
];

const envelopes: Fault[] = [
  ...unreadable(
    rowsFor('the whole body', [null, true, 0, 'hello', [], {}, [[]], [null]], (value) => [
      body(JSON.stringify(value)),
      'expected a JSON-RPC response',
    ]),
  ),
  ...unreadable({
    'keys in the wrong case': [replaced('"result"', '"Result"'), 'with id 1'],
    'a different id': [({ id }) => httpResponse(envelope(Number(id) + 1)), 'with id 1'],
    'no id': replaced(/"id":\d+,/, ''),
    'the request echoed back': ({ body: sent }) => httpResponse(sent),
  }),
  ...found({
    'an id sent back as a string': ({ id }) => httpResponse(envelope(String(id))),
    'no version': replaced('"jsonrpc":"2.0",', ''),
    'a batch': changed((text) => `[{"jsonrpc":"2.0","id":9,"result":{}},null,7,${text}]`),
    'a null error next to a result': replaced('"result"', '"error":null,"result"'),
  }),
  ...error({
    'an error followed by a result, where the error wins': [
      replaced('"result"', '"error":{"code":1,"message":"no"},"result"'),
      'no',
    ],
    'a result followed by an error, where the error wins': [
      changed((text) => `${text.slice(0, -1)},"error":{"code":1,"message":"no"}}`),
      'no',
    ],
  }),
];

const LONG = 'x'.repeat(1_000_000);
const errors: Fault[] = [
  ...error(
    rowsFor('error', [-32700, -32600, -32603, -32000, -32099, 0, 1, 4711], (code) => [
      sendError({ code, message: 'no luck' }),
      `no luck (JSON-RPC error ${code})`,
    ]),
  ),
  ...error({
    'the error "oops"': [sendError('oops'), 'oops'],
    ...rowsFor('the error', [['a'], null, 7, true, {}, { code: 1 }, { message: 3 }], (value) => [
      sendError(value),
      'an error without a message',
    ]),
  }),
  ...error({
    'error -32601 from a server without the tool': [
      sendError({ code: -32601, message: 'Method not found' }),
      'Method not found',
    ],
    'error -32602 about an argument': [
      sendError({ code: -32602, message: 'Invalid', data: { argument: 'city' } }),
      'Invalid (city)',
    ],
    'error -32602 about a path': [
      sendError({ code: -32602, message: 'Invalid', data: [{ path: ['a', 'city'] }] }),
      'Invalid (a.city)',
    ],
    'error -32602 without a path': sendError({ code: -32602, message: 'Invalid', data: [[{}], null] }),
    'a code that is a string': [sendError({ code: 'E_BAD', message: 'no luck' }), 'E_BAD'],
    'a code that is an object': sendError({ code: {}, message: 'no luck' }),
    'a code out of range': ({ id }) =>
      httpResponse(`{"jsonrpc":"2.0","id":${id},"error":{"code":1e999,"message":"no luck"}}`),
    'a message that is a number': sendError({ code: 1, message: 7 }),
    'a message of 1 MB': [sendError({ code: 1, message: LONG }), /^.{1,400}\n/],
    'a code of 1 MB': [sendError({ code: LONG, message: 'no luck' }), /^.{1,400}\n/],
    'a message with escapes and line breaks': sendError({
      code: 1,
      message: '\u001b[2J\u0007\r\nerror: ok\n\u202e\u0000',
    }),
    'an error without an id': [
      () => httpResponse('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no luck"}}'),
      'no luck',
    ],
  }),
  ...faultsEnding({ exit: 7, code: 'tool_error', options: ['--protocol', '2026-07-28'] })({
    'a result that requests input': [
      ({ id }) =>
        httpResponse(
          withResult(id, {
            resultType: 'input_required',
            inputRequests: { who: { method: 'elicitation/create', params: { message: 'Who?' } } },
          }),
        ),
      'requests input',
    ],
  }),
  ...unreadable({
    'a result of an unknown type': [
      ({ id }) => httpResponse(withText(id, '{}').replace('"content"', '"resultType":"odd","content"')),
      { options: ['--protocol', '2026-07-28'] },
    ],
  }),
];

faultSuite('JSON-RPC and JSON', [...texts, ...envelopes, ...errors]);

import { envelope, type Fault, faultsEnding, httpResponse, type Reply, withText } from './fault.ts';
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
    httpResponse(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(value)}}`);
const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;

const texts: Fault[] = [
  cut(
    'JSON that ends too early',
    changed((text) => text.slice(0, -2)),
  ),
  cut(
    'JSON that ends inside a string',
    changed((text) => text.slice(0, 70)),
  ),
  cut('an opening brace', body('{')),
  unreadable(
    'text after the JSON',
    changed((text) => `${text}x`),
    { message: /offset \d+/ },
  ),
  unreadable(
    'two documents',
    changed((text) => `${text}\n${text}`),
    { message: /offset \d+/ },
  ),
  unreadable(
    'a comment',
    changed((text) => `/* hi */${text}`),
  ),
  unreadable(
    'single quotes',
    changed((text) => text.replaceAll('"', "'")),
  ),
  unreadable(
    'NaN',
    changed((text) => text.replace('{"content"', '{"x":NaN,"content"')),
  ),
  unreadable(
    'a trailing comma',
    changed((text) => `${text.slice(0, -1)},}`),
  ),
  unreadable(
    'a raw line break in a string',
    changed((text) => text.replace('2.0', '2\n0')),
  ),
  unreadable(
    'a guard before the JSON',
    changed((text) => `)]}',\n${text}`),
  ),
  unreadable(
    '300 levels',
    changed((text) => text.replace('{"content"', `{"x":${nested(300)},"content"`)),
    { message: 'deeper than 200' },
  ),
  unreadable('100,000 levels', body('['.repeat(100_000)), { message: 'deeper than 200' }),
  found(
    '100 levels',
    changed((text) => text.replace('{"content"', `{"x":${nested(100)},"content"`)),
  ),
  found(
    'a duplicate key, whose last value is used',
    changed((text) => text.replace('"result"', '"result":{"content":[]},"result"')),
  ),
  found(
    'keys named like properties of every object',
    changed((text) =>
      text.replace(
        '{"content"',
        '{"__proto__":{"isError":true},"constructor":{"prototype":{"x":1}},"content"',
      ),
    ),
  ),
  found(
    'numbers out of range',
    changed((text) => text.replace('{"content"', '{"x":1e400,"y":-1e400,"z":5e-400,"content"')),
  ),
  found(
    'escapes of lone surrogates',
    changed((text) => text.replace('{"content"', '{"x":"\\ud800","\\udfff":1,"content"')),
  ),
  found(
    '10,000 keys',
    changed((text) =>
      text.replace(
        '{"content"',
        `{${Array.from({ length: 10_000 }, (_, at) => `"k${at}":${at},`).join('')}"content"`,
      ),
    ),
  ),
];

const envelopes: Fault[] = [
  ...['null', 'true', '0', '"hello"', '[]', '{}', '[[]]', '[null]'].map(
    (text): Fault =>
      unreadable(`${text} as the whole body`, body(text), { message: 'expected a JSON-RPC response' }),
  ),
  unreadable(
    'keys in the wrong case',
    changed((text) => text.replace('"result"', '"Result"')),
  ),
  unreadable(
    'the id in the wrong case',
    changed((text) => text.replace('"id"', '"ID"')),
  ),
  unreadable('a different id', ({ id }) => httpResponse(envelope(Number(id) + 1)), { message: 'with id 1' }),
  unreadable('a null id', () => httpResponse(envelope(null))),
  unreadable('an id that is an array', ({ id }) => httpResponse(envelope([id]))),
  unreadable(
    'no id',
    changed((text) => text.replace(/"id":\d+,/, '')),
  ),
  found('an id sent back as a string', ({ id }) => httpResponse(envelope(String(id)))),
  found(
    'no version',
    changed((text) => text.replace('"jsonrpc":"2.0",', '')),
  ),
  found(
    'a batch',
    changed((text) => `[{"jsonrpc":"2.0","id":9,"result":{}},null,7,${text}]`),
  ),
  unreadable('the request echoed back', ({ body: sent }) => httpResponse(sent)),
  found(
    'a null error next to a result',
    changed((text) => text.replace('"result"', '"error":null,"result"')),
  ),
  error(
    'an error followed by a result, where the error wins',
    changed((text) => text.replace('"result"', '"error":{"code":1,"message":"no"},"result"')),
    { message: 'no' },
  ),
  error(
    'a result followed by an error, where the error wins',
    changed((text) => `${text.slice(0, -1)},"error":{"code":1,"message":"no"}}`),
    { message: 'no' },
  ),
];

const LONG = 'x'.repeat(1_000_000);
const errors: Fault[] = [
  ...[-32700, -32600, -32603, -32000, -32099, 0, 1, 4711].map(
    (code): Fault =>
      error(`error ${code}`, sendError({ code, message: 'no luck' }), {
        message: `no luck (JSON-RPC error ${code})`,
      }),
  ),
  error(
    'error -32601 from a server without the tool',
    sendError({ code: -32601, message: 'Method not found' }),
    {
      message: 'Method not found',
    },
  ),
  error(
    'error -32602 about an argument',
    sendError({ code: -32602, message: 'Invalid', data: { argument: 'city' } }),
    {
      message: 'Invalid (city)',
    },
  ),
  error(
    'error -32602 about a path',
    sendError({ code: -32602, message: 'Invalid', data: [{ path: ['a', 'city'] }] }),
    {
      message: 'Invalid (a.city)',
    },
  ),
  error('error -32602 without a path', sendError({ code: -32602, message: 'Invalid', data: [[{}], null] })),
  ...['oops', ['a'], null, 7, true, {}].map(
    (value): Fault => error(`the error ${JSON.stringify(value)}`, sendError(value)),
  ),
  error('a code that is a string', sendError({ code: 'E_BAD', message: 'no luck' }), { message: 'E_BAD' }),
  error('a code that is an object', sendError({ code: {}, message: 'no luck' })),
  error('a code out of range', ({ id }) =>
    httpResponse(`{"jsonrpc":"2.0","id":${id},"error":{"code":1e999,"message":"no luck"}}`),
  ),
  error('a message that is a number', sendError({ code: 1, message: 7 })),
  error('a message of 1 MB', sendError({ code: 1, message: LONG }), { message: /^.{1,400}\n/ }),
  error('a code of 1 MB', sendError({ code: LONG, message: 'no luck' }), { message: /^.{1,400}\n/ }),
  error(
    'a message with escapes and line breaks',
    sendError({ code: 1, message: '\u001b[2J\u0007\r\nerror: ok\n\u202e\u0000' }),
  ),
  error(
    'an error without an id',
    () => httpResponse('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no luck"}}'),
    { message: 'no luck' },
  ),
  {
    exit: 7,
    code: 'tool_error',
    name: 'a result that requests input',
    options: ['--protocol', '2026-07-28'],
    message: 'requests input',
    reply: ({ id }) =>
      httpResponse(
        JSON.stringify({
          jsonrpc: '2.0',
          id,
          result: {
            resultType: 'input_required',
            inputRequests: { who: { method: 'elicitation/create', params: { message: 'Who?' } } },
          },
        }),
      ),
  },
  unreadable(
    'a result of an unknown type',
    ({ id }) => httpResponse(withText(id, '{}').replace('"content"', '"resultType":"odd","content"')),
    { options: ['--protocol', '2026-07-28'] },
  ),
];

faultSuite('JSON-RPC and JSON', [...texts, ...envelopes, ...errors]);

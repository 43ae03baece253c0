import {
  FOUND as ANSWER,
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
  }),
];

const LONG = 'x'.repeat(1_000_000);
const errors: Fault[] = [
  ...error(
    rowsFor('error', [-32700, -32600, -32601, -32603, -32000, -32099, 0, 1, 4711], (code) => [
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
  }),
];

const failed = faultsEnding({ exit: 7, code: 'tool_error', waits: [] });
const partial = faultsEnding({ exit: 8, code: 'partial', stdout: 'Nopa' });

const result =
  (value: unknown): Reply =>
  ({ id }) =>
    httpResponse(withResult(id, value));
const text =
  (value: string): Reply =>
  ({ id }) =>
    httpResponse(withText(id, value));
const output =
  (value: unknown): Reply =>
  ({ id }) =>
    httpResponse(envelope(id, value));
const results = (...list: unknown[]) => output({ status: 'ok', results: list, total_matches: list.length });
const CALL = ['call', 'find_restaurant', 'name=x', 'city=y'];
const NOPA = { service_id: 'r-1', name: 'Nopa' };
const BLOCK = { type: 'text', text: JSON.stringify(ANSWER) };

const contents: Fault[] = [
  ...unreadable({
    ...rowsFor('content', [[], undefined, null, {}, 'text', 7], (content) => [
      result({ content }),
      'no content',
    ]),
    'no content from call': [result({ content: null }), { words: CALL, message: 'no content' }],
    ...rowsFor('the result', [null, [], 'text', 7, true], result),
    'only images': [
      result({ content: [{ type: 'image', data: 'x', mimeType: 'image/png' }] }),
      'no text block',
    ],
  }),
  ...found({
    'only structured content': result({ structuredContent: ANSWER }),
    'structured content with an empty content list': result({ content: [], structuredContent: ANSWER }),
    'an image, a link and invalid blocks before the text': result({
      content: [
        { type: 'image', data: '', mimeType: 'x' },
        { type: 'resource_link', uri: 'file:///etc/passwd' },
        null,
        7,
        [],
        {},
        { type: 'text' },
        { type: 'text', text: 7 },
        { type: 'image', text: 'x' },
        BLOCK,
      ],
    }),
    'a block without a type': result({ content: [{ text: BLOCK.text }] }),
  }),
];

const outputs: Fault[] = [
  ...unreadable({
    prose: [text('I found Nopa for you!'), "the tool's output is not valid JSON"],
    'long prose': [text(`sorry ${'x'.repeat(900)}`), /^.*sorry xxx.{1,350}\n/],
    'prose with escapes': text('\u001b]0;title\u0007 \u202eNopa'),
    'an empty text': text(''),
    'JSON that ends too early': [text('{"status":"ok","results":['), 'ends early'],
    'JSON in a code fence': text(`\`\`\`json\n${BLOCK.text}\n\`\`\``),
    'JSON of 300 levels': [
      text(`{"status":"ok","results":[],"x":${'['.repeat(300)}${']'.repeat(300)}}`),
      'deeper',
    ],
  }),
  ...unreadable(
    rowsFor('JSON text of', [[], null, 7, 'Nopa', true], (value) => [
      output(value),
      /got (an array|null|a number|a string|a boolean)/,
    ]),
  ),
  ...faultsEnding({ exit: 0 })({
    'prose from call, which is printed': [
      text('I found Nopa for you!'),
      { words: CALL, stdout: 'I found Nopa' },
    ],
  }),
];

const failures: Fault[] = [
  ...failed(
    rowsFor('isError', [true, 'true', 1, {}], (isError) => [
      result({ content: [{ type: 'text', text: 'no \u001b[31mluck' }], isError }),
      /no .*luck/,
    ]),
  ),
  ...found(
    rowsFor('isError', [false, null, 0, '', 'false'], (isError) => result({ content: [BLOCK], isError })),
  ),
  ...failed({
    'a failure without a message': [result({ isError: true }), 'without an error message'],
    'a status "error"': [output({ status: 'error', message: 'no luck' }), 'no luck'],
    'a long message': [output({ status: 'error', message: 'x'.repeat(5000) }), /^.{200,230}\n/],
  }),
  ...faultsEnding({ exit: 3, code: 'not_found' })({
    'a status "not_found"': output({ status: 'not_found', message: 'nothing here' }),
  }),
];

const lists: Fault[] = [
  ...unreadable(
    rowsFor('results', [undefined, null, {}, 'Nopa', 7], (value) => [
      output({ status: 'ok', results: value }),
      'expected an array "results"',
    ]),
  ),
  ...faultsEnding({ exit: 0 })({ 'an empty list of results': results() }),
  ...partial({
    ...rowsFor('among valid results', [null, 7, 'Nopa', [], true], (value) => [
      results(NOPA, value, { ...NOPA, service_id: 'r-2' }),
      '1 of 3',
    ]),
    'only invalid results': [results(null, 7), { message: '2 of 2', stdout: '' }],
  }),
  ...found({
    'a restaurant without fields': results(NOPA, {}),
    'fields of the wrong types': results(NOPA, {
      service_id: 7,
      name: null,
      address: [],
      coordinates: 'here',
      city: {},
      cuisine_tags: { a: 1 },
      grade: 4.5,
      coverage_level: false,
      neighborhood: ['x', null],
    }),
    'invalid coordinates': [
      results(
        { ...NOPA, coordinates: { lat: 'x', lng: null } },
        { ...NOPA, coordinates: { lat: 1e308, lng: -1e308 } },
        { ...NOPA, coordinates: null },
      ),
      { options: ['--columns', 'name,lat,lng'] },
    ],
    '10,000 unknown fields': results({
      ...NOPA,
      ...Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, at])),
    }),
    'the same restaurant 500 times': results(...Array.from({ length: 500 }, () => NOPA)),
  }),
  ...found(
    rowsFor('total_matches', [undefined, null, 'many', -1, 1e308, {}], (total) =>
      output({ ...ANSWER, total_matches: total }),
    ),
  ),
];

/** Sends a list of tools in which every page has a next cursor. */
const pages: Reply = ({ id, count, socket }) =>
  void socket.write(
    httpResponse(withResult(id, { tools: [{ name: 'find_restaurant' }], nextCursor: `${count}` })),
  );

const toolLists: Fault[] = [
  ...unreadable({
    'an endless list of tools': [pages, { words: ['tools'], requests: 100, message: 'more than 100 pages' }],
    'a list of tools that is not an array': [result({ tools: 'many' }), { words: ['tools'] }],
  }),
  ...faultsEnding({ exit: 0, words: ['tools'] })({
    'a list of invalid tools': result({ tools: [null, 7, {}, { name: 7 }, []] }),
    'a tool without a schema': [result({ tools: [{ name: 'bare' }] }), { stdout: 'bare' }],
  }),
];

faultSuite('JSON-RPC and JSON', [...texts, ...envelopes, ...errors]);
faultSuite('tool payload', [...contents, ...outputs, ...failures, ...lists, ...toolLists]);

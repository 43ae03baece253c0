import {
  FOUND as ANSWER,
  envelope,
  type Fault,
  faultsEnding,
  httpResponse,
  type Reply,
  withResult,
  withText,
} from './fault.ts';
import { faultSuite } from './suite.ts';

const found = faultsEnding({ exit: 0, stdout: 'Nopa', waits: [] });
const unreadable = faultsEnding({ exit: 7, code: 'bad_response', waits: [] });
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
const NOPA = { service_id: 'r-1', name: 'Nopa' };
const BLOCK = { type: 'text', text: JSON.stringify(ANSWER) };
const shown = (value: unknown) => JSON.stringify(value) ?? 'nothing';

const contents: Fault[] = [
  ...[[], undefined, null, {}, 'text', 7].map(
    (content): Fault =>
      unreadable(`content ${shown(content)}`, result({ content }), { message: 'no content' }),
  ),
  ...[null, [], 'text', 7, true].map(
    (value): Fault => unreadable(`the result ${shown(value)}`, result(value)),
  ),
  found('only structured content', result({ structuredContent: ANSWER })),
  found('structured content with an empty content list', result({ content: [], structuredContent: ANSWER })),
  found(
    'an image, a link and invalid blocks before the text',
    result({
      content: [
        { type: 'image', data: '', mimeType: 'x' },
        { type: 'resource_link', uri: 'file:///etc/passwd' },
        null,
        7,
        [],
        {},
        { type: 'text' },
        { type: 'text', text: 7 },
        BLOCK,
      ],
    }),
  ),
  found('a block without a type', result({ content: [{ text: BLOCK.text }] })),
  unreadable('only images', result({ content: [{ type: 'image', data: 'x', mimeType: 'image/png' }] }), {
    message: 'no text block',
  }),
];

const texts: Fault[] = [
  unreadable('prose', text('I found Nopa for you!'), { message: 'not JSON' }),
  unreadable('prose with escapes', text('\u001b]0;title\u0007 \u202eNopa')),
  unreadable('an empty text', text('')),
  unreadable('JSON that ends too early', text('{"status":"ok","results":['), { message: 'ends early' }),
  unreadable('JSON in a code fence', text(`\`\`\`json\n${BLOCK.text}\n\`\`\``)),
  ...['[]', 'null', '7', '"Nopa"', 'true'].map(
    (value): Fault =>
      unreadable(`the JSON text ${value}`, text(value), {
        message: /got (an array|null|a number|a string|a boolean)/,
      }),
  ),
  unreadable(
    'JSON of 300 levels',
    text(`{"status":"ok","results":[],"x":${'['.repeat(300)}${']'.repeat(300)}}`),
    { message: 'deeper' },
  ),
  {
    exit: 0,
    name: 'prose from call, which is printed',
    reply: text('I found Nopa for you!'),
    words: ['call', 'find_restaurant', 'name=x', 'city=y'],
    stdout: 'I found Nopa',
  },
];

const failures: Fault[] = [
  ...[true, 'true', 1, {}].map(
    (isError): Fault =>
      failed(
        `isError ${shown(isError)}`,
        result({ content: [{ type: 'text', text: 'no \u001b[31mluck' }], isError }),
        { message: /no .*luck/ },
      ),
  ),
  ...[false, null, 0, '', 'false'].map(
    (isError): Fault => found(`isError ${shown(isError)}`, result({ content: [BLOCK], isError })),
  ),
  failed('a failure without a message', result({ isError: true }), { message: 'without an error message' }),
  failed('a status "error"', output({ status: 'error', message: 'no luck' }), {
    message: 'no luck',
  }),
  {
    exit: 3,
    code: 'not_found',
    name: 'a status "not_found"',
    reply: output({ status: 'not_found', message: 'nothing here' }),
  },
];

const lists: Fault[] = [
  ...[undefined, null, {}, 'Nopa', 7].map(
    (value): Fault =>
      unreadable(`results ${shown(value)}`, output({ status: 'ok', results: value }), {
        message: 'expected an array "results"',
      }),
  ),
  { exit: 0, name: 'an empty list of results', reply: results() },
  ...[null, 7, 'Nopa', [], true].map(
    (value): Fault =>
      partial(
        `the result ${shown(value)} among others`,
        results(NOPA, value, { ...NOPA, service_id: 'r-2' }),
        { message: '1 of 3' },
      ),
  ),
  partial('only invalid results', results(null, 7), { message: '2 of 2', stdout: '' }),
  found('a restaurant without fields', results(NOPA, {})),
  found(
    'fields of the wrong types',
    results(NOPA, {
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
  ),
  found(
    'invalid coordinates',
    results(
      { ...NOPA, coordinates: { lat: 'x', lng: null } },
      { ...NOPA, coordinates: { lat: 1e308, lng: -1e308 } },
      { ...NOPA, coordinates: null },
    ),
    { options: ['--columns', 'name,lat,lng'] },
  ),
  found(
    '10,000 unknown fields',
    results({
      ...NOPA,
      ...Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`f${at}`, at])),
    }),
  ),
  found('fields named like properties of every object', ({ id }) =>
    httpResponse(
      withText(
        id,
        '{"status":"ok","results":[{"service_id":"r","name":"Nopa","__proto__":{"name":"x"},"constructor":1,"toString":null,"hasOwnProperty":7}],"total_matches":1}',
      ),
    ),
  ),
  ...[undefined, null, 'many', -1, 1e308, {}].map(
    (total): Fault =>
      found(
        `total_matches ${typeof total === 'number' ? total : shown(total)}`,
        output({ ...ANSWER, total_matches: total }),
      ),
  ),
  found('the same restaurant 500 times', results(...Array.from({ length: 500 }, () => NOPA))),
];

/** Sends a list of tools in which every page has a next cursor. */
const pages =
  (cursor: (count: number) => string): Reply =>
  ({ id, count, socket }) =>
    void socket.write(
      httpResponse(withResult(id, { tools: [{ name: 'find_restaurant' }], nextCursor: cursor(count) })),
    );

const toolLists: Fault[] = [
  unreadable('an endless list of tools', pages(String), {
    words: ['tools'],
    requests: 100,
    message: 'more than 100 pages',
  }),
  {
    exit: 0,
    name: 'a list of tools with a repeated cursor',
    reply: pages((count) => String(count % 2)),
    words: ['tools'],
    requests: 3,
  },
  unreadable('a list of tools that is not an array', result({ tools: 'many' }), { words: ['tools'] }),
  {
    exit: 0,
    name: 'a list of invalid tools',
    reply: result({ tools: [null, 7, {}, { name: 7 }, []] }),
    words: ['tools'],
  },
];

faultSuite('tool payload', [...contents, ...texts, ...failures, ...lists, ...toolLists]);

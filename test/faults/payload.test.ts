import {
  FOUND as ANSWER,
  envelope,
  type Fault,
  faultsEnding,
  httpResponse,
  type Reply,
  rowsFor,
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

const texts: Fault[] = [
  ...unreadable({
    prose: [text('I found Nopa for you!'), 'not JSON'],
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
    'fields named like properties of every object': text(
      '{"status":"ok","results":[{"service_id":"r","name":"Nopa","__proto__":{"name":"x"},"constructor":1,"toString":null,"hasOwnProperty":7}],"total_matches":1}',
    ),
    'the same restaurant 500 times': results(...Array.from({ length: 500 }, () => NOPA)),
  }),
  ...found(
    rowsFor('total_matches', [undefined, null, 'many', -1, 1e308, {}], (total) =>
      output({ ...ANSWER, total_matches: total }),
    ),
  ),
];

/** Sends a list of tools in which every page has a next cursor. */
const pages =
  (cursor: (count: number) => string): Reply =>
  ({ id, count, socket }) =>
    void socket.write(
      httpResponse(withResult(id, { tools: [{ name: 'find_restaurant' }], nextCursor: cursor(count) })),
    );

const toolLists: Fault[] = [
  ...unreadable({
    'an endless list of tools': [
      pages(String),
      { words: ['tools'], requests: 100, message: 'more than 100 pages' },
    ],
    'a list of tools that is not an array': [result({ tools: 'many' }), { words: ['tools'] }],
  }),
  ...faultsEnding({ exit: 0 })({
    'a list of tools with a repeated cursor': [
      pages((count) => String(count % 2)),
      { words: ['tools'], requests: 3 },
    ],
    'a list of invalid tools': [result({ tools: [null, 7, {}, { name: 7 }, []] }), { words: ['tools'] }],
  }),
];

faultSuite('tool payload', [...contents, ...texts, ...failures, ...lists, ...toolLists]);

import fc from 'fast-check';
import { withResult } from './fault.ts';
import { type Change, change, changed, textOf, unquoted } from './mutations.ts';
import type { Canned } from './stub.ts';

const NOPA = {
  service_id: 'r-1',
  name: 'Nopa',
  address: '560 Divisadero St',
  coordinates: { lat: 37.7749, lng: -122.4376 },
  cuisine_tags: ['californian', 'café'],
  grade: 'A+',
};
const OUTPUTS = [
  { status: 'ok', results: [], total_matches: 0 },
  { status: 'ok', results: [NOPA], total_matches: 1 },
  {
    status: 'ok',
    results: [NOPA, { ...NOPA, service_id: '日本', name: '🍜' }, NOPA],
    total_matches: 9007199254740991,
  },
  { status: 'error', message: 'no luck', code: 'not_found' },
];

/** Results and errors with the output of a tool. */
const BODIES: readonly ((text: string) => object)[] = [
  (text) => ({ result: { content: [{ type: 'text', text }] } }),
  (text) => ({ result: { content: [{ type: 'image' }, { type: 'text', text }], isError: false } }),
  (text) => ({ result: { content: [], structuredContent: unquoted(text) } }),
  (text) => ({ result: { content: [{ type: 'text', text }], isError: true } }),
  (text) => ({ error: { code: -32602, message: 'no luck', data: unquoted(text) } }),
  (text) => ({ result: { content: [{ text }] } }),
  (text) => ({ result: { resultType: 'input_required', inputRequests: unquoted(text) } }),
  () => ({ result: OPENED }),
];
const OPENED = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } };

const STATUSES = [201, 202, 204, 400, 401, 402, 403, 404, 408, 422, 429, 500, 503];
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'text/event-stream',
  'text/plain',
  '',
  'text/html',
  'application/json; charset=utf-16',
];
const BEFORE = [
  '',
  ': hello\n\n',
  'id: 1\nretry: 5\n',
  'event: message\n',
  'event: ping\ndata: x\n\n',
  'data:\n\n',
  'id: 7\ndata:\n\n',
  'data: {"jsonrpc":"2.0","id":1,"method":"ping"}\n\n',
  'data: {"id":99,"result":{}}\n\n',
  '\uFEFF',
  'foo\n',
];

const edit = fc.record({
  kind: fc.constantFrom('cut', 'flip', 'insert', 'remove', 'repeat'),
  at: fc.nat(5000),
  pick: fc.nat(255),
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

const mostly = <T, U>(usual: T, others: readonly U[]): fc.Arbitrary<T | U> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );

/** Up to three changes, more often none. */
const changes = fc.oneof(fc.constant<Change[]>([]), fc.array(change, { maxLength: 3 }));

/** A valid response and the changes made to it. */
const recipe = fc.record({
  output: fc.constantFrom(...OUTPUTS),
  inside: changes,
  body: fc.constantFrom(...BODIES),
  isBatch: mostly(false, [true]),
  outside: changes,
  form: fc.nat(3),
  before: fc.constantFrom(...BEFORE),
  lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
  edits: fc.oneof(
    { weight: 5, arbitrary: fc.constant<Edit[]>([]) },
    { weight: 1, arbitrary: fc.array(edit, { maxLength: 3 }) },
  ),
  status: mostly(200, STATUSES),
  type: mostly(undefined, TYPES),
  piece: fc.constantFrom(3, 50, 1000, 100_000),
});

export type Recipe = typeof recipe extends fc.Arbitrary<infer T> ? T : never;
export const recipes: fc.Arbitrary<Recipe> = recipe;

/** Returns the response to request `id` that a recipe describes. */
export function cook(id: unknown, made: Recipe): Canned {
  const output = textOf(made.inside.reduce<unknown>(changed, made.output));
  const message = { jsonrpc: '2.0', id, ...made.body(output) };
  const whole = made.isBatch ? [{ jsonrpc: '2.0', method: 'x' }, message] : message;
  const json = textOf(made.outside.reduce<unknown>(changed, whole));
  const isStream = made.form > 1;
  const text = isStream ? streamed(json, made) : made.form === 1 ? ` ${json}\n` : json;
  const bytes = made.edits.reduce(edited, Buffer.from(text));
  return {
    status: made.status,
    type: made.type ?? (isStream ? 'text/event-stream' : 'application/json'),
    bytes,
    piece: made.piece,
  };
}

function streamed(json: string, { before, lineEnd, form }: Recipe): string {
  const data = json
    .split('\n')
    .map((line) => `data: ${line}\n`)
    .join('');
  return `${before}${data}${form === 2 ? '\n' : ''}`.replaceAll('\n', lineEnd);
}

function edited(bytes: Buffer, { kind, at, pick }: Edit): Buffer {
  const place = bytes.length === 0 ? 0 : at % bytes.length;
  const [before, after] = [bytes.subarray(0, place), bytes.subarray(place)];
  if (kind === 'cut') return before;
  if (kind === 'flip') return Buffer.concat([before, Buffer.from([pick]), after.subarray(1)]);
  if (kind === 'insert') return Buffer.concat([before, Buffer.from([pick]), after]);
  if (kind === 'remove') return Buffer.concat([before, after.subarray(pick)]);
  return Buffer.concat([before, after.subarray(0, pick), after]);
}

/** Returns a valid response to `initialize`. */
export function handshake(id: unknown): Canned {
  const bytes = Buffer.from(withResult(id, OPENED));
  return { status: 200, type: 'application/json', bytes, piece: bytes.length };
}

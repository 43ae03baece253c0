import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ResponseReader, SseDecoder, type SseEvent } from '../../../src/client/http/body.ts';

function decode(chunks: readonly string[]): SseEvent[] {
  const events: SseEvent[] = [];
  const decoder = new SseDecoder(10_000, (event) => events.push(event));
  for (const chunk of chunks) decoder.feed(chunk);
  decoder.end();
  return events;
}

/** Decodes the text as bytes in pieces of `size`, as a socket delivers them. */
function decodeBytes(text: string, size: number): SseEvent[] {
  const events: SseEvent[] = [];
  const head = { status: 200, statusText: 'OK', headers: { 'content-type': 'text/event-stream' } };
  const reader = new ResponseReader(head, false, 10_000, {
    event: (event) => events.push(event),
    end() {},
    error(error) {
      throw error;
    },
  });
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length; at += size) reader.write(bytes.subarray(at, at + size));
  reader.end();
  return events;
}

const STREAM =
  ': hello\n\nid: 1\ndata:\n\nretry: 1500\n\nevent: message\ndata: {"a":\ndata: "日本 👩‍🍳"}\nid\n\n' +
  'data:x\u2028id: no\n\nevent: other\n\ndata:  two blanks\n\nid: a\0b\nretry: soon\ndata: nul\n\nDATA: 1\ndata: last';

const EVENTS: SseEvent[] = [
  { data: '', id: '1' },
  { data: '', retry: 1500 },
  { event: 'message', data: '{"a":\n"日本 👩‍🍳"}', id: '' },
  { data: 'x\u2028id: no' },
  { data: ' two blanks' },
  { data: 'nul' },
  { data: 'last', unfinished: true },
];

describe('an event stream', () => {
  it.each(['\n', '\r\n', '\r'])('is decoded with the line end %j, whole and byte by byte', (end) => {
    const text = STREAM.replaceAll('\n', end);
    expect(decode([text])).toEqual(EVENTS);
    expect(decode([...text])).toEqual(EVENTS);
    for (const size of [1, 2, 3, 7]) expect(decodeBytes(text, size)).toEqual(EVENTS);
  });

  it('whose lines end in CR has each event at its blank line, not only at the next line', () => {
    const events: SseEvent[] = [];
    const decoder = new SseDecoder(10_000, (event) => events.push(event));
    for (const character of 'data: a\r\r') decoder.feed(character);
    expect(events).toEqual([{ data: 'a' }]);
  });

  it('is decoded the same however it is split', () => {
    const lines = ['data: a', 'data:é', 'data', 'id: 7', 'id', 'event: x', 'retry: 9', ': c', '', '', 'x'];
    const line = fc.constantFrom(...lines);
    const end = fc.constantFrom('\n', '\r', '\r\n');
    const stream = fc.array(fc.tuple(line, end)).map((all) => all.flat().join(''));
    fc.assert(
      fc.property(stream, fc.array(fc.nat(40)), (text, cuts) => {
        const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
        const chunks = places.map((place, at) => text.slice(place, places[at + 1] ?? text.length));
        expect(decode(chunks)).toEqual(decode([text]));
      }),
    );
  });

  it('emits an event at its blank line', () => {
    const events: SseEvent[] = [];
    const decoder = new SseDecoder(100, (event) => events.push(event));
    decoder.feed('data: a\r\n\r\n');
    expect(events).toEqual([{ data: 'a' }]);
    decoder.feed('data: b\n\n');
    expect(events).toEqual([{ data: 'a' }, { data: 'b' }]);
  });

  it.each([
    ['one line', `data: ${'x'.repeat(200)}`],
    ['many lines', 'data: xxxxxxxxxx\n'.repeat(20)],
  ])('with an event over the limit is rejected: %s', (_name, text) => {
    const decoder = new SseDecoder(100, () => {});
    expect(() => {
      for (const chunk of text.match(/.{1,16}/gs) ?? []) decoder.feed(chunk);
    }).toThrow(expect.objectContaining({ code: 'bad_response' }));
  });
});

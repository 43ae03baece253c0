import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BridgeLine, readLines, toLine } from '../../../src/mcp/bridge/framing.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function readIn(parts: readonly Uint8Array[], maxBytes?: number): Promise<BridgeLine[]> {
  async function* chunks() {
    yield* parts;
  }
  const lines: BridgeLine[] = [];
  for await (const line of readLines(chunks(), maxBytes)) lines.push(line);
  return lines;
}

/** Splits bytes at the given offsets. */
function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [...new Set([0, ...places.map((at) => at % (whole.length + 1)), whole.length])].sort(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, index) => whole.subarray(sorted[index], end));
}

describe('readLines', () => {
  it('returns the same lines however the bytes are split', async () => {
    const text = fc.array(
      fc.tuple(fc.string({ unit: 'grapheme' }), fc.constantFrom('\n', '\r\n', '\n\n', ' \n')),
    );
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.string({ unit: 'grapheme' }),
        fc.array(fc.nat()),
        async (lines, tail, places) => {
          const whole = bytes(lines.flat().join('') + tail);
          expect(await readIn(cut(whole, places))).toEqual(await readIn([whole]));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('reads the same lines byte by byte', async () => {
    const whole = bytes('{"name":"Café 🍜"}\r\n\n{"a":1}\nlast');
    expect(await readIn([...whole].map((byte) => Uint8Array.of(byte)))).toEqual([
      { text: '{"name":"Café 🍜"}' },
      { text: '{"a":1}' },
      { text: 'last' },
    ]);
  });

  it('reads back every message that was written', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.object()), fc.array(fc.nat()), async (messages, places) => {
        const whole = bytes(messages.map(toLine).join(''));
        const read = await readIn(cut(whole, places));
        const back = read.map((line) => 'text' in line && JSON.parse(line.text));
        expect(back).toEqual(JSON.parse(JSON.stringify(messages)));
      }),
    );
  });

  it('reports a line that is too long, and continues with the next', async () => {
    const lines = await readIn([bytes('12345'), bytes('67890'), bytes('1\nok\n0123456789\r\n')], 10);
    expect(lines).toEqual([
      { problem: 'the line is longer than 10 bytes' },
      { text: 'ok' },
      { problem: 'the line is longer than 10 bytes' },
    ]);
  });

  it('reports a line that is not UTF-8, and continues with the next', async () => {
    expect(await readIn([Uint8Array.of(0x22, 0xff, 0x22, 0x0a), bytes('{}\n')])).toEqual([
      { problem: 'the line is not UTF-8' },
      { text: '{}' },
    ]);
  });
});

import { isRecord } from '../../output/records.ts';
import { parseExactOrNone } from '../../util/exact-json.ts';
import type { ObjectRow, OnProblem } from './row.ts';

/** Longest line that is read, in bytes. */
const LONGEST_LINE = 16 * 1024 * 1024;
const LINE_FEED = 0x0a;

/**
 * Reads NDJSON: one object a line; blank lines are passed over.
 * @param chunks UTF-8 without a byte order mark
 */
export async function* readNdjson(
  chunks: AsyncIterable<Buffer>,
  onProblem: OnProblem,
): AsyncGenerator<ObjectRow> {
  let number = 0;
  for await (const line of linesOf(chunks)) {
    number += 1;
    if (line === undefined) {
      onProblem({ line: number, what: 'is longer than 16 MiB' });
      continue;
    }
    const text = line.trim();
    if (text === '') continue;
    const value = parsed(text);
    if (value === undefined) onProblem({ line: number, what: fault(text) });
    else yield { kind: 'object', line: number, text, value };
  }
}

function parsed(text: string): Record<string, unknown> | undefined {
  const value = parseExactOrNone(text);
  return isRecord(value) ? value : undefined;
}

function fault(text: string): string {
  return text.startsWith('[')
    ? 'is no JSON object (a list needs one object a line: jq -c ".[]")'
    : 'is no JSON object';
}

/** Lines without their break; undefined for one that is too long. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string | undefined> {
  let parts: Buffer[] = [];
  let size = 0;
  const take = (last: Buffer): string | undefined => {
    const whole =
      size + last.length > LONGEST_LINE ? undefined : Buffer.concat([...parts, last]).toString('utf8');
    parts = [];
    size = 0;
    return whole;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, start)) {
      yield take(chunk.subarray(start, at));
      start = at + 1;
    }
    const open = chunk.subarray(start);
    size += open.length;
    // Of a line that is too long nothing is kept but its length.
    if (size > LONGEST_LINE) parts = [];
    else if (open.length > 0) parts.push(open);
  }
  if (size > 0) yield take(Buffer.alloc(0));
}

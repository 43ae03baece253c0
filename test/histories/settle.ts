import { createHash } from 'node:crypto';
import { tryParseJson } from '../../src/util/json.ts';

interface NewLine {
  readonly index: number;
  readonly text: string;
  /** All but its id and time. */
  readonly content: string;
  readonly isAnswer: boolean;
}

/**
 * The program gives lines random ids, and the network gives answers an order. Returns the file with ids and an order of its
 * new lines that depend on what they say only, so that a seed repeats what follows from them.
 * @param start where the new lines begin, in bytes
 */
export function settled(file: Buffer, start: number): Buffer {
  const lines = file.subarray(start).toString().split('\n');
  const added = lines.flatMap((line, index) => newLine(line, index) ?? []);
  for (const { index, text } of added) lines[index] = text;
  const answers = added.filter(({ isAnswer }) => isAnswer);
  const sorted = [...answers].sort((one, other) => (one.content < other.content ? -1 : 1));
  for (const [place, { index }] of answers.entries()) lines[index] = sorted[place]?.text ?? '';
  return Buffer.concat([file.subarray(0, start), Buffer.from(lines.join('\n'))]);
}

function newLine(line: string, index: number): NewLine | undefined {
  const { id, at, ...rest } = (tryParseJson(line) ?? {}) as Record<string, unknown>;
  if (typeof id !== 'string') return undefined;
  const content = JSON.stringify(rest);
  const ownId = createHash('sha256').update(`${at} ${content}`).digest('hex').slice(0, id.length);
  return {
    index,
    text: line.replace(id, ownId),
    content,
    isAnswer: 'find' in rest || 'lookup' in rest,
  };
}

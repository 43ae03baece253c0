import type { Problem } from '../../../src/enrich/row.ts';

/** Returns text or bytes as a stream of pieces of the given length. */
export async function* inPieces(text: string | Uint8Array, length = 65_536): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

/** Collects all items and all problems. */
export async function gather<T>(
  open: (onProblem: (problem: Problem) => void) => Promise<AsyncIterable<T> | undefined>,
): Promise<{ items: T[]; problems: Problem[] }> {
  const problems: Problem[] = [];
  const items: T[] = [];
  const source = await open((problem) => problems.push(problem));
  if (source !== undefined) for await (const item of source) items.push(item);
  return { items, problems };
}

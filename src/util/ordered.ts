/**
 * Runs `work` on the items, at most `concurrency` at a time, and yields the results in the order of the items. The
 * first failure ends it. Never more than `concurrency` results wait for an earlier one.
 */
export async function* mapOrdered<T, R>(
  items: Iterable<T> | AsyncIterable<T>,
  concurrency: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const waiting: Promise<R>[] = [];
  const take = async (): Promise<R> => {
    const [first] = waiting;
    if (first === undefined) throw new RangeError('nothing is under way');
    const result = await first;
    waiting.shift();
    return result;
  };
  for await (const item of items) {
    if (waiting.length >= concurrency) yield await take();
    const started = work(item);
    // Its failure is reported when its turn comes; until then it must not count as unhandled.
    started.catch(() => {});
    waiting.push(started);
  }
  while (waiting.length > 0) yield await take();
}

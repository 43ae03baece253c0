/** Returns a clock that only waits advance, without sleeping. */
export function skippingClock(start = Date.now()) {
  const waits: number[] = [];
  let skipped = 0;
  return {
    waits,
    now: () => start + skipped,
    async sleep(ms: number, signal?: AbortSignal): Promise<void> {
      signal?.throwIfAborted();
      waits.push(ms);
      skipped += ms;
    },
  };
}

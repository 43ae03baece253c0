/** Returns a clock that only waits advance, without sleeping. */
export function skippingClock() {
  const waits: number[] = [];
  const start = Date.now();
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

/** Returns a clock whose waits advance the time instead of sleeping. */
export function skippingClock() {
  const waits: number[] = [];
  let skipped = 0;
  return {
    waits,
    now: () => Date.now() + skipped,
    async sleep(ms: number, signal?: AbortSignal): Promise<void> {
      signal?.throwIfAborted();
      waits.push(ms);
      skipped += ms;
    },
  };
}

/** Items in order from a producer to a consumer, with at most `capacity` between them. */
export class BoundedQueue<T> implements AsyncIterable<T> {
  readonly #capacity: number;
  #items: T[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #closed = false;
  /** Wakes the side that waits; the two never wait at the same time. */
  #wake: (() => void) | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Waits for room. @returns false when the consumer is gone */
  async push(item: T): Promise<boolean> {
    while (this.#items.length >= this.#capacity && !this.#closed) await this.#change();
    if (this.#closed) return false;
    this.#items.push(item);
    this.#notify();
    return true;
  }

  /** Ends the queue; with an error, the consumer gets it after the items. */
  end(failure?: { readonly error: unknown }): void {
    this.#ended = true;
    this.#failure ??= failure;
    this.#notify();
  }

  /** Ends the queue at once with an error and drops the items. */
  abort(error: unknown): void {
    this.#items = [];
    this.#failure = { error };
    this.end();
  }

  /** Ends the consumer's side. */
  close(): void {
    this.#closed = true;
    this.#items = [];
    this.#notify();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#items.length === 0 && !this.#ended) await this.#change();
      const item = this.#items.shift();
      this.#notify();
      if (item !== undefined) yield item;
      else if (this.#failure !== undefined) throw this.#failure.error;
      else return;
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

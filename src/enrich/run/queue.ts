/** Items in order from one side to the other, at most `room` on the way. */
export class BoundedQueue<T> implements AsyncIterable<T> {
  readonly #room: number;
  #items: T[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #closed = false;
  /** Wakes the side that waits; the two never wait at once. */
  #wake: (() => void) | undefined;

  constructor(room: number) {
    this.#room = room;
  }

  /** Waits for room. @returns false when nobody takes items any more */
  async push(item: T): Promise<boolean> {
    while (this.#items.length >= this.#room && !this.#closed) await this.#change();
    if (this.#closed) return false;
    this.#items.push(item);
    this.#tell();
    return true;
  }

  /** No more items come. */
  end(): void {
    this.#ended = true;
    this.#tell();
  }

  /** No more items come, because of this; what is on the way arrives first. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.end();
  }

  /** Ends at once, because of this; what is on the way is dropped. */
  abort(error: unknown): void {
    this.#items = [];
    this.#failure = { error };
    this.end();
  }

  /** Nobody takes items any more. */
  close(): void {
    this.#closed = true;
    this.#items = [];
    this.#tell();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      while (this.#items.length === 0 && !this.#ended) await this.#change();
      const item = this.#items.shift();
      this.#tell();
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

  #tell(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/** So many places, given out in the order of asking. */
export class Semaphore {
  #free: number;
  #waiting: ((got: boolean) => void)[] = [];
  #closed = false;

  constructor(count: number) {
    this.#free = count;
  }

  /** @returns false when no more are given out */
  async take(): Promise<boolean> {
    if (this.#closed) return false;
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next(true);
  }

  close(): void {
    this.#closed = true;
    for (const tell of this.#waiting.splice(0)) tell(false);
  }
}

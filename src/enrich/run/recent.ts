/** Answers to recent queries, also pending ones, which equal queries share. After a failure, they send their own request. */
export class Recent<T> {
  readonly #answers = new Map<string, Promise<T>>();
  readonly #sizeOf: (answer: T) => number | undefined;
  readonly #maxSize: number;
  #size = 0;

  /** @param sizeOf the size of an answer in any unit; undefined for a failure */
  constructor(maxSize: number, sizeOf: (answer: T) => number | undefined) {
    this.#maxSize = maxSize;
    this.#sizeOf = sizeOf;
  }

  get(key: string): Promise<T> | undefined {
    return this.#answers.get(key);
  }

  add(key: string, answer: Promise<T>): Promise<T> {
    this.#answers.set(key, answer);
    const drop = () => this.#answers.delete(key);
    answer.then((each) => {
      const size = this.#sizeOf(each);
      if (size === undefined) drop();
      this.#size += size ?? 0;
      // All at once: V8 keeps single deleted entries alive (see AGENTS.md).
      if (this.#size > this.#maxSize) this.#clear();
    }, drop);
    return answer;
  }

  #clear(): void {
    this.#answers.clear();
    this.#size = 0;
  }
}

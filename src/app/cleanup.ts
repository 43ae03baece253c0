export class Cleanup {
  readonly #closers: (() => Promise<void>)[] = [];

  add(work: () => Promise<void>): void {
    this.#closers.push(work);
  }

  /** Does the work, the last one added first. */
  async run(): Promise<void> {
    for (const work of this.#closers.splice(0).reverse()) await work().catch(() => {});
  }
}

import { DEFAULT_KEY_PREFIX, keyEraser, redactor } from '../client/key.ts';

/** Shortest text that is taken for a secret: a few letters would be struck out of every word. */
const SHORTEST = 8;

type Change = (text: string) => string;

/** The keys of one run, which nothing that it writes may show. */
export class Secrets {
  readonly #keys = new Set<string>();
  /** Patterns, which take their time to make. */
  readonly #made = new Map<string, Change>();

  add(key: string): void {
    if (key.length >= SHORTEST) this.#keys.add(key);
  }

  /**
   * Text for people without any of the keys, nor what looks like one.
   * @param prefix what keys of this service begin with
   */
  redact(text: string, prefix: string): string {
    const prefixes = new Set([DEFAULT_KEY_PREFIX, prefix]);
    return [undefined, ...this.#keys].reduce<string>(
      (sofar, key) => [...prefixes].reduce((shown, each) => this.#change(key, each)(shown), sofar),
      text,
    );
  }

  /** Data without any of the keys; nothing else in it changes. */
  maskKeys(text: string): string {
    return [...this.#keys].reduce((sofar, key) => this.#change(key)(sofar), text);
  }

  /** With a prefix for people, without one for data. */
  #change(key: string | undefined, prefix?: string): Change {
    const name = JSON.stringify([key, prefix]);
    const made = this.#made.get(name) ?? (prefix === undefined ? keyEraser(key) : redactor(key, prefix));
    this.#made.set(name, made);
    return made;
  }
}

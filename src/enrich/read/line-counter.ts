const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** Tells on which line an offset of a stream of bytes lies. CRLF, LF and CR all end a line. Offsets only grow. */
export class LineCounter {
  #waiting: Uint8Array[] = [];
  /** Offset of the first byte that waits. */
  #start = 0;
  /** How far the bytes are counted. */
  #at = 0;
  #line: number;
  #afterReturn = false;

  /** @param first the line on which the stream begins */
  constructor(first = 1) {
    this.#line = first;
  }

  push(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
  }

  /** The line of the first byte from `offset` on that is no line break. */
  lineFrom(offset: number): number {
    for (let byte = this.#next(); byte !== undefined; byte = this.#next()) {
      if (this.#at >= offset && byte !== LINE_FEED && byte !== RETURN) break;
      if (byte === RETURN || (byte === LINE_FEED && !this.#afterReturn)) this.#line += 1;
      this.#afterReturn = byte === RETURN;
      this.#at += 1;
    }
    return this.#line;
  }

  #next(): number | undefined {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (this.#at < this.#start + first.length) return first[this.#at - this.#start];
      this.#start += first.length;
      this.#waiting.shift();
    }
    return undefined;
  }
}

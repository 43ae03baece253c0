/** Invalid JSON. The features before it have been returned. */
export class JsonError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/** Plain text, or a character that begins, ends, or escapes something. */
const TOKEN = /[^"\\{}[\]\n]+|["\\{}[\]\n]/g;

/** The depth of the list of features in a collection, and of a key of the collection. */
const LIST = 2;
const KEY = 1;

/** Finds the features of a GeoJSON FeatureCollection in text that arrives in pieces, in linear time. */
export class FeatureReader {
  readonly #maxLength: number;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The last string among the keys of the collection. */
  #key = '';
  #isInList = false;
  #hasList = false;
  #line = 1;
  /** The current feature, and its first line. */
  #feature: string | undefined;
  #firstLine = 1;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Returns the features that end in this piece. @throws {JsonError} */
  *push(piece: string): Generator<{ readonly text: string; readonly line: number }> {
    let start = 0;
    for (const { 0: token, index } of piece.matchAll(TOKEN)) {
      if (token === '\n') this.#line += 1;
      if (this.#isInString) this.#readString(token);
      else if (token === '{' && this.#isInList && this.#depth === LIST) {
        this.#feature = '';
        this.#firstLine = this.#line;
        this.#depth += 1;
        start = index;
      } else this.#readMark(token);
      if (this.#feature === undefined || this.#depth !== LIST || this.#isInString) continue;
      yield { text: this.#feature + piece.slice(start, index + token.length), line: this.#firstLine };
      this.#feature = undefined;
    }
    if (this.#feature === undefined) return;
    this.#feature += piece.slice(start);
    if (this.#feature.length > this.#maxLength)
      throw new JsonError(this.#firstLine, `is longer than ${this.#maxLength / 1024 / 1024} MiB`);
  }

  /** @throws {JsonError} */
  end(): void {
    if (!this.#hasList) throw new JsonError(1, 'is not a GeoJSON FeatureCollection');
    if (this.#depth > 0) throw new JsonError(this.#line, 'ends before the FeatureCollection is complete');
  }

  #readString(token: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (token === '\\') this.#isEscaped = true;
    else if (token === '"') this.#isInString = false;
    else if (this.#depth === KEY) this.#key = `${this.#key}${token}`.slice(0, 'features'.length + 1);
  }

  #readMark(token: string): void {
    if (token === '"') {
      this.#isInString = true;
      this.#key = this.#depth === KEY ? '' : this.#key;
    } else if (token === '{' || token === '[') {
      this.#isInList ||= token === '[' && this.#depth === KEY && this.#key === 'features';
      this.#hasList ||= this.#isInList;
      this.#depth += 1;
    } else if (token === '}' || token === ']') {
      this.#depth -= 1;
      this.#isInList &&= this.#depth >= LIST;
    }
    if (this.#isInList && this.#depth === LIST && this.#feature === undefined && !/^[\s,[\]]*$/.test(token))
      throw new JsonError(this.#line, 'is not a GeoJSON Feature');
  }
}

import stringWidth from 'string-width';
import { STRAY_MARK } from './stray-mark.ts';

const PRINTABLE = /^[\n -~]*$/;
const ASCII = /^[ -~]*$/;
/** Kana, Han, Hangul and their punctuation: characters that take two columns each. */
const WIDE_LETTERS = String.raw`\u3001-\u3029\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60`;
const WIDE = new RegExp(`[${WIDE_LETTERS}]+`, 'g');
/** Letters and punctuation of Latin, Greek and Cyrillic without marks or joiners. */
const NARROW_LETTERS = String.raw` -~\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03c9\u0400-\u0482\u048a-\u052f\u1e00-\u1eff\u2010-\u2027`;
const PLAIN = new RegExp(`^[${NARROW_LETTERS}${WIDE_LETTERS}]*$`);
/** The escape sequences that this program writes: colors and links. */
const OWN_ESCAPES = /\u001b\[[\d;]*m|\u001b\]8;;[^\u0007\u001b]*\u001b\\/g;
const LINE_BREAKS = /(?:\r\n|[\n\t\u0085\u2028\u2029])+/g;
const LONE_SURROGATE = /\p{Surrogate}/gu;
/** C0 except LF, DEL, and C1. */
const CONTROL = /[\0-\x09\x0b-\x1f\x7f-\x9f]/g;
/** The same except tab and CRLF, which a quoted CSV cell may contain (RFC 4180). */
const CONTROL_IN_CELL = /(?!\r\n)[\0-\x08\x0b-\x1f\x7f-\x9f]/g;

const PICTURE = String.raw`\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]{0,2}`;
const JOINED_PICTURES = new RegExp(String.raw`${PICTURE}(?:\u200d${PICTURE})+`, 'gu');
/** Emoji that terminals draw as one picture; other chains are as wide as their parts. */
const ONE_PICTURE = new RegExp(`^${String.raw`\p{RGI_Emoji}`}$`, 'v');
/** The scripts in which a joiner or non-joiner between letters changes the spelling. */
const JOINING = `[${'Arab Syrc Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh'.replace(/\w+ ?/g, (code) => String.raw`\p{scx=${code.trim()}}`)}]`;
/** The flags of England, Scotland and Wales, the only standard use of tag characters. */
const TAG_FLAG = String.raw`\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`;
/** Characters without a glyph: zero-width, bidi and tag characters, fillers. Marks are not part of it. */
const HIDDEN_CHARACTER = String.raw`(?!\p{M})[\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]`;
const HIDDEN = new RegExp(
  String.raw`(${TAG_FLAG}|(?<=${PICTURE})\u200d(?=\p{Extended_Pictographic})|(?<=${JOINING})[\u200c\u200d](?=${JOINING}))|${HIDDEN_CHARACTER}|${STRAY_MARK}`,
  'gu',
);
const STACKED_MARKS = /(\p{M}{8})\p{M}+/gu;

const WINDOW = 1000;
const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Makes external text safe for a terminal. Control characters become visible as in `cat -v`, hidden and
 * direction-changing ones are removed, lone surrogates become U+FFFD, and at most eight combining marks in a row are kept.
 */
export function clean(text: string): string {
  return PRINTABLE.test(text) ? text : sanitize(text.replaceAll('\r\n', '\n'), CONTROL);
}

/** Like `clean`, on one line: a run of line breaks and tabs becomes one space. */
export function cleanLine(text: string): string {
  return ASCII.test(text) ? text : clean(text.replace(LINE_BREAKS, ' '));
}

/** Like `clean`, for a CSV cell: tabs and CRLF are kept, too. */
export function cleanCell(text: string): string {
  return PRINTABLE.test(text) ? text : sanitize(text, CONTROL_IN_CELL);
}

function sanitize(text: string, control: RegExp): string {
  return text
    .replace(LONE_SURROGATE, '\ufffd')
    .replace(control, caret)
    .replace(JOINED_PICTURES, (chain) => (ONE_PICTURE.test(chain) ? chain : chain.replaceAll('\u200d', '')))
    .replace(HIDDEN, '$1')
    .replace(STACKED_MARKS, '$1');
}

function caret(control: string): string {
  const code = control.charCodeAt(0);
  return code < 0x80
    ? `^${String.fromCharCode(code ^ 0x40)}`
    : `M-^${String.fromCharCode((code - 0x80) ^ 0x40)}`;
}

export function width(text: string): number {
  const visible = text.includes('\u001b') ? text.replace(OWN_ESCAPES, '') : text;
  if (visible.length <= WINDOW || PLAIN.test(visible)) return shortWidth(visible);
  let columns = 0;
  for (const [, own] of graphemes(visible)) columns += own;
  return columns;
}

/** Thai and Lao sara am: letters that string-width counts as a part of the letter before them. */
const SARA_AM = /(?<=\P{C})[\u0e33\u0eb3]/gu;

const shortWidth = (text: string): number =>
  PLAIN.test(text)
    ? text.length * 2 - text.replace(WIDE, '').length
    : stringWidth(text) + (text.match(SARA_AM)?.length ?? 0);

function* graphemes(text: string): Generator<[grapheme: string, columns: number]> {
  const known = new Map<string, number>();
  for (const grapheme of PLAIN.test(text) ? text : segments(text)) {
    const columns = known.get(grapheme) ?? shortWidth(grapheme);
    known.set(grapheme, columns);
    yield [grapheme, columns];
  }
}

/** Splits text into graphemes, window by window, because Intl.Segmenter takes quadratic time. */
function* segments(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const isPair = (text.codePointAt(start + WINDOW - 1) ?? 0) > 0xffff;
    const window = text.slice(start, start + WINDOW + (isPair ? 1 : 0));
    let last = '';
    for (const { segment } of GRAPHEMES.segment(window)) {
      if (last !== '') yield last;
      start += last.length;
      last = segment;
    }
    // The last grapheme may continue after the window.
    if (start + last.length < text.length && last.length < window.length) continue;
    yield last;
    start += last.length;
  }
}

/** Truncates text to `columns`, between graphemes, and appends `mark`. Text that fits is returned unchanged. */
export function truncate(text: string, columns: number, mark = '…'): string {
  if (columns <= 0) return '';
  const sign = mark.slice(0, columns);
  const room = columns - sign.length;
  if (ASCII.test(text)) return text.length <= columns ? text : cutOff(text.slice(0, room), sign);
  let used = 0;
  let length = 0;
  let end = 0;
  for (const [grapheme, own] of graphemes(text)) {
    used += own;
    length += grapheme.length;
    if (used > columns) return cutOff(text.slice(0, end), sign);
    if (used <= room) end = length;
  }
  return text;
}

function cutOff(text: string, sign: string): string {
  return sign === '' ? text : text.replace(/[ ,;:…]{1,9}$/, '') + sign;
}

export const pad = (text: string, columns: number): string =>
  text + ' '.repeat(Math.max(0, columns - width(text)));

/** Wraps text to lines of at most `columns`, at spaces or inside longer words. Line breaks and indents are kept. */
export function wrap(text: string, columns: number): string[] {
  return text.split('\n').flatMap((line) => {
    const body = line.trimStart();
    const indent = ' '.repeat(Math.min(line.length - body.length, columns >> 2));
    const lines = new Lines(Math.max(1, columns - indent.length));
    for (const word of body.split(' ')) lines.addWord(word);
    return lines.end().map((part) => (indent + part).trimEnd());
  });
}

/** Wraps items between commas; inside an item only if it is longer than a line. */
export function wrapItems(text: string, columns: number): string[] {
  const items = text
    .split(', ')
    .map((item) => (width(item) < columns ? item.replaceAll(' ', '\u00a0') : item));
  return wrap(items.join(', '), columns).map((line) => line.replaceAll('\u00a0', ' '));
}

/** Fills lines with words. A grapheme that is wider than a line is left out. */
class Lines {
  readonly #room: number;
  readonly #lines: string[] = [];
  #line = '';
  #used = 0;

  constructor(room: number) {
    this.#room = room;
  }

  addWord(word: string): void {
    const columns = width(word);
    if (this.#used > 0) {
      if (this.#startsHere(columns)) this.#append(' ', 1);
      else this.#endLine();
    }
    if (columns <= this.#room) this.#append(word, columns);
    else for (const [grapheme, own] of graphemes(word)) this.#addGrapheme(grapheme, own);
  }

  end(): string[] {
    return [...this.#lines, this.#line];
  }

  /** A long word starts on this line if that does not take more lines than starting on the next one. */
  #startsHere(columns: number): boolean {
    const used = this.#used + 1 + columns;
    const linesFor = (total: number): number => Math.ceil(total / this.#room);
    return used <= this.#room || (columns > this.#room && linesFor(used) <= linesFor(columns));
  }

  #addGrapheme(grapheme: string, columns: number): void {
    if (this.#used > 0 && this.#used + columns > this.#room) this.#endLine();
    if (columns <= this.#room) this.#append(grapheme, columns);
  }

  #append(text: string, columns: number): void {
    this.#line += text;
    this.#used += columns;
  }

  #endLine(): void {
    this.#lines.push(this.#line);
    this.#line = '';
    this.#used = 0;
  }
}

const ABBREVIATIONS: ReadonlySet<string> = new Set(['id', 'url', 'uri', 'faq', 'tldr', 'api', 'uuid']);

/** Formats a JSON key: `price_level`, `priceLevel` and `price-level` become `Price level`. */
export function label(key: string): string {
  const spaced = cleanLine(key)
    .replace(/(?<=[a-z0-9])(?=[A-Z])|[_\-\s]+/g, ' ')
    .trim();
  const words = spaced.split(' ').map((word) => {
    if (ABBREVIATIONS.has(word.toLowerCase())) return word.toUpperCase();
    return /^[A-Z][a-z]+$/.test(word) ? word.toLowerCase() : word;
  });
  const text = words.join(' ');
  return text === '' ? '""' : text.charAt(0).toUpperCase() + text.slice(1);
}

// Texts on which a regular expression takes long, if there are any: made of its own atoms.

import type { Expression } from './expressions.ts';

/** A text: a start, a part that is repeated until the text has a length, and an end. */
export interface Attack {
  readonly start: string;
  readonly part: string;
  readonly end: string;
}

interface Term {
  /** An atom matches one character; otherwise, the term is a group with alternatives. */
  readonly atom?: string;
  readonly options: readonly Term[][];
  readonly isEmpty: boolean;
  readonly min: number;
  readonly max: number;
}

const QUANTIFIER = /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y;
const GROUP = /\((?:\?(?:[:=!]|<[=!]|<\w+>))?/y;
const CLASS = /\[(?:\\.|[^\]\\])*\]/sy;
const ESCAPE =
  /\\(?:u\{[\da-fA-F]+\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[pP]\{[^}]*\}|k<\w+>|c[A-Z]|[1-9]|[\s\S])/y;
const EMPTY_ESCAPE = /^\\(?:[bB1-9]|k<.*)$/;
/** A repetition of more than this counts as one without a limit. */
const MANY = 50;
/** All pairs of so many kinds of characters are tried. */
const MAX_PAIRED = 7;

class Parser {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  options(): Term[][] {
    const options: Term[][] = [[]];
    while (this.#at < this.#source.length && this.#source[this.#at] !== ')') {
      if (this.#take('|')) options.push([]);
      else options.at(-1)?.push(this.#term());
    }
    return options;
  }

  #term(): Term {
    const content = this.#content();
    const [all, min = '', comma, max] = this.#match(QUANTIFIER) ?? [];
    if (all === undefined) return { ...content, min: 1, max: 1 };
    if (all.startsWith('{')) {
      const most = comma === '' ? min : max;
      return { ...content, min: Number(min), max: most === '' ? Number.POSITIVE_INFINITY : Number(most) };
    }
    const isOnce = all.startsWith('?');
    return {
      ...content,
      min: all.startsWith('+') ? 1 : 0,
      max: isOnce ? 1 : Number.POSITIVE_INFINITY,
    };
  }

  #content(): Pick<Term, 'atom' | 'options' | 'isEmpty'> {
    const group = this.#match(GROUP)?.[0];
    if (group !== undefined) {
      const options = this.options();
      this.#take(')');
      return { options, isEmpty: /[=!]$/.test(group) };
    }
    const atom = (this.#match(CLASS) ?? this.#match(ESCAPE) ?? this.#match(/[\s\S]/uy))?.[0] ?? '';
    const isEmpty = EMPTY_ESCAPE.test(atom) || atom === '^' || atom === '$';
    return isEmpty ? { options: [], isEmpty } : { atom, options: [], isEmpty };
  }

  #take(character: string): boolean {
    const isThere = this.#source[this.#at] === character;
    if (isThere) this.#at += 1;
    return isThere;
  }

  #match(expression: RegExp): RegExpExecArray | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source) ?? undefined;
    if (found !== undefined) this.#at = expression.lastIndex;
    return found;
  }
}

const ASCII = Array.from({ length: 95 }, (_each, index) => String.fromCharCode(32 + index));
const OTHERS = [
  '\t',
  '\n',
  '\r',
  '\u0001',
  '\u00a0',
  '\u200b',
  'é',
  'ß',
  'Ä',
  '鮨',
  '①',
  '０',
  '🍜',
  '\u200d',
];
const MARKS = ['\u0301', '\ufe0f', '\ud800'];

const atomsOf = (options: readonly Term[][]): string[] =>
  options.flat().flatMap(({ atom, options: more }) => (atom === undefined ? atomsOf(more) : [atom]));

/** Characters for the atoms of an expression. */
class Alphabet {
  readonly #tests: ReadonlyMap<string, RegExp>;
  readonly #all = [...ASCII, ...OTHERS, ...MARKS];

  constructor(atoms: readonly string[], flags: string) {
    const own = flags.replace(/[gy]/g, '');
    this.#tests = new Map(atoms.map((atom) => [atom, new RegExp(`^(?:${atom})$`, own)]));
    for (const test of this.#tests.values()) {
      if (this.#all.some((character) => test.test(character))) continue;
      for (let code = 0; code < 0x20000; code += 1) {
        const character = String.fromCodePoint(code);
        if (!test.test(character)) continue;
        this.#all.push(character);
        break;
      }
    }
  }

  /** One character of each kind that the atoms tell apart. */
  kinds(): string[] {
    const tests = [...this.#tests.values()];
    const kinds = new Map(
      this.#all
        .toReversed()
        .map((character) => [tests.map((test) => test.test(character)).join(), character]),
    );
    return [...kinds.values()];
  }

  sample(atom: string): string {
    const fits = this.#all.filter((character) => this.#tests.get(atom)?.test(character));
    return fits.find((character) => character.trim() !== '') ?? fits[0] ?? '';
  }

  /** A text that a term matches, with every optional part of it if `isFull`. */
  text(term: Term, isFull = false): string {
    if (term.isEmpty) return '';
    const once = term.atom === undefined ? this.#texts(term.options[0] ?? []) : this.sample(term.atom);
    return once.repeat(Math.min(Math.max(term.min, isFull ? 1 : 0), MANY));
  }

  #texts(terms: readonly Term[]): string {
    return terms.map((term) => this.text(term)).join('');
  }

  /** Words of an expression: what precedes each repetition without a limit, and what is repeated. */
  words(options: readonly Term[][], before = ''): { starts: string[]; parts: string[] } {
    const starts: string[] = [];
    const parts: string[] = [];
    for (const terms of options) {
      let start = before;
      for (const term of terms) {
        if (term.max > MANY) {
          starts.push(start);
          parts.push(start, ...term.options.map((more) => this.#texts(more)));
        }
        const inner = this.words(term.options, start);
        starts.push(...inner.starts);
        parts.push(...inner.parts);
        start += this.text(term, true);
      }
      parts.push(start);
    }
    return { starts, parts };
  }
}

/** Every start of a repetition × every kind of character, pair, and word repeated × every end. */
export function attacksOn({ source, flags }: Pick<Expression, 'source' | 'flags'>): Attack[] {
  const options = new Parser(source).options();
  const alphabet = new Alphabet(atomsOf(options), flags);
  const kinds = alphabet.kinds();
  const { starts, parts } = alphabet.words(options);
  const pairs = kinds.length > MAX_PAIRED ? [] : kinds.flatMap((one) => kinds.map((other) => one + other));
  const repeated = [...new Set([...kinds, ...parts, ...pairs])].filter((part) => part !== '');
  return ['', ...new Set(starts)].flatMap((start) =>
    repeated.flatMap((part) => ['', ...kinds].map((end) => ({ start, part, end }))),
  );
}

const hasRepetition = (options: readonly Term[][]): boolean =>
  options.flat().some(({ max, options: more }) => max > MANY || hasRepetition(more));

/** Whether something is repeated without a limit. Without that, each position of a text takes a constant time. */
export const repeats = ({ source }: Pick<Expression, 'source'>): boolean =>
  hasRepetition(new Parser(source).options());

/** @returns the processor time of a match, or of all replacements, in milliseconds: a busy machine does not change it */
export function timeOf({ source, flags }: Expression, { start, part, end }: Attack, length: number): number {
  const text = start + part.repeat(Math.ceil(length / part.length)) + end;
  const expression = new RegExp(source, flags);
  // The first look makes one piece of the text.
  text.charCodeAt(0);
  const from = process.cpuUsage();
  if (expression.global) text.replace(expression, '');
  else expression.test(text);
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hintLine } from '../../../src/app/hint-line.ts';
import { again, type Hint, restaurant, slot, system } from '../../../src/hint.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { posixWord, windowsWord } from '../../../src/util/shell.ts';
import { parse } from '../../helpers/parse.ts';

const appOf = async (words: readonly string[], platform?: NodeJS.Platform) =>
  (await parse(words, platform)).app;

interface Case {
  readonly typed: readonly string[];
  readonly hint: Hint;
  readonly text: string;
  readonly platform?: NodeJS.Platform;
}

const FIND = ['find', 'Nopa', '--city', 'San Francisco'];

const CASES: readonly Case[] = [
  {
    typed: FIND,
    hint: [{ text: 'see the quota', command: restaurant('status') }, { text: 'or wait' }],
    text: 'see the quota: restaurant status; or wait',
  },
  {
    typed: [...FIND, '-q', '-oa.csv', '--retries=0'],
    hint: { command: again({ '--force': true }) },
    text: "restaurant find Nopa --quiet -o a.csv --retries 0 --city 'San Francisco' --force",
  },
  {
    typed: ['find', '--demo', 'x', '-n2', '-j'],
    hint: {
      command: again({ '--limit': '5', '--cuisine': ['a b', slot('cuisine')] }, { without: ['--json'] }),
    },
    text: "restaurant find x --demo --limit 5 --cuisine 'a b' --cuisine <cuisine>",
  },
  {
    typed: ['find', 'x', '--output=a.csv', '-n2'],
    hint: { command: again({ '--output': 'b.csv' }) },
    text: 'restaurant find x --limit 2 -o b.csv',
  },
  {
    typed: ['find', '--cuisine', 'tacos', '--', '-x'],
    hint: { command: again({ '--jq': '-1' }) },
    text: 'restaurant find --cuisine tacos --jq=-1 -- -x',
  },
  {
    typed: ['lookup', '9', '--demo'],
    hint: { command: again({}, { operands: ["it's", slot('id')] }) },
    text: "restaurant lookup 'it'\\''s' <id> --demo",
  },
  {
    typed: [...FIND, '--profile', 'at work', '--base-url', 'http://localhost:1', '--insecure-http'],
    hint: [
      { command: restaurant('lookup', 'a', '--profile', 'b') },
      { command: restaurant('find', '--help') },
    ],
    text: 'restaurant lookup a --profile b --base-url http://localhost:1 --insecure-http; restaurant find --help',
  },
  {
    typed: [...FIND, '--demo'],
    hint: [{ command: restaurant('login') }, { command: restaurant('review', 'out.csv') }],
    text: 'restaurant login; restaurant review out.csv --demo',
  },
  {
    typed: ['raw', 'x', '-H', 'X-Token: hunter2', '-HAccept-Language: en', '--header=a$b: 1'],
    hint: { command: again() },
    text: `restaurant raw x --header "X-Token: \${X_TOKEN}" --header 'Accept-Language: en' --header "\${HEADER}"`,
  },
  {
    typed: [...FIND, '--base-url', 'https://u:p@host'],
    hint: { command: restaurant('status') },
    text: 'restaurant status',
  },
  {
    typed: FIND,
    hint: [
      { command: system('mkdir -p', 'a b') },
      { command: { ...restaurant('login', '--key-stdin'), stdin: 'key.txt' } },
      { command: { ...restaurant('status'), env: { NODE_EXTRA_CA_CERTS: 'my ca.pem' } } },
      { command: { ...restaurant('find', slot('name'), '--json'), pipe: restaurant('lookup', '-') } },
    ],
    text: "mkdir -p 'a b'; restaurant login --key-stdin < key.txt; NODE_EXTRA_CA_CERTS='my ca.pem' restaurant status; restaurant find <name> --json | restaurant lookup -",
  },
  {
    typed: ['enrich', 'C:\\my lists\\l.csv', '-o', 'C:\\o.csv', '-H', 'X-Token: hunter2'],
    platform: 'win32',
    hint: [
      { command: again({ '--resume': true, '--prefix': '100%' }) },
      { command: system('mkdir -p', 'C:\\missing\\') },
      { command: system('mv', 'a b\\', '%PATH%') },
      { command: { ...restaurant('login', '--key-stdin'), stdin: 'key.txt' } },
    ],
    text: 'restaurant enrich "C:\\my lists\\l.csv" -o C:\\o.csv --header "X-Token: <X_TOKEN>" --resume --prefix "100%"; mkdir C:\\missing\\; move "a b\\\\" <…>; type key.txt | restaurant login --key-stdin',
  },
];

describe('a hint', () => {
  it.each(CASES)('prints $text', async ({ typed, hint, text, platform }) => {
    expect(hintLine(await appOf(typed, platform), hint)).toBe(text);
  });

  it('has no command line of a run in a library', () => {
    expect(hintText({ command: again({ '--max-wait': '90s' }) })).toBe('restaurant <…> --max-wait 90s');
  });
});

/** The rules of the C runtime for the words of a command line (UCRT, `parse_cmdline`). */
function windowsArguments(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let isQuoted = false;
  let closedAt = -1;
  for (const { 0: part, 1: slashes, index } of `${line} `.matchAll(/(\\*)"|\\+|[^"\\]/gs)) {
    if (slashes === undefined && /[ \t]/.test(part) && !isQuoted) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (slashes === undefined) {
      word = (word ?? '') + part;
    } else {
      const isLiteral = slashes.length % 2 === 1;
      const isDoubled = !isQuoted && part === '"' && index === closedAt;
      word = (word ?? '') + '\\'.repeat(slashes.length / 2) + (isLiteral || isDoubled ? '"' : '');
      if (!isLiteral) isQuoted = !isQuoted;
      closedAt = index + part.length;
    }
  }
  return words;
}

const words = fc.array(fc.string({ unit: fc.constantFrom(...'ab \\"\'%!^&|<>$`~;,=-.:/*()é“\n') }), {
  maxLength: 4,
});

describe('a word', () => {
  it('is read by a POSIX shell as it was', () => {
    const hostile = ['', ...fc.sample(words, 200).flat()];
    const line = `printf '%s\\0' ${hostile.map(posixWord).join(' ')}`;
    expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1)).toEqual(hostile);
  });

  it('is read by the C runtime of Windows as it was, and holds nothing that cmd.exe or PowerShell replace', () => {
    fc.assert(
      fc.property(words, (all) => {
        const quoted = all.flatMap((word) => windowsWord(word) ?? []);
        const kept = all.filter((word) => windowsWord(word) !== undefined);
        expect(windowsArguments(quoted.join(' '))).toEqual(kept);
        for (const word of quoted) {
          expect(word).not.toMatch(/`|[\u201c-\u201e]|%[^%]+%|\$[\w({:?^$]|\n/);
          if (!word.startsWith('"')) expect(word).toMatch(/^[\w+=:./\\-]+$/);
          else expect(word.slice(1, -1).replaceAll('""', '')).not.toContain('"');
        }
      }),
    );
    const examples = ['', 'a b', 'C:\\a b\\', 'say "hi"', '100%', '50% of 60%', '$5', '$HOME', 'a!b^c'];
    expect(examples.map((word) => windowsWord(word) ?? 'none').join(' | ')).toBe(
      '"" | "a b" | "C:\\a b\\\\" | "say ""hi""" | "100%" | none | none | none | "a!b^c"',
    );
  });
});

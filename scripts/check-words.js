// Reports words and names that this project avoids, with the word to use instead; fails with --fail.
// The list contains words that were overused in the past. It does not check grammar.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Patterns with the words to use instead. */
const AVOIDED = [
  [/\banew\b/i, 'again, refresh'],
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\btold\b|\btells\b/i, 'reports, prints, shows'],
  [/\bstands? (in|twice)\b/i, 'is stored in, is repeated'],
  [/\b(go|goes|going) on with\b/i, 'continues'],
  [/(?<!\bthere )\bis no (?!longer\b)/i, 'is not a'],
  [/\basked for by\b/i, 'requested by'],
  [/\bof another make\b/i, 'of another kind'],
  [/\bby itself\b/i, 'automatically'],
  [/\bwhat was\b/i, 'name the thing'],
  [/\b(MOST|LONGEST)(_[A-Z]+)*\b/, 'MAX_…'],
  [/\/\*\* What\b/, 'a verb in the third person, or a noun phrase'],
  [/\b(colour|licence|neighbour|behaviour|honour|favour|normalis|recognis|initialis)/i, 'American spelling'],
];

/** Lines that need such a word: names in other programs, and options in British spelling. */
const ALLOWED = /neighbourhood[':]|no-colour/i;

const files = execFileSync(
  'git',
  ['ls-files', 'src', 'test', 'scripts', 'bench', 'docs/*.md', 'bin', '*.md'],
  {
    cwd: root,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter(
    (file) => /\.(ts|js|md|css)$/.test(file) && !['CHANGELOG.md', 'scripts/check-words.js'].includes(file),
  );

const found = files.flatMap((file) =>
  readFileSync(`${root}${file}`, 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      ALLOWED.test(line)
        ? []
        : AVOIDED.flatMap(([pattern, plain]) => {
            const word = pattern.exec(line)?.[0];
            return word === undefined ? [] : [`${file}:${index + 1}: "${word.trim()}" (${plain})`];
          }),
    ),
);
for (const line of found) process.stdout.write(`${line}\n`);
process.stdout.write(`${found.length} words to replace in ${files.length} files\n`);
if (found.length > 0 && process.argv.includes('--fail')) process.exitCode = 1;

// Fails if the project has words or names that it avoids, and reports the word to use instead.
// The list contains words that were overused in the past. It does not check grammar.
import { execFileSync } from 'node:child_process';
import { path } from './project.js';

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
const ALLOWED = /neighbourhood[':]|no-colour|'--neighborhood':|favourite/i;

const FILES = ['*.ts', '*.js', '*.css', '*.md', ':!CHANGELOG.md', ':!scripts/check-words.js'];
// Prints `<file>:<line>:<text>` for each line that is not empty.
const text = execFileSync('git', ['grep', '--text', '--line-number', '.', '--', ...FILES], {
  cwd: path(),
  encoding: 'utf8',
  maxBuffer: 1e9,
});

const found = text.split('\n').flatMap((line) => {
  const [place = ''] = /^[^:]+:\d+:/.exec(line) ?? [];
  return AVOIDED.flatMap(([pattern, plain]) => {
    const word = ALLOWED.test(line) ? undefined : pattern.exec(line.slice(place.length))?.[0];
    return word === undefined ? [] : [`${place} "${word.trim()}" (${plain})\n`];
  });
});
process.stdout.write(`${found.join('')}${found.length} words to replace\n`);
if (found.length > 0) process.exitCode = 1;

// Prints the size and shape of the source, most figures beside their target. With --verbose, also what is behind them.
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { path, read } from '../scripts/project.js';
import { traceFind } from './trace-find.js';

const isVerbose = process.argv.includes('--verbose');

/** Reads the files of a folder whose names match. @returns their texts, by path */
function textsIn(folder, pattern = /\.ts$/) {
  const names = readdirSync(path(folder), { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => `${folder}/${name.replaceAll('\\', '/')}`);
  const matching = files.filter((file) => pattern.test(file) && statSync(path(file)).isFile());
  return new Map(matching.map((file) => [file, read(file)]));
}
const linesOf = (texts) => [...texts.values()].flatMap((text) => text.split('\n').slice(0, -1));
const src = textsIn('src');
const lines = linesOf(src);
const comments = lines.filter((line) => /^\s*(\/\/|\/\*|\*)/.test(line));

/** Every import of one of our files by another: static, of a type, or on first use. */
const imports = [...src].flatMap(([file, text]) =>
  [...text.matchAll(/(?:\bfrom\s+|\bimport\()'(\.[^']+\.ts)'/g)].map(([, target]) => ({
    file,
    target: posix.join(posix.dirname(file), target),
  })),
);

/**
 * Returns the imports that run up: of two rooms that import each other, those in the direction that has fewer. A room is a
 * file or folder at this depth below src.
 */
function upward(depth) {
  const roomOf = (file) =>
    file
      .split('/')
      .slice(0, depth + 1)
      .join('/')
      .replace(/\.ts$/, '');
  const arrows = new Map();
  for (const { file, target } of imports) {
    const [from, to] = [roomOf(file), roomOf(target)];
    const isInside = depth === 1 || posix.dirname(from) === posix.dirname(to);
    if (from === to || !isInside) continue;
    const key = `${from} → ${to}`;
    arrows.set(key, [...(arrows.get(key) ?? []), `${file} → ${target}`]);
  }
  return [...arrows].flatMap(([key, list]) => {
    const back = arrows.get(key.split(' → ').reverse().join(' → '));
    return back !== undefined && (list.length < back.length || (list.length === back.length && key < back[0]))
      ? list
      : [];
  });
}

/** Counts the findings of a lint rule in src. */
function findings(rule) {
  const words = ['biome', 'lint', `--only=${rule}`, '--reporter=json', '--max-diagnostics=none', 'src'];
  try {
    return countIn(
      execFileSync('npx', words, { cwd: path(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
    );
  } catch ({ stdout }) {
    return countIn(stdout);
  }
}
const countIn = (json) =>
  JSON.parse(json).diagnostics.filter(({ category }) => category.startsWith('lint/')).length;

/** Counts the public members of the class App. */
function membersOfApp() {
  const body = /export class App \{\n([\s\S]*?)\n\}/.exec(src.get('src/app/app.ts') ?? '')?.[1] ?? '';
  const names = body.matchAll(/^ {2}(?!private |#|constructor)(?:readonly |get |async )*([a-zA-Z]+)[^\n]*/gm);
  return new Set([...names].map(([, name]) => name)).size;
}

const { modules, calls } = await traceFind();
const rows = [
  ['lines of TypeScript in src', lines.length, 20_000],
  ['files in src', src.size, 165],
  ['comment lines in src, percent', Math.round((1000 * comments.length) / lines.length) / 10, 7],
  ['functions from client.find to undici', calls.length, 6],
  ['functions over 60 lines', findings('complexity/noExcessiveLinesPerFunction'), 0],
  ['functions over complexity 15', findings('complexity/noExcessiveCognitiveComplexity'), 0],
  ['nested ternaries', findings('style/noNestedTernary'), 0],
  ['public members of App', membersOfApp(), 12],
  ['imports up between rooms', upward(1).length, 0],
  ['imports up inside rooms', upward(2).length, 3],
  ['modules of ours that find loads', modules.length, 80],
  ['lines of test code', linesOf(textsIn('test', /\.(ts|js)$/)).length, 26_000],
  ['lines of recorded sessions in test', linesOf(textsIn('test', /\.session$/)).length],
  ['lines of scripts', linesOf(textsIn('scripts', /\.js$/)).length, 1300],
  ['lines of templates in scripts', linesOf(textsIn('scripts/templates', /./)).length],
];
for (const [name, value, target] of rows) {
  const mark = value > target ? '  missed' : '';
  const goal = target === undefined ? '' : `   at most ${target.toLocaleString('en')}${mark}`;
  process.stdout.write(`${name.padEnd(38)}${value.toLocaleString('en').padStart(8)}${goal}\n`);
}
if (isVerbose) {
  const details = {
    'up between rooms': upward(1),
    'up inside rooms': upward(2),
    'find loads': modules,
    calls,
  };
  for (const [name, list] of Object.entries(details))
    process.stdout.write(`\n${name}:\n  ${list.join('\n  ')}\n`);
}

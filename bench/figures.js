// Prints the size and shape of the source, most figures beside their target. With --verbose, also what is behind them.
import { execFileSync } from 'node:child_process';
import { posix } from 'node:path';
import { path, read } from '../scripts/project.js';
import { traceFind } from './trace-find.js';

const isVerbose = process.argv.includes('--verbose');

/** Binary files, and texts that others wrote. */
const NOT_MAINTAINED = /\.(png|xlsx|parquet|gz|zip|json)$|^scripts\/licenses\//;

/** Reads the tracked files of folders. @returns their texts, by path */
function textsIn(...folders) {
  const names = execFileSync('git', ['ls-files', ...folders], { cwd: path(), encoding: 'utf8' });
  const files = names.split('\n').filter((file) => file !== '' && !NOT_MAINTAINED.test(file));
  return new Map(files.map((file) => [file, read(file)]));
}
const linesOf = (texts) => [...texts.values()].flatMap((text) => text.split('\n').slice(0, -1));
const matching = (texts, pattern) => new Map([...texts].filter(([file]) => pattern.test(file)));
const maintained = textsIn('src', 'scripts', 'bench', '.ci', 'bin');
const tests = textsIn('test');
const src = matching(maintained, /^src\/.*\.ts$/);
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

/** Returns the names of exported types that are declared in more than one file. */
function sharedNames() {
  const files = new Map();
  const exported = new Set();
  for (const [file, text] of src) {
    const found = text.matchAll(/^(export )?(?:declare |abstract )?(?:interface|type|class) ([A-Za-z]+)/gm);
    for (const [, isExported, name] of found) {
      files.set(name, new Set([...(files.get(name) ?? []), file]));
      if (isExported !== undefined) exported.add(name);
    }
  }
  return [...files].filter(([name, { size }]) => exported.has(name) && size > 1).map(([name]) => name);
}

/** Returns the options of each command, as `restaurant schema` prints them, and those of all commands. */
function optionNames() {
  const schema = (...words) =>
    JSON.parse(
      execFileSync(process.execPath, [path('bin/restaurant.js'), 'schema', ...words, '--json'], {
        encoding: 'utf8',
      }),
    );
  const names = (value) =>
    [...JSON.stringify(value).matchAll(/"flags":"(?:-\w, )?(--[a-z][\w-]*)/g)].map(([, name]) => name);
  return {
    all: new Set(names(schema())),
    enrich: new Set(names(schema().commands.find(({ name }) => name === 'enrich'))),
  };
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

/** Files with a way of their own to write bytes to a file. The two left out write to stdout and stderr. */
const waysToWrite = [...src]
  .filter(([file]) => file !== 'src/start.ts' && file !== 'src/streams.ts')
  .filter(([, text]) => /\b(writeSync|writeFileSync|appendFileSync|createWriteStream)\(/.test(text))
  .map(([file]) => file);

/** Arrays outside of program.ts that list at least three command names, each as `file: names`. */
const commandNames = new Set(
  [...read('src/program.ts').matchAll(/^ {2}(\w+): \[/gm)].map(([, name]) => name),
);
const commandLists = [...src]
  .filter(([file]) => file !== 'src/program.ts')
  .flatMap(([file, text]) =>
    [...text.matchAll(/\[((?:\s*'[a-z]+',?)+)\s*\]/g)]
      .map(([, list]) => [...list.matchAll(/'([a-z]+)'/g)].map(([, name]) => name))
      .filter((names) => names.filter((name) => commandNames.has(name)).length >= 3)
      .map((names) => `${file}: ${names.join(' ')}`),
  );

/** The files that hold a failure between the wire and stderr, as the walk of AGENTS.md names them. */
const walk = /## A failure, file by file[^\n]*\n([\s\S]*?)\n## /.exec(read('AGENTS.md'))?.[1] ?? '';
const filesOfFailure = new Set([...walk.matchAll(/`([\w/-]+\.ts)`/g)].map(([, file]) => file));

const { modules, calls, failures } = await traceFind();
const options = optionNames();
const sharedTypes = sharedNames();
const rows = [
  ['lines of TypeScript in src', lines.length, 27_000],
  ['files in src', src.size, 195],
  ['lines of src, scripts, bench, and CI', linesOf(maintained).length, 31_500],
  ['  of these, CSS', linesOf(matching(maintained, /\.css$/)).length],
  ['  of these, scripts and templates', linesOf(matching(maintained, /^scripts\//)).length],
  ['  of these, bench', linesOf(matching(maintained, /^bench\//)).length],
  ['lines of tests', linesOf(tests).length],
  ['  of these, recorded sessions', linesOf(matching(tests, /\.session$/)).length],
  ['comment lines in src, percent', Math.round((1000 * comments.length) / lines.length) / 10, 7],
  ["functions from find's action to undici", calls.length, 9],
  ['modules that a find with a table loads', modules.length, 75],
  ['errors made for one attempt that fails', Math.max(...failures.map(({ perAttempt }) => perAttempt)), 1],
  ['files that hold a failure', filesOfFailure.size, 7],
  ['ways to write a file', waysToWrite.length, 4],
  ['imports up between rooms', upward(1).length, 0],
  ['imports up inside rooms', upward(2).length, 0],
  ['different option names', options.all.size, 92],
  ['options of enrich', options.enrich.size, 23],
  ['lists of command names by hand', commandLists.length, 0],
  ['exported types with several meanings', sharedTypes.length, 0],
  ['functions over 60 lines', findings('complexity/noExcessiveLinesPerFunction'), 0],
  ['functions over complexity 15', findings('complexity/noExcessiveCognitiveComplexity'), 0],
  ['nested ternaries', findings('style/noNestedTernary'), 0],
  ['public members of App', membersOfApp(), 12],
  ['lines of README', read('README.md').split('\n').length - 1, 150],
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
    'errors made': failures.map(({ title, errors }) => `${errors} for ${title}`),
    'hold a failure': [...filesOfFailure],
    'write a file': waysToWrite,
    'lists of commands': commandLists,
    'types with several meanings': sharedTypes,
  };
  for (const [name, list] of Object.entries(details))
    process.stdout.write(`\n${name}:\n  ${list.join('\n  ')}\n`);
}

// Prints the size and shape of the source: lines, files, files with one importer, import cycles, repeated code, the modules
// that `find` loads, and the call depth of its request. Fails only for an import cycle.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { TEXT_MODULES } from './text-modules.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const DUPLICATE_LINES = 6;

const filesIn = (folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.ts'));
const files = filesIn('src');
const texts = new Map(
  [...files, ...filesIn('test')].map((file) => [file, readFileSync(join(root, file), 'utf8')]),
);
const lines = files.reduce((sum, file) => sum + texts.get(file).split('\n').length - 1, 0);

/** The files that each file imports: statically, as a type, or on first use. */
const imports = new Map(
  [...texts].map(([file, text]) => {
    const found = text.matchAll(/(?:\bfrom\s+|\bimport\()'(\.[^']+\.ts)'/g);
    const targets = [...found].map(([, target]) => posix.normalize(posix.join(posix.dirname(file), target)));
    return [file, new Set(targets.filter((target) => texts.has(target)))];
  }),
);
const room = (file) => file.split('/')[1];
const importers = (file) => [...texts.keys()].filter((other) => imports.get(other)?.has(file));
/** Files that only one file of the same folder imports, and that have no test. */
const single = files.filter((file) => {
  const [first, second] = importers(file);
  return first !== undefined && second === undefined && room(first) === room(file);
});

/** Import cycles: strongly connected groups of more than one file (Tarjan). */
function cycles() {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const groups = [];
  const visit = (file) => {
    index.set(file, index.size);
    low.set(file, index.get(file));
    stack.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(file, Math.min(low.get(file), low.get(next)));
    }
    if (low.get(file) !== index.get(file)) return;
    const group = stack.splice(stack.indexOf(file));
    if (group.length > 1) groups.push(group);
  };
  for (const file of files) if (!index.has(file)) visit(file);
  return groups;
}

/** Blocks of equal lines that occur in more than one place; blank lines, imports and closing brackets do not count. */
function duplicates() {
  const seen = new Map();
  const repeated = new Set();
  for (const file of files) {
    const code = texts
      .get(file)
      .replace(/^import [^;]*;/gm, (statement) => statement.replace(/.+/g, ''))
      .split('\n')
      .map((line, number) => ({ line: line.trim(), number: number + 1 }))
      .filter(({ line }) => !/^(|[\])};,]+|\/?\*.*|\/\/.*)$/.test(line));
    for (let at = 0; at + DUPLICATE_LINES <= code.length; at += 1) {
      const block = code
        .slice(at, at + DUPLICATE_LINES)
        .map(({ line }) => line)
        .join('\n');
      const place = `${file}:${code[at].number}`;
      const first = seen.get(block);
      if (first === undefined) seen.set(block, place);
      else repeated.add(`${first} = ${place}`);
    }
  }
  return [...repeated];
}

/** Loaded before the program: records our modules that are loaded, and the calls that lead to undici. */
const WATCH = `
const Module = require('node:module');
const { writeFileSync } = require('node:fs');
Error.stackTraceLimit = 200;
const ours = new Set();
let stack = '';
let isWatched = false;
const load = Module._load;
Module._load = function (request, parent, isMain) {
  const loaded = load.apply(this, arguments);
  const file = /^[./]/.test(request) ? Module._resolveFilename(request, parent, isMain) : '';
  if (/\\/src\\/(?!_virtual)/.test(file)) ours.add(file);
  if (/^undici/.test(request) && !isWatched) {
    isWatched = true;
    const { prototype } = parent.require('undici/lib/dispatcher/dispatcher-base.js');
    const { dispatch } = prototype;
    prototype.dispatch = function (...given) {
      stack ||= new Error().stack;
      return dispatch.apply(this, given);
    };
  }
  return loaded;
};
process.on('exit', () => writeFileSync(process.env.FIGURES, JSON.stringify({ ours: [...ours], stack })));
`;

/** Lets Node load the modules. In the real build, compile-cache.ts loads the chunks. */
const byNode = {
  name: 'by-node',
  load: {
    filter: { id: /[\\/]compile-cache\.ts$/ },
    handler: () => 'export const loadChunks = () => {};',
  },
};

/** Builds the program with one file per module, and runs one \`find\` against a local service. */
async function traceFind() {
  const work = mkdtempSync(join(tmpdir(), 'figures-'));
  const service = spawn(process.execPath, ['-e', SERVICE], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [port] = await once(service.stdout, 'data');
    const bundle = await rolldown({
      cwd: root,
      input: { start: 'src/start.ts' },
      platform: 'node',
      external: /^[^./]/,
      moduleTypes: TEXT_MODULES,
      plugins: [byNode],
      logLevel: 'silent',
    });
    const { output } = await bundle.generate({
      format: 'cjs',
      dir: join(work, 'src'),
      preserveModules: true,
      preserveModulesRoot: join(root, 'src'),
      entryFileNames: '[name].cjs',
    });
    await bundle.close();
    for (const { fileName, code, source } of output) {
      const path = join(work, 'src', fileName);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, code ?? source);
    }
    symlinkSync(join(root, 'node_modules'), join(work, 'node_modules'));
    writeFileSync(join(work, 'watch.cjs'), WATCH);
    const env = {
      PATH: process.env.PATH,
      HOME: work,
      NODE_DISABLE_COMPILE_CACHE: '1',
      RESTAURANT_API_KEY: 'sk_service_demo_free',
      FIGURES: join(work, 'figures.json'),
    };
    const { status, stderr } = spawnSync(
      process.execPath,
      [
        '--require',
        join(work, 'watch.cjs'),
        join(work, 'src/start.cjs'),
        'find',
        'Nopa',
        '--city',
        'SF',
      ].concat(['--json', '--base-url', `http://127.0.0.1:${String(port).trim()}`]),
      { env, encoding: 'utf8' },
    );
    if (status !== 0) throw new Error(`find: exit ${status}\n${stderr}`);
    return JSON.parse(readFileSync(join(work, 'figures.json'), 'utf8'));
  } finally {
    service.kill();
    rmSync(work, { recursive: true, force: true });
  }
}

const SERVICE = `
const text = JSON.stringify({ status: 'ok', results: [], total_matches: 0 });
require('node:http').createServer((request, response) => {
  let body = '';
  request.on('data', (part) => { body += part; }).on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result: { content: [{ type: 'text', text }] } }));
  });
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

const circles = cycles();
const repeated = duplicates();
const { ours, stack } = await traceFind();
const frames = stack.split('\n').filter((line) => /\/src\/client\//.test(line));
const rows = [
  ['lines of TypeScript in src', lines, 'at most 20,000'],
  ['files', files.length, 'at most 200'],
  ['files with one importer, of their room', single.length, 'at most 30'],
  ['modules of ours that find loads', ours.length, 'at most 80'],
  ['import cycles, types included', circles.length, '0'],
  [`repeated blocks of ${DUPLICATE_LINES} lines`, repeated.length, '0'],
  ['functions of the client above undici', frames.length, 'at most 8'],
];
for (const [name, value, target] of rows) {
  process.stdout.write(`${name.padEnd(40)}${value.toLocaleString('en').padStart(8)}   ${target}\n`);
}
if (process.argv.includes('--verbose')) {
  for (const file of single) process.stdout.write(`one importer: ${file} <- ${importers(file)[0]}\n`);
  for (const block of repeated) process.stdout.write(`repeated: ${block}\n`);
  for (const file of ours) process.stdout.write(`find loads: ${file.slice(file.indexOf('/src/') + 1)}\n`);
  process.stdout.write(`${stack}\n`);
}
for (const circle of circles) process.stdout.write(`import cycle: ${circle.join(' → ')}\n`);
if (circles.length > 0) process.exitCode = 1;

// Runs one `find` with a table against a local service and records our modules that it loads, and our functions that lead
// from the action of the command to undici. Each function runs in an asynchronous context that contains its callers, so
// that, unlike in a stack trace, no function is lost at an `await`. Also counts the errors that commands make that fail.
import { spawnSync } from 'node:child_process';
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
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { TEXT_MODULES } from '../scripts/bundle.js';
import { path } from '../scripts/project.js';
import { FAILURES } from './failures.js';
import { startSandbox, startService } from './service.js';

/** Loaded before the program. */
const WATCH = `
const Module = require('node:module');
const { AsyncLocalStorage } = require('node:async_hooks');
const { writeFileSync } = require('node:fs');
const storage = new AsyncLocalStorage();
globalThis.__within = (name, work) => storage.run([...(storage.getStore() ?? []), name], work);
const modules = new Set();
let calls;
const load = Module._load;
Module._load = function (request, parent, isMain) {
  const loaded = load.apply(this, arguments);
  const file = /^[./]/.test(request) ? Module._resolveFilename(request, parent, isMain) : '';
  if (/\\/src\\/(?!_virtual).*\\.cjs$/.test(file)) modules.add(file.slice(file.indexOf('/src/') + 1));
  if (/^undici/.test(request) && calls === undefined) {
    calls = [];
    const { prototype } = parent.require('undici/lib/dispatcher/dispatcher-base.js');
    const { dispatch } = prototype;
    prototype.dispatch = function (...args) {
      if (calls.length === 0) calls = storage.getStore() ?? [];
      return dispatch.apply(this, args);
    };
  }
  return loaded;
};
process.on('exit', () => writeFileSync(process.env.TRACE, JSON.stringify({ modules: [...modules], calls: calls ?? [] })));
`;

/** Lets Node load the modules. In the real build, compile-cache.ts loads the chunks. */
const byNode = {
  name: 'by-node',
  load: { filter: { id: /[\\/]compile-cache\.ts$/ }, handler: () => 'export const loadChunks = () => {};' },
};

/** Returns the functions below a node of a syntax tree, each with a name. */
function* functionsIn(node, name = 'anonymous') {
  if (typeof node !== 'object' || node === null) return;
  if (Array.isArray(node)) {
    for (const each of node) yield* functionsIn(each, name);
    return;
  }
  const own = node.id?.name ?? node.key?.name ?? name;
  const isFunction = /^(Arrow)?Function(Declaration|Expression)?(Expression)?$/.test(node.type ?? '');
  if (isFunction && node.body !== null && !node.generator) yield { node, name: own };
  // A constructor must call super() itself.
  if (node.type === 'MethodDefinition' && node.kind === 'constructor')
    yield* functionsIn(node.value.body, own);
  else for (const [key, child] of Object.entries(node)) if (key !== 'id') yield* functionsIn(child, own);
}

/** Runs the body of each function of a module within the context of its callers. */
function withCallers(code, file) {
  const opening = new Map();
  const closing = new Map();
  // An outer function comes first: its text opens before, and closes after, that of an inner one at the same position.
  for (const { node, name } of functionsIn(parseAst(code))) {
    const { body, async: isAsync } = node;
    const isBlock = body.type === 'BlockStatement';
    const call = `globalThis.__within(${JSON.stringify(`${file} ${name}`)}, ${isAsync ? 'async ' : ''}() => `;
    opening.set(body.start, (opening.get(body.start) ?? '') + (isBlock ? `{ return ${call}` : `${call}(`));
    closing.set(body.end, (isBlock ? '); }' : '))') + (closing.get(body.end) ?? ''));
  }
  const positions = [...new Set([...opening.keys(), ...closing.keys(), code.length])].sort((a, b) => a - b);
  let from = 0;
  let text = '';
  for (const position of positions) {
    text += code.slice(from, position) + (closing.get(position) ?? '') + (opening.get(position) ?? '');
    from = position;
  }
  return text;
}

/** Builds the program with one file per module. */
async function build(folder) {
  const bundle = await rolldown({
    cwd: path(),
    input: { start: 'src/start.ts' },
    platform: 'node',
    external: /^[^./]/,
    moduleTypes: TEXT_MODULES,
    plugins: [byNode],
    logLevel: 'silent',
  });
  const { output } = await bundle.generate({
    format: 'cjs',
    dir: folder,
    preserveModules: true,
    preserveModulesRoot: path('src'),
    entryFileNames: '[name].cjs',
  });
  await bundle.close();
  for (const { fileName, code, source } of output) {
    const file = join(folder, fileName);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      /^(app|client|commands)\//.test(fileName) ? withCallers(code, fileName) : (code ?? source),
    );
  }
}

/** Counts how often the constructor of our errors is called for each attempt of a command that fails. */
async function countErrors({ title, words, faults, attempts, exit, settings }, program, work) {
  const sandbox = await startSandbox(...faults.flatMap((fault) => ['--fault', fault]));
  const home = mkdtempSync(join(work, 'home-'));
  const coverage = join(home, 'coverage');
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    NODE_V8_COVERAGE: coverage,
    TRACE: join(home, 'trace.json'),
    RESTAURANT_API_KEY: 'sk_service_demo_paid',
    RESTAURANT_BASE_URL: sandbox.baseUrl,
    ...settings,
  };
  const { status, stderr } = spawnSync(process.execPath, [...program, ...words, '--json'], {
    env,
    encoding: 'utf8',
  });
  sandbox.stop();
  if (status !== exit) throw new Error(`${title}: exit ${status}\n${stderr}`);
  const errors = readdirSync(coverage)
    .flatMap((name) => JSON.parse(readFileSync(join(coverage, name), 'utf8')).result)
    .filter(({ url }) => url.endsWith('/src/errors.cjs'))
    .flatMap(({ functions }) => functions)
    .filter(({ functionName }) => functionName === 'AppError')
    .reduce((count, { ranges }) => count + ranges[0].count, 0);
  return { title, errors, perAttempt: errors / attempts };
}

/**
 * @returns the paths of our modules that `find` loads, our functions from its action to undici, outermost first, and the
 * errors that failing commands make
 */
export async function traceFind() {
  const work = mkdtempSync(join(tmpdir(), 'figures-'));
  const service = await startService();
  try {
    await build(join(work, 'src'));
    symlinkSync(path('node_modules'), join(work, 'node_modules'));
    writeFileSync(join(work, 'watch.cjs'), WATCH);
    const env = {
      PATH: process.env.PATH,
      HOME: work,
      NODE_DISABLE_COMPILE_CACHE: '1',
      RESTAURANT_API_KEY: 'sk_service_demo_free',
      RESTAURANT_BASE_URL: service.baseUrl,
      TRACE: join(work, 'trace.json'),
    };
    const program = ['--require', join(work, 'watch.cjs'), join(work, 'src/start.cjs')];
    const words = [...program, 'find', 'Nopa', '--city', 'SF', '--format', 'table'];
    const { status, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`find: exit ${status}\n${stderr}`);
    const { modules, calls } = JSON.parse(readFileSync(join(work, 'trace.json'), 'utf8'));
    const action = calls.findIndex((call) => call.startsWith('commands/find.cjs runFind'));
    const failures = [];
    for (const failure of FAILURES) failures.push(await countErrors(failure, program, work));
    return { modules, calls: calls.slice(action), failures };
  } finally {
    service.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

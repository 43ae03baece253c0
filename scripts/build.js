// Bundles src/start.ts into dist/: as CommonJS, which starts faster than ES modules, with a chunk for each part that is
// loaded on first use.
//
// CPU time that the optimizations save on Node 20 (`find --help` uses 65 ms, `find` 125 ms, an empty script 30 ms):
//   modules that are never used     20 to 30 ms of `find`; node:http alone is 3
//   groups of chunks                10 ms of both
//   built-in modules on first use   10 ms of both
//   libraries on first use          3 ms of both; 4 ms of a find from the cache
//   emoji and segmenters on demand  40 ms of both
//   minification                    no time, but a third of the size
//
// Where a `find` from the cache spends its 61 million instructions more than an empty script (87 million on Node 20):
//   the search: settings, cache file, last results, output   19
//   compiled code of the chunks                               9
//   constants of modules, including commander                 7
//   folder of the compiled code: paths, checks, node:vm       7
//   reading the chunks and their code                         6
//   the command tree: 32 options, 23 commands                 6
//   start.cjs, signals, exit                                  7
import { execFile } from 'node:child_process';
import { accessSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { makeJqWorker } from './jq-worker.js';
import { lazyConstants, lazyModules, ON_FIRST_USE, onFirstUse, quickExports } from './lazy-modules.js';
import { shipLicenses } from './licenses.js';
import { makePage } from './page.js';
import { tableWidths } from './table-library.js';
import { TEXT_MODULES } from './text-modules.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Modules that libraries load but this program never uses: undici's HTTP/2, its fetch bodies, and the second build of
 * its parser; chalk's color detection, which src/output/style.ts replaces.
 */
const UNUSED =
  /undici[\\/]lib[\\/](dispatcher[\\/]client-h2|web[\\/]fetch[\\/]body|llhttp[\\/]llhttp_simd-wasm)\.js$|chalk[\\/]source[\\/]vendor[\\/]supports-color[\\/]index\.js$/;

const without = (unused) => ({
  name: 'without',
  load: {
    filter: { id: unused },
    handler: (id) => `module.exports = () => { throw new Error('${basename(id)} is not in the bundle'); };`,
  },
});

/** Replacements for built-in modules in undici. */
const FOR_UNDICI = {
  // Throws a fixed message. To build its own message, Node 20 searches the source code of the failed call, which takes
  // minutes in the long lines of a bundle.
  'node:assert': `module.exports = (holds, message = 'an assertion failed') => {
    if (!holds) throw Object.assign(new Error(message), { name: 'AssertionError', code: 'ERR_ASSERTION' });
  };`,
  // Takes 3 ms to load. undici only uses a constant of it, and a class for bodies that this program never sends.
  'node:http': 'module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} };',
};

const ownModules = {
  name: 'own-modules',
  resolveId: {
    filter: { id: /^node:(assert|http)$/ },
    handler: (id, importer) => (/[\\/]undici[\\/]/.test(importer ?? '') ? `\0${id}.cjs` : undefined),
  },
  load: {
    filter: { id: /^\0node:(assert|http)\.cjs$/ },
    handler: (id) => FOR_UNDICI[id.slice(1, -'.cjs'.length)],
  },
};

/**
 * V8 compiles the WebAssembly of undici's parser and of jq a second time in the background, and the process waits 150 ms for
 * it at exit. compile-cache.ts restores the flags. Bun does not have them.
 */
const compileOnce = {
  name: 'compile-once',
  transform: {
    filter: { id: /undici[\\/]lib[\\/]llhttp[\\/]llhttp-wasm\.js$|[\\/]jq-wasm[\\/].*js$/ },
    handler: (code) => `if (process.versions.bun === undefined)
      process.getBuiltinModule('node:v8').setFlagsFromString('--no-wasm-tier-up --no-wasm-dynamic-tiering');
      ${code}`,
  },
};

const OUTPUT = {
  format: 'cjs',
  // Keeping function names would add a call for each function created, which takes a sixth of the time of a long list.
  minify: true,
  // V8 stores ASCII in half the memory.
  charset: 'ascii',
  comments: false,
  chunkFileNames: 'chunks/[name]-[hash].cjs',
};

const inText = [...(await makePage()), ...(await makeJqWorker(compileOnce))];
const libraries = await bundleLibraries();
const bundle = await rolldown({
  cwd: root,
  input: { start: 'src/start.ts' },
  platform: 'node',
  moduleTypes: TEXT_MODULES,
  plugins: [without(UNUSED), ownModules, compileOnce, lazyConstants, tableWidths, onFirstUse(libraries)],
  // Prefer the ES module of a package to its UMD build, which cannot be bundled.
  resolve: { mainFields: ['module', 'main'] },
  transform: { target: 'node20.19' },
  // A module that one command loads on first use can be loaded at the start of another.
  checks: { ineffectiveDynamicImport: false },
});
// Modules that are loaded together share one file, because each file takes a millisecond to load.
const group = (name, priority, ...modules) => {
  for (const each of modules) accessSync(join(root, each));
  const test = (id) => modules.some((each) => id.replaceAll('\\', '/').endsWith(each));
  return { name, priority, test };
};
const groups = [
  group('start', 4, '/src/start.ts'),
  group(
    'program',
    3,
    '/src/main.ts',
    '/src/app/hints.ts',
    '/src/app/service.ts',
    '/src/app/request.ts',
    '/src/app/last-results.ts',
    '/src/app/output.ts',
    '/src/util/fold.ts',
    '/src/util/restaurant.ts',
    '/src/cli/schemas.ts',
    '/src/storage/code-folder.ts',
    '/src/client/tools.ts',
  ),
  group('render', 2, '/src/output/render/find.ts', '/src/output/csv.ts', '/src/output/table.ts'),
  group('client', 1, '/src/client/restaurant.ts', '/src/client/http/dispatcher.ts', '/src/storage/ledger.ts'),
];

const { output } = await bundle.generate({
  ...OUTPUT,
  entryFileNames: '[name].cjs',
  codeSplitting: { groups },
});
await bundle.close();

output.push(...libraries.values());

// Build in a temporary folder, so that the chunks of a running program are only missing for a moment.
const temporary = join(root, `dist-${process.pid}`);
for (const { fileName, code } of output) {
  await mkdir(dirname(join(temporary, fileName)), { recursive: true });
  const lazy = lazyModules(quickExports(code));
  await writeFile(join(temporary, fileName), fileName === 'start.cjs' ? asStart(lazy) : lazy);
}
await shipLicenses(temporary, [...output.flatMap(({ modules }) => Object.keys(modules)), ...inText]);
await embedHelp(join(temporary, 'start.cjs'));
// Keep the executables of an earlier build.
await rename(join(root, 'dist/standalone'), join(temporary, 'standalone')).catch(() => {});
await rm(join(root, 'dist'), { recursive: true, force: true });
await rename(temporary, join(root, 'dist'));

/** Bundles each library that few runs need as a separate chunk. @returns the chunks, by name of the library */
async function bundleLibraries() {
  const chunks = new Map();
  for (const name of ON_FIRST_USE) {
    const library = await rolldown({
      cwd: root,
      input: { [name]: name },
      platform: 'node',
      plugins: [without(UNUSED)],
      resolve: { mainFields: ['module', 'main'] },
    });
    const { output } = await library.generate({
      ...OUTPUT,
      entryFileNames: OUTPUT.chunkFileNames,
      exports: 'named',
    });
    await library.close();
    chunks.set(name, output[0]);
  }
  return chunks;
}

/** Removes the loading of rolldown's helpers from the start chunk. @throws {Error} if it uses them */
function asStart(code) {
  const start = code.replace(/,require\("\.\/chunks\/rolldown-runtime-[^"]+"\);/, ';');
  if (start.includes('/rolldown-runtime-')) throw new Error('the start uses the helpers of rolldown');
  return start;
}

/** Embeds the help in start.ts, which prints it without loading the program. */
async function embedHelp(file) {
  const { stdout: help } = await promisify(execFile)(process.execPath, [file, 'help']);
  const code = await readFile(file, 'utf8');
  const embedded = code.replace(/(["'`])the build embeds the help here\1/, () => JSON.stringify(help));
  if (embedded === code) throw new Error('the start has no place for the help');
  await writeFile(file, embedded);
}

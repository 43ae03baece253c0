// Bundles src/start.ts into dist/: CommonJS, which starts faster than ES modules do, and a chunk for each part that is
// loaded on first use.
import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { lazyBuiltins, lazySegmenters } from './lazy-builtins.js';
import { shipLicenses } from './licenses.js';
import { makePage } from './page.js';
import { tableWidths } from './table-library.js';
import { TEXT_MODULES } from './text-modules.js';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * What libraries load and this program never asks for: undici's HTTP/2, its bodies of fetch, the second build of its
 * parser; chalk's look at the terminal, since the palette is told what it can.
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

/**
 * Assertions of undici without Node's message: on Node 20 that looks for the source of the failed call, which in the
 * long line of a bundle takes minutes.
 */
const plainAssert = {
  name: 'plain-assert',
  resolveId: {
    filter: { id: /^node:assert$/ },
    handler: (_id, importer) => (/[\\/]undici[\\/]/.test(importer ?? '') ? '\0assert.cjs' : undefined),
  },
  load: {
    filter: { id: /^\0assert\.cjs$/ },
    handler: () => `module.exports = (holds, message = 'an assertion failed') => {
      if (!holds) throw Object.assign(new Error(message), { name: 'AssertionError', code: 'ERR_ASSERTION' });
    };`,
  },
};

const inPage = await makePage();
const bundle = await rolldown({
  cwd: root,
  input: { start: 'src/start.ts' },
  platform: 'node',
  moduleTypes: TEXT_MODULES,
  plugins: [without(UNUSED), plainAssert, lazySegmenters, tableWidths],
  // The ES module of a package, where it has one, before its UMD form, which cannot be bundled.
  resolve: { mainFields: ['module', 'main'] },
  transform: { target: 'node20.19' },
  // What one command loads late, another may load at once.
  checks: { ineffectiveDynamicImport: false },
});
// What is always loaded together is one file; each takes a millisecond to find.
const group = (name, priority, ...modules) => ({
  name,
  priority,
  test: (id) => modules.some((each) => id.replaceAll('\\', '/').endsWith(each)),
});
const groups = [
  group('start', 4, '/src/start.ts'),
  group('program', 3, '/src/main.ts'),
  group(
    'call',
    2,
    '/src/app/service.ts',
    '/src/app/request.ts',
    '/src/app/last-results.ts',
    '/src/app/output.ts',
  ),
  group(
    'tool',
    1,
    '/src/commands/call/arguments.ts',
    '/src/commands/call/prepare.ts',
    '/src/output/call-data.ts',
  ),
];

const { output } = await bundle.generate({
  format: 'cjs',
  // Names are not kept: that costs a call for every function made, a sixth of the time of a long list.
  minify: true,
  comments: false,
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name]-[hash].cjs',
  codeSplitting: { groups },
});
await bundle.close();

// Built aside, so that a program that is running does not lose its parts for long.
const aside = join(root, `dist-${process.pid}`);
for (const { fileName, code } of output) {
  await mkdir(dirname(join(aside, fileName)), { recursive: true });
  await writeFile(join(aside, fileName), lazyBuiltins(code));
}
await shipLicenses(aside, [...output.flatMap(({ modules }) => Object.keys(modules)), ...inPage]);
await embedHelp(join(aside, 'start.cjs'));
// Executables built from an earlier build stay.
await rename(join(root, 'dist/standalone'), join(aside, 'standalone')).catch(() => {});
await rm(join(root, 'dist'), { recursive: true, force: true });
await rename(aside, join(root, 'dist'));

/** Puts the help of the program into its start, which prints it without loading the program. */
async function embedHelp(file) {
  const { stdout: help } = await promisify(execFile)(process.execPath, [file, 'help']);
  const code = await readFile(file, 'utf8');
  const embedded = code.replace(/(["'`])the build embeds the help here\1/, () => JSON.stringify(help));
  if (embedded === code) throw new Error('the start has no place for the help');
  await writeFile(file, embedded);
}

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
import { execFile } from 'node:child_process';
import { accessSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { makeAssets } from './assets.js';
import { bundle, CHUNK } from './bundle.js';
import { lazyConstants, lazyModules, ON_FIRST_USE, quickExports } from './lazy-modules.js';
import { billOf, noticeOf, packagesOf } from './licenses.js';
import { compileOnce, leaveOut, replaceModules } from './plugins.js';
import { manifest, path, toJson } from './project.js';

/** Modules that are loaded together share one file, because each file takes a millisecond to load. */
const GROUPS = {
  ...Object.fromEntries(ON_FIRST_USE.map((name) => [name, [`node_modules/${name}/`]])),
  start: ['src/start.ts'],
  program: [
    'src/main.ts',
    'src/app/hint-line.ts',
    'src/app/request.ts',
    'src/app/service.ts',
    'src/cli/schemas.ts',
    'src/storage/code-folder.ts',
    'src/storage/log.ts',
    'src/util/fold.ts',
    'src/util/restaurant.ts',
  ],
  find: ['src/commands/find.ts', 'src/commands/find/refine.ts', 'src/app/last-results.ts'],
  render: ['src/output/render/find.ts', 'src/output/csv.ts'],
  client: [
    'src/app/open-client.ts',
    'src/client/restaurant.ts',
    'src/client/http/dispatcher.ts',
    'src/storage/ledger.ts',
  ],
};
const groups = Object.entries(GROUPS).map(([name, modules], index) => {
  for (const each of modules) accessSync(path(each));
  const test = (id) => modules.some((each) => id.replaceAll('\\', '/').includes(`/${each}`));
  return { name, priority: 9 - index, test };
});

/** Puts a text in place of a string of the sources. @throws {Error} if the code does not have this string */
function embed(code, place, text) {
  const embedded = code.replace(new RegExp(`(["'\`])${place}\\1`), () => JSON.stringify(text));
  if (embedded === code) throw new Error(`the build has no place for ${place}`);
  return embedded;
}

const inText = await makeAssets();
const chunks = await bundle({
  input: { start: 'src/start.ts' },
  plugins: [leaveOut, replaceModules, compileOnce, lazyConstants],
  // A module that one command loads on first use can be loaded at the start of another.
  checks: { ineffectiveDynamicImport: false },
  output: { ...CHUNK, entryFileNames: '[name].cjs', codeSplitting: { groups } },
  write: false,
});
const packages = await packagesOf([...chunks.flatMap(({ modules }) => Object.keys(modules)), ...inText]);

// Build in a temporary folder, so that the chunks of a running program are only missing for a moment.
const temporary = path(`dist-${process.pid}`);
await mkdir(join(temporary, 'chunks'), { recursive: true });
for (const { fileName, code } of chunks) {
  const lazy = lazyModules(quickExports(code));
  await writeFile(join(temporary, fileName), fileName === 'start.cjs' ? asStart(lazy) : lazy);
}
await writeFile(join(temporary, 'THIRD-PARTY.txt'), noticeOf(packages));
await writeFile(join(temporary, 'sbom.cdx.json'), toJson(billOf(manifest, packages)));

// start.ts prints the help, and chooses the compiled code of a command, without loading the program.
const start = join(temporary, 'start.cjs');
const print = async (...words) =>
  (await promisify(execFile)(process.execPath, [start, ...words], { maxBuffer: 1e8 })).stdout;
const names = JSON.parse(await print('schema', '--json')).commands.map(({ name }) => name);
const withHelp = embed(await readFile(start, 'utf8'), 'the build embeds the help here', await print('help'));
await writeFile(start, embed(withHelp, 'the build embeds the names of the commands here', names.join(' ')));

// Keep the executables of an earlier build.
await rename(path('dist/standalone'), join(temporary, 'standalone')).catch(() => {});
await rm(path('dist'), { recursive: true, force: true });
await rename(temporary, path('dist'));

/** Adds the list of packages to the start chunk, and does not load rolldown's helpers. @throws {Error} if it uses them */
function asStart(code) {
  const alone = code.replace(/,require\("\.\/chunks\/rolldown-runtime-[^"]+"\);/, ';');
  if (alone.includes('/rolldown-runtime-')) {
    const { modules } = chunks.find(({ fileName }) => fileName === 'start.cjs');
    const sources = Object.keys(modules).map((id) => relative(path(), id));
    throw new Error(
      'the start uses a helper of rolldown, which wraps every module that CommonJS code requires, and all that it imports.' +
        ` cli-table3 requires src/util/text.ts (scripts/plugins.js), which must import none of these: ${sources.join(', ')}`,
    );
  }
  const list = packages.map(({ name, version, license }) => `${name} ${version} (${license})`).join('\n');
  return embed(alone, 'none, since it runs from its sources', list);
}

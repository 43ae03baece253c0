// Builds the library entries of the package: dist/library.js, dist/sandbox.js, and their types.
// usage: node scripts/build-library.js [folder]   default: dist
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundle } from './bundle.js';
import { path } from './project.js';

/** An import of one of our modules in a declaration. */
const IMPORT = /((?:from |import\()['"])(\.{1,2}\/[^'"]*)\.ts(?=['"])/g;
const out = process.argv[2] ?? path('dist');
const types = join(out, 'types');
for (const folder of ['library', 'types']) rmSync(join(out, folder), { recursive: true, force: true });

await bundle({
  input: { library: 'src/library.ts', sandbox: 'src/sandbox/server.ts' },
  output: {
    dir: out,
    format: 'esm',
    comments: false,
    entryFileNames: '[name].js',
    chunkFileNames: 'library/[name]-[hash].js',
  },
});
// CommonJS modules in the bundle require only built-in modules. They get them from Node.js itself, because a bundler that
// writes CommonJS, such as esbuild, leaves import.meta.url empty.
const REQUIRE = '(() => createRequire(import.meta.url))()';
for (const name of readdirSync(join(out, 'library'))) {
  const file = join(out, 'library', name);
  const code = readFileSync(file, 'utf8');
  if (!code.includes(REQUIRE)) continue;
  const fromProcess = 'import { getBuiltinModule } from "node:process";';
  const direct = code.replace('import { createRequire } from "node:module";', fromProcess);
  writeFileSync(file, direct.replace(REQUIRE, '(name) => getBuiltinModule(name)'));
}

const compiler = path('node_modules/typescript/bin/tsc');
execFileSync(process.execPath, [compiler, '-p', path('tsconfig.library.json'), '--outDir', types]);

// Remove the declarations that the entries do not need, and rename the others to their published paths.
const kept = new Set(['library.d.ts', join('sandbox', 'server.d.ts')]);
for (const file of kept) {
  const published = readFileSync(join(types, file), 'utf8').replace(IMPORT, (_match, before, name) => {
    kept.add(join(dirname(file), `${name}.d.ts`));
    return `${before}${name}.js`;
  });
  writeFileSync(join(types, file), published);
}
for (const file of readdirSync(types, { recursive: true }))
  if (file.endsWith('.d.ts') && !kept.has(file)) rmSync(join(types, file));

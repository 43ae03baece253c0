// Builds the library entries of the package: dist/library.js, dist/sandbox.js, and their types.
// usage: node scripts/build-library.js [folder]   default: dist
import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { TEXT_MODULES } from './text-modules.js';

/** An import of one of our modules in a declaration. */
const IMPORT = /((?:from |import\()['"])(\.{1,2}\/[^'"]*)\.ts(?=['"])/g;
const root = fileURLToPath(new URL('..', import.meta.url));
const out = process.argv[2] ?? join(root, 'dist');

const bundle = await rolldown({
  cwd: root,
  input: { library: 'src/library.ts', sandbox: 'src/sandbox/server.ts' },
  platform: 'node',
  moduleTypes: TEXT_MODULES,
  resolve: { mainFields: ['module', 'main'] },
  transform: { target: 'node20.19' },
});
await rm(join(out, 'library'), { recursive: true, force: true });
await bundle.write({
  dir: out,
  format: 'esm',
  comments: false,
  entryFileNames: '[name].js',
  chunkFileNames: 'library/[name]-[hash].js',
});
await bundle.close();

const types = join(out, 'types');
await rm(types, { recursive: true, force: true });
const tsc = join(root, 'node_modules/typescript/bin/tsc');
const args = [tsc, '-p', 'tsconfig.library.json', '--outDir', types];
await promisify(execFile)(process.execPath, args, { cwd: root });
await keepReachable(['library.d.ts', join('sandbox', 'server.d.ts')]);

/** Removes the declarations that the entries do not need, and renames the others to their published paths. */
async function keepReachable(entries) {
  const kept = new Set(entries);
  for (const file of kept) {
    const path = join(types, file);
    const text = await readFile(path, 'utf8');
    const published = text.replace(IMPORT, (_match, before, name) => {
      kept.add(join(dirname(file), `${name}.d.ts`));
      return `${before}${name}.js`;
    });
    await writeFile(path, published);
  }
  for (const file of await readdir(types, { recursive: true })) {
    if (file.endsWith('.d.ts') && !kept.has(file)) await rm(join(types, file));
  }
}

// Bundles src/main.ts into dist/: one entry, a chunk for each part that is loaded on first use.
import { rename, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { modulesOf, shipLicences } from './licences.js';
import { makePage } from './page.js';

const root = fileURLToPath(new URL('..', import.meta.url));

const inPage = await makePage();
// Built aside, so that a program that is running does not lose its parts for long.
const aside = `dist-${process.pid}`;
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts'],
  outdir: aside,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.18',
  // The ES module of a package, where it has one, before its UMD form, which cannot be bundled.
  mainFields: ['module', 'main'],
  metafile: true,
  // Names are not kept: that costs a call for every function made, a sixth of the time of a long list.
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  chunkNames: 'chunks/[name]-[hash]',
  // Bundled CommonJS packages call require() for Node's own modules.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
});
await shipLicences(`${root}${aside}`, [...modulesOf(metafile, root), ...inPage]);
await rm(`${root}dist`, { recursive: true, force: true });
await rename(`${root}${aside}`, `${root}dist`);

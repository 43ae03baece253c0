// What all bundles share.
import { build } from 'rolldown';
import { replaceModules } from './plugins.js';
import { path } from './project.js';

/** The kinds of files that the program imports as text, as rolldown takes them. */
export const TEXT_MODULES = Object.fromEntries(
  ['csv', 'md', 'bash', 'zsh', 'fish', 'ps1'].map((extension) => [`.${extension}`, 'text']),
);

/** The form of the chunks of the program. */
export const CHUNK = {
  format: 'cjs',
  // Keeping function names would add a call for each function created, which takes a sixth of the time of a long list.
  minify: true,
  // V8 stores ASCII in half the memory.
  charset: 'ascii',
  comments: false,
  chunkFileNames: 'chunks/[name]-[hash].cjs',
};

/** Bundles for Node, unless the options differ. @returns the chunks, of which the first is the entry */
export async function bundle(options) {
  const { output } = await build({
    cwd: path(),
    platform: 'node',
    moduleTypes: TEXT_MODULES,
    // Prefer the ES module of a package to its UMD build, which cannot be bundled.
    resolve: { mainFields: ['module', 'main'] },
    transform: { target: 'node20.19' },
    ...options,
  });
  return output;
}

/** Bundles cli-table3 as the built program has it, for the tests. @returns the path of the bundle */
export async function bundleTable() {
  const file = path('node_modules/.cache/cli-table3.mjs');
  await bundle({ input: 'cli-table3', plugins: [replaceModules], output: { format: 'esm', file } });
  return file;
}

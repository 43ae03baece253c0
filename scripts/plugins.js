// Rolldown plugins for the libraries of the program.
import { basename } from 'node:path';
import { path } from './project.js';

/** Modules that a package gets in place of those that it imports. */
const REPLACED = {
  // Throws a fixed message. To build its own message, Node 20 searches the source code of the failed call, which takes
  // minutes in the long lines of a bundle.
  'undici node:assert': `module.exports = (holds, message = 'an assertion failed') => {
    if (!holds) throw Object.assign(new Error(message), { name: 'AssertionError', code: 'ERR_ASSERTION' });
  };`,
  // Takes 3 ms to load. undici only uses a constant of it, and a class for bodies that this program never sends.
  'undici node:http': 'module.exports = { maxHeaderSize: 16384, IncomingMessage: class {} };',
  // The one that cli-table3 depends on is outdated and measures some emoji and combining marks differently.
  'cli-table3 string-width': `module.exports = require(${JSON.stringify(path('src/util/text.ts'))}).width;`,
};
const packageOf = (file) => /.*[\\/]node_modules[\\/]([^\\/]+)/.exec(file)?.[1];

export const replaceModules = {
  name: 'replace-modules',
  resolveId: {
    filter: { id: /^(node:(assert|http)|string-width)$/ },
    handler(id, importer) {
      const name = `${packageOf(importer)} ${id}`;
      return name in REPLACED ? `\0${name}.cjs` : undefined;
    },
  },
  load: {
    filter: { id: /^\0\S+ \S+\.cjs$/ },
    handler: (id) => REPLACED[id.slice(1, -'.cjs'.length)],
  },
};

/**
 * Leaves out modules that libraries load but this program never uses: undici's HTTP/2, its fetch bodies, and the second
 * build of its parser; chalk's color detection, which src/output/style.ts replaces.
 */
export const leaveOut = {
  name: 'leave-out',
  load: {
    filter: {
      id: /undici[\\/]lib[\\/](dispatcher[\\/]client-h2|web[\\/]fetch[\\/]body|llhttp[\\/]llhttp_simd-wasm)\.js$|chalk[\\/]source[\\/]vendor[\\/]supports-color[\\/]index\.js$/,
    },
    handler: (id) => `module.exports = () => { throw new Error('${basename(id)} is not in the bundle'); };`,
  },
};

/**
 * V8 compiles the WebAssembly of undici's parser and of jq a second time in the background, and the process waits 150 ms for
 * it at exit. compile-cache.ts restores the flags. Bun does not have them.
 */
export const compileOnce = {
  name: 'compile-once',
  transform: {
    filter: { id: /undici[\\/]lib[\\/]llhttp[\\/]llhttp-wasm\.js$|[\\/]jq-wasm[\\/].*js$/ },
    handler: (code) => `if (process.versions.bun === undefined)
      process.getBuiltinModule('node:v8').setFlagsFromString('--no-wasm-tier-up --no-wasm-dynamic-tiering');
      ${code}`,
  },
};

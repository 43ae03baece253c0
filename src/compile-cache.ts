import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { assertOwnedPath, readOwnFile } from './storage/files.ts';
import { createFolders, isSafePath } from './storage/folders.ts';
import { codeFolder, resolvePaths } from './storage/paths.ts';

/**
 * Commands with compiled code of their own. It contains the functions that the first run used, so that of another command
 * would lack some.
 */
const CALLS: readonly string[] = ['find', 'lookup', 'call', 'tools', 'raw', 'enrich'];

/** As in scripts/build.js. */
const WASM_FLAGS_OFF = '--no-wasm-tier-up --no-wasm-dynamic-tiering';

/** Far above the compiled code of any chunk, in bytes. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A CommonJS module as Node's loader passes it to an extension. */
interface LoadedModule {
  exports: unknown;
  require(id: string): unknown;
}

/**
 * Caches V8's compiled code in our cache folder. `module.enableCompileCache` of later versions of Node stores it before the
 * program runs, without the functions that the run uses; with them, `find` takes 15 to 20 ms less.
 *
 * The code is run, so the folder must be one that nobody else can change, also where root runs with the home of a user.
 */
export function enableCompileCache([word = '', ...more]: readonly string[]): void {
  const { env, platform } = process;
  const { cacheDir } = resolvePaths({ env, platform, homedir: () => homedir() });
  if (cacheDir === undefined || env.NODE_DISABLE_COMPILE_CACHE) return;
  try {
    const folder = codeFolder(cacheDir);
    assertOwnedPath(folder);
    createFolders(folder);
    if (!isSafePath(folder)) return;
    const isCall = CALLS.includes(word) && !more.some((each) => each === '--help' || each === '-h');
    cacheCompiledCode(join(folder, `${process.version}-${process.arch}`, isCall ? word : 'other'));
  } catch {
    // Without a folder, every start compiles the program again.
  }
}

/**
 * Loads chunks with their compiled code, and stores it at the exit. The name of a chunk contains a hash of its content, so
 * code is never used for another chunk; V8 rejects code of another version of V8. Code that is run like this cannot use
 * `import()`: chunks load each other and Node's modules with `require`.
 */
function cacheCompiledCode(folder: string): void {
  const fresh = new Map<string, Script>();
  /** A chunk that turns the flags off is loaded, so they may be off when the next one is compiled. */
  let hasWasm = false;

  require.extensions['.cjs'] = (module: LoadedModule, filename: string) => {
    const path = join(folder, `${basename(filename)}.bin`);
    const cachedData = readCode(path);
    const source = `(function(exports,require,module,__filename,__dirname){${readFileSync(filename, 'utf8')}\n})`;
    if (hasWasm) setWasmFlags(true);
    const script = new Script(source, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
    if (hasWasm) setWasmFlags(false);
    hasWasm ||= source.includes(WASM_FLAGS_OFF);
    if (cachedData === undefined || script.cachedDataRejected === true) fresh.set(path, script);
    const run = script.runInThisContext() as (...given: unknown[]) => void;
    const load = (id: string): unknown => module.require(id);
    run.call(module.exports, module.exports, load, module, filename, dirname(filename));
  };

  // At the exit the code also contains the functions that were compiled on their first call.
  process.once('exit', () => {
    if (fresh.size === 0) return;
    setWasmFlags(true);
    for (const [path, script] of fresh) writeCode(path, script);
  });
}

/** WebAssembly modules turn these flags off (scripts/build.js); V8 rejects code that was compiled with other flags. */
function setWasmFlags(on: boolean): void {
  setFlagsFromString(on ? WASM_FLAGS_OFF.replaceAll('--no-', '--') : WASM_FLAGS_OFF);
}

/** Returns code that is whole: V8 crashes on damaged code. Comparing two copies is faster than loading a checksum. */
function readCode(path: string): Buffer | undefined {
  try {
    const { bytes } = readOwnFile(path, MAX_BYTES);
    const code = bytes.subarray(0, bytes.length / 2);
    return code.equals(bytes.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Writes two copies of compiled code. A folder that cannot be written costs time only. */
function writeCode(path: string, script: Script): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const code = script.createCachedData();
    createFolders(dirname(path));
    writeFileSync(temporary, Buffer.concat([code, code]), { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}

import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Script } from 'node:vm';
import { codeFolder, deleteCode } from './storage/code-folder.ts';
import { createFolders, foreignOwner, isSafePath, sharing } from './storage/folders.ts';
import { resolvePaths } from './storage/paths.ts';

/**
 * Commands that each have their own compiled code. It contains only the functions that the first run called, and another
 * command calls other functions.
 */
const CALLS: readonly string[] = ['find', 'lookup', 'call', 'tools', 'raw', 'enrich'];

/** The flags that scripts/build.js sets. */
const WASM_FLAGS_OFF = '--no-wasm-tier-up --no-wasm-dynamic-tiering';

/**
 * Loads the chunks of the build, and caches their V8 compiled code in our cache folder. Newer versions of Node can do
 * this with `module.enableCompileCache`, but they store the code before the program runs, so it lacks the functions that
 * the run compiles. With those functions, `find` takes 15 to 20 ms less.
 *
 * The name of a chunk contains a hash of its content, so code is never used for another chunk; V8 rejects code of
 * another version of V8. Code that is loaded this way cannot use `import()`: chunks load each other and Node's modules
 * with `require`.
 */
export function loadChunks(argv: readonly string[]): void {
  const folder = safeCodeFolder(argv);
  const vm = process.getBuiltinModule('node:vm');
  const fresh = new Map<string, Script>();
  /** Whether a chunk that turns the flags off is loaded; they may then be off when the next chunk is compiled. */
  let hasWasm = false;
  const loaded = new Map<string, unknown>([[basename(__filename), module.exports]]);

  /** Does what Node's `require` does, without its search for the file: the chunks are in one folder. */
  const load = (id: string): unknown =>
    id.startsWith('.') ? loadChunk(basename(id)) : process.getBuiltinModule(id);

  function loadChunk(name: string): unknown {
    if (loaded.has(name)) return loaded.get(name);
    const exports = {};
    loaded.set(name, exports);
    try {
      run(name, exports);
    } catch (error) {
      loaded.delete(name);
      throw error;
    }
    return exports;
  }

  function run(name: string, exports: object): void {
    const filename = join(__dirname, 'chunks', name);
    const path = folder === undefined ? undefined : join(folder, `${name}.bin`);
    const cachedData = path === undefined ? undefined : readCode(path);
    // The chunks are ASCII. Node 20 reads UTF-8 in parts of 8 KB, which takes 2 ms longer.
    const code = readFileSync(filename, 'latin1');
    const source = `(function(exports,require,__filename,__dirname){${code}\n})`;
    if (hasWasm) setWasmFlags(true);
    const script = new vm.Script(source, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
    if (hasWasm) setWasmFlags(false);
    hasWasm ||= source.includes(WASM_FLAGS_OFF);
    if (path !== undefined && (cachedData === undefined || script.cachedDataRejected === true)) {
      fresh.set(path, script);
    }
    script.runInThisContext()(exports, load, filename, dirname(filename));
  }

  // start.cjs loads its first chunk with this.
  module.require = load as NodeJS.Require;
  if (folder === undefined) return;

  // By the time the process exits, the code also contains the functions that V8 compiled when they were first called.
  process.once('exit', () => {
    if (fresh.size > 0) storeCode(folder, fresh);
  });
}

/**
 * Returns the folder for the compiled code of a run; undefined if the code cannot be cached. Cached code is executed, so
 * nobody else may be able to write to the folder: when root runs with the home of a user, not even that user.
 */
function safeCodeFolder([word = '', ...more]: readonly string[]): string | undefined {
  const { env, platform } = process;
  const { cacheDir } = resolvePaths({ env, platform, homedir: () => homedir() });
  if (cacheDir === undefined || env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  const isCall = CALLS.includes(word) && !more.some((each) => each === '--help' || each === '-h');
  const folder = join(codeFolder(cacheDir), `${process.version}-${process.arch}`, isCall ? word : 'other');
  try {
    return isSafePath(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** WebAssembly modules turn these flags off (scripts/build.js); V8 rejects code that was compiled with other flags. */
function setWasmFlags(on: boolean): void {
  setFlagsFromString(on ? WASM_FLAGS_OFF.replaceAll('--no-', '--') : WASM_FLAGS_OFF);
}

/**
 * Returns undamaged code of this user, because V8 crashes on damaged code. Comparing two copies is faster than loading a
 * checksum function (node:zlib: 2 ms).
 */
function readCode(path: string): Buffer | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stats = fstatSync(file);
    const isOurs = foreignOwner(stats) === undefined && !sharing(stats).isWritable && stats.nlink === 1;
    if (!stats.isFile() || !isOurs) return undefined;
    const bytes = readFileSync(file);
    const code = bytes.subarray(0, bytes.length / 2);
    return code.equals(bytes.subarray(code.length)) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Writes two copies of compiled code, and deletes old code. A folder that is not writable only costs time. */
function storeCode(folder: string, scripts: ReadonlyMap<string, Script>): void {
  try {
    createFolders(folder);
    if (!isSafePath(folder)) return;
    setWasmFlags(true);
    for (const [path, script] of scripts) writeCode(path, script);
    deleteCode(join(folder, '..', '..'), Date.now());
  } catch {
    // The code is compiled again in the next run.
  }
}

function writeCode(path: string, script: Script): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const code = script.createCachedData();
    writeFileSync(temporary, Buffer.concat([code, code]), { mode: 0o600, flag: 'wx' });
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}

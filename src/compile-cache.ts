import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Script, ScriptOptions } from 'node:vm';
import { attempt } from './errors.ts';
import { codeFolder, resolvePaths } from './storage/paths.ts';
import { assertOwnPath, foreignOwner, sharing } from './storage/trust.ts';

interface FreshCode {
  readonly folder: string;
  /** Returns the code, with the functions that V8 compiled when they were first called, by the name of its file. */
  compiled(): ReadonlyMap<string, Buffer>;
}

type System = Pick<NodeJS.Process, 'env' | 'platform' | 'cwd'>;

/** Each has compiled code of its own, because that contains only the functions that the first run called. */
const COMMANDS = 'the build embeds the names of the commands here';

/** WebAssembly modules turn these flags off (scripts/plugins.js); V8 rejects code that was compiled with other flags. */
const WASM_FLAGS_OFF = '--no-wasm-tier-up --no-wasm-dynamic-tiering';

/**
 * Loads the chunks of the build, and caches their compiled code. `module.enableCompileCache` stores code before the program
 * runs, without the functions that the run compiles; with them, `find` takes 15 to 20 ms less. The name of a chunk contains
 * a hash of its content. Code that is loaded this way cannot use `import()`.
 */
export function loadChunks(argv: readonly string[], system: System): FreshCode | undefined {
  const folder = safeCodeFolder(argv, system);
  const loader = new ChunkLoader(folder);
  // start.cjs loads its first chunk with this.
  module.require = loader.load as NodeJS.Require;
  return folder === undefined ? undefined : { folder, compiled: () => loader.compiled() };
}

class ChunkLoader {
  readonly #folder: string | undefined;
  readonly #vm = process.getBuiltinModule('node:vm');
  readonly #loaded = new Map<string, unknown>([[basename(__filename), module.exports]]);
  readonly #fresh = new Map<string, Script>();
  /** The flags may be off when the next chunk is compiled. */
  #hasWasm = false;

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  readonly load = (id: string): unknown =>
    id.startsWith('.') ? this.#loadChunk(basename(id)) : process.getBuiltinModule(id);

  compiled(): ReadonlyMap<string, Buffer> {
    if (this.#fresh.size > 0) setWasmFlags(true);
    return new Map([...this.#fresh].map(([name, script]) => [name, script.createCachedData()]));
  }

  #loadChunk(name: string): unknown {
    if (this.#loaded.has(name)) return this.#loaded.get(name);
    const exports = {};
    this.#loaded.set(name, exports);
    try {
      this.#run(name, exports);
    } catch (error) {
      this.#loaded.delete(name);
      throw error;
    }
    return exports;
  }

  #run(name: string, exports: object): void {
    const filename = join(__dirname, 'chunks', name);
    const cachedData = this.#folder === undefined ? undefined : readCode(join(this.#folder, `${name}.bin`));
    // The chunks are ASCII. Node 20 reads UTF-8 in parts of 8 KB, which takes 2 ms longer.
    const code = readFileSync(filename, 'latin1');
    const source = `(function(exports,require,__filename,__dirname){${code}\n})`;
    const script = this.#compile(source, { filename, ...(cachedData && { cachedData }) });
    this.#hasWasm ||= source.includes(WASM_FLAGS_OFF);
    if (cachedData === undefined || script.cachedDataRejected === true)
      this.#fresh.set(`${name}.bin`, script);
    script.runInThisContext()(exports, this.load, filename, dirname(filename));
  }

  #compile(source: string, options: ScriptOptions): Script {
    if (this.#hasWasm) setWasmFlags(true);
    const script = new this.#vm.Script(source, options);
    if (this.#hasWasm) setWasmFlags(false);
    return script;
  }
}

/**
 * Below NODE_COMPILE_CACHE, if that is set, beside what newer versions of Node keep there. Undefined if somebody else can
 * write to the folder: when root runs with the home of a user, that user.
 */
function safeCodeFolder(
  [word = '', ...more]: readonly string[],
  { env, platform, cwd }: System,
): string | undefined {
  const { cacheDir } = resolvePaths({ env, platform, homedir: () => homedir(), cwd });
  const base = env.NODE_COMPILE_CACHE || (cacheDir && codeFolder(cacheDir));
  if (!base || env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  const asksForHelp = more.some((each) => each === '--help' || each === '-h');
  const name = COMMANDS.split(' ').includes(word) && !asksForHelp ? word : 'other';
  const folder = resolve(base, `${process.version}-${process.arch}`, name);
  // Groups count as others here, because access lists show as permissions of the group.
  return attempt(() => assertOwnPath(folder, true)) === undefined ? undefined : folder;
}

function setWasmFlags(on: boolean): void {
  setFlagsFromString(on ? WASM_FLAGS_OFF.replaceAll('--no-', '--') : WASM_FLAGS_OFF);
}

/** V8 crashes on damaged code. Comparing two copies is faster than loading a checksum function (node:zlib: 2 ms). */
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

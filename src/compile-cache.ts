import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { readRegularFile } from './storage/files.ts';

/** Far above any chunk's compiled code, in bytes. */
const MOST = 64 * 1024 * 1024;
const CHECKSUM_BYTES = 4;

/** A CommonJS module as Node's loader hands it to an extension. */
interface LoadedModule {
  exports: unknown;
  require(id: string): unknown;
}

/**
 * Keeps V8's compiled code of the program's chunks, as `module.enableCompileCache` does from Node 22.1 on. A chunk has
 * a hash of its content in its name, so its code is never taken for another's; V8 itself refuses code of another
 * version of V8, but runs damaged code into a crash: a checksum stands behind it. Whatever fails, the chunk is compiled
 * as ever.
 */
export function keepCompiled(folder: string): void {
  const { extensions } = createRequire(import.meta.url);
  const place = join(folder, `${process.version}-${process.arch}`);
  const fresh = new Map<string, Script>();

  extensions['.cjs'] = (module: LoadedModule, filename: string) => {
    const path = join(place, `${basename(filename)}.bin`);
    const cachedData = readOrNone(path);
    const source = `(function(exports,require,module,__filename,__dirname){${readFileSync(filename, 'utf8')}\n})`;
    const script = new Script(source, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
    if (cachedData === undefined || script.cachedDataRejected === true) fresh.set(path, script);
    const run = script.runInThisContext() as (...given: unknown[]) => void;
    const require = (id: string): unknown => module.require(id);
    run.call(module.exports, module.exports, require, module, filename, dirname(filename));
  };

  // At the end, when it holds the functions that were compiled on their first call too.
  process.once('exit', () => {
    for (const [path, script] of fresh) keep(path, script);
  });
}

function readOrNone(path: string): Buffer | undefined {
  try {
    const bytes = readRegularFile(path, MOST);
    const code = bytes.subarray(0, -CHECKSUM_BYTES);
    return bytes.readUInt32LE(code.length) === crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function withChecksum(code: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(crc32(code));
  return Buffer.concat([code, checksum]);
}

function keep(path: string, script: Script): void {
  const temp = `${path}.${process.pid}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(temp, withChecksum(script.createCachedData()), { mode: 0o600 });
    renameSync(temp, path);
  } catch {
    // A folder that cannot be written costs time, nothing else.
    drop(temp);
  }
}

function drop(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // There is no such folder.
  }
}

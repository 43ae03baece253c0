import { mkdirSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { cacheCompiledCode } from './compile-cache.ts';
import { assertOwnedPath, isSafePath } from './storage/files.ts';
import { codeFolder, resolvePaths } from './storage/paths.ts';
import { isFileOrPipe } from './streams.ts';
import { VERSION } from './version.ts';

const HELP = 'the build embeds the help here';

/** Returns text that is the same for every run, unless a terminal gives it a width. */
function staticText([word, ...more]: readonly string[]): string | undefined {
  if (more.length > 0 || !isFileOrPipe(1)) return undefined;
  if (word === '--version' || word === '-V') return `${VERSION}\n`;
  if (word === '--help' || word === '-h') return HELP;
  return undefined;
}

/** Returns whether the text was written; when not, the program writes it again and reports what went wrong. */
function writeOut(text: string): boolean {
  try {
    const rest = Buffer.from(text).subarray(writeSync(1, text));
    if (rest.length > 0) process.stdout.write(rest);
    return true;
  } catch {
    return false;
  }
}

/**
 * Commands with compiled code of their own. It contains the functions that the first run used, so that of another command
 * would lack some.
 */
const CALLS: readonly string[] = ['find', 'lookup', 'call', 'tools', 'raw', 'enrich'];

/**
 * Caches compiled code in our cache folder; the standalone executable contains its own. The code is run, so the folder must
 * be one that nobody else can change, also where root runs with the home of a user.
 */
function enableCompileCache([word = '', ...more]: readonly string[]): void {
  const { env, platform } = process;
  const { cacheDir } = resolvePaths({ env, platform, homedir: () => homedir() });
  if (cacheDir === undefined || env.NODE_DISABLE_COMPILE_CACHE) return;
  try {
    const folder = codeFolder(cacheDir);
    assertOwnedPath(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isSafePath(folder)) return;
    const isCall = CALLS.includes(word) && !more.some((each) => each === '--help' || each === '-h');
    cacheCompiledCode(join(folder, `${process.version}-${process.arch}`, isCall ? word : 'other'));
  } catch {
    // Without a folder, every start compiles the program again.
  }
}

const text = staticText(process.argv.slice(2));
if (text === undefined || !writeOut(text)) {
  if (process.versions.bun === undefined) {
    // V8 compiles undici's HTTP parser a second time in the background after a few responses, and the exit waits up to
    // 100 ms for it. Its flags are part of the identity of compiled code, so they come first.
    setFlagsFromString('--wasm-tiering-budget=1000000000');
    enableCompileCache(process.argv.slice(2));
  }
  void import('./main.ts');
}

import { mkdirSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
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

/** Whether this is Node 20, which has no compile cache. Bun reports the version of a later Node. */
const isNode20 = (): boolean => Number.parseInt(process.versions.node, 10) < 22;

/**
 * Caches compiled code in our cache folder; the standalone executable contains its own. The code is run, so the folder must
 * be one that nobody else can change, also where root runs with the home of a user.
 */
function enableCompileCache(): void {
  const { env, platform } = process;
  const { cacheDir } = resolvePaths({ env, platform, homedir: () => homedir() });
  const isOff = process.versions.bun !== undefined || Boolean(env.NODE_DISABLE_COMPILE_CACHE);
  if (cacheDir === undefined || isOff) return;
  try {
    const folder = codeFolder(cacheDir);
    assertOwnedPath(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (isSafePath(folder)) cacheCompiledCode(folder);
  } catch {
    // Without a folder, every start compiles the program again.
  }
}

const text = staticText(process.argv.slice(2));
if (text === undefined || !writeOut(text)) {
  // V8 of Node 20 compiles undici's HTTP parser a second time in the background, and the exit waits 100 ms for it. Its
  // flags are part of the identity of compiled code, so they come first.
  if (isNode20()) setFlagsFromString('--wasm-tiering-budget=1000000000');
  enableCompileCache();
  void import('./main.ts');
}

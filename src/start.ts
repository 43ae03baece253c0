import { mkdirSync, statSync, writeSync } from 'node:fs';
import { homedir } from 'node:os';
import { setFlagsFromString } from 'node:v8';
import { keepCompiled } from './compile-cache.ts';
import { codeFolder, resolvePaths } from './storage/paths.ts';
import { isFileOrPipe } from './streams.ts';
import { VERSION } from './version.ts';

const HELP = 'the build embeds the help here';

/** Returns text that is the same for every run, unless a terminal gives it a width. */
function readyText([word, ...more]: readonly string[]): string | undefined {
  if (more.length > 0 || !isFileOrPipe(1)) return undefined;
  if (word === '--version' || word === '-V') return `${VERSION}\n`;
  if (word === '--help' || word === '-h') return HELP;
  return undefined;
}

/** @returns whether all of it was written; whoever writes it again tells what went wrong */
function written(text: string): boolean {
  try {
    const rest = Buffer.from(text).subarray(writeSync(1, text));
    if (rest.length > 0) process.stdout.write(rest);
    return true;
  } catch {
    return false;
  }
}

/** What is compiled is run: it may come from nobody else, also where root runs in the home of a user. */
function isOurs(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}

function startMain(): void {
  const { cacheDir } = resolvePaths({
    env: process.env,
    platform: process.platform,
    homedir: () => homedir(),
  });
  // From Node 22.1 on.
  const enableCompileCache: unknown = Reflect.get(
    process.getBuiltinModule('node:module'),
    'enableCompileCache',
  );
  const keep = typeof enableCompileCache === 'function' ? enableCompileCache : keepCompiled;
  // V8 of Node 20 would compile undici's parser twice, the second time for 100 ms that the exit waits for. Its flags
  // are part of what compiled code is known by, so they come first.
  if (keep === keepCompiled) setFlagsFromString('--wasm-tiering-budget=1000000000');
  if (cacheDir !== undefined && !process.env.NODE_DISABLE_COMPILE_CACHE) {
    const folder = codeFolder(cacheDir);
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (isOurs(folder)) keep(folder);
    } catch {
      // Without a folder every start compiles anew.
    }
  }
  void import('./main.ts');
}

const text = readyText(process.argv.slice(2));
if (text === undefined || !written(text)) startMain();

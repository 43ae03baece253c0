import { writeSync } from 'node:fs';
import { loadChunks } from './compile-cache.ts';
import { isFileOrPipe } from './util/platform.ts';
import { VERSION } from './version.ts';

const HELP = 'the build embeds the help here';

/** Returns output that needs no program: it is always the same, except on a terminal, whose width it depends on. */
function staticText([word, ...more]: readonly string[]): string | undefined {
  if (more.length > 0 || !isFileOrPipe(1)) return undefined;
  if (word === '--version' || word === '-V') return `${VERSION}\n`;
  if (word === '--help' || word === '-h') return HELP;
  return undefined;
}

/** Returns whether the text was written. If not, the program writes it again and reports the error. */
function writeOut(text: string): boolean {
  try {
    const rest = Buffer.from(text).subarray(writeSync(1, text));
    if (rest.length > 0) process.stdout.write(rest);
    return true;
  } catch {
    return false;
  }
}

async function start(argv: readonly string[]): Promise<void> {
  const text = staticText(argv);
  if (text !== undefined && writeOut(text)) return;
  // The standalone executable has no chunks, and it already contains its compiled code.
  const code = process.versions.bun === undefined ? loadChunks(argv, process) : undefined;
  await import('./main.ts');
  if (code === undefined) return;
  const { storeCode } = await import('./storage/code-folder.ts');
  process.once('exit', () => storeCode(code.folder, code.compiled()));
}

void start(process.argv.slice(2));

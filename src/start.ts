import { writeSync } from 'node:fs';
import { loadChunks } from './compile-cache.ts';
import { isFileOrPipe } from './util/descriptor.ts';
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

async function start(argv: readonly string[]): Promise<void> {
  const text = staticText(argv);
  if (text !== undefined && writeOut(text)) return;
  // The standalone executable has no chunks, and contains its compiled code.
  if (process.versions.bun === undefined) loadChunks(argv);
  await import('./main.ts');
}

void start(process.argv.slice(2));

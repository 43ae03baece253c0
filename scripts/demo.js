// Runs a search and a lookup with sample data, without a key or network.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../bin/restaurant.js', import.meta.url));
const lines = [
  ['find', 'Nopa', '--city', 'SF'],
  ['lookup', '1', '--fields', 'premium'],
];

// A reader such as `head` may close the pipe before the end.
process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? 0 : 1));

// A new clone has no build.
if (!existsSync(new URL('../dist/start.cjs', import.meta.url))) await import('./build.js');
for (const words of lines) {
  const shown = words.map((word) => (word === 'Nopa' ? '"Nopa"' : word)).join(' ');
  process.stdout.write(`$ restaurant ${shown} --demo\n`);
  const { status } = spawnSync(process.execPath, [bin, ...words, '--demo', '--format', 'table'], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(status ?? 1);
  process.stdout.write('\n');
}

// Runs a search and a lookup with sample data, without a key or network.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { path } from './project.js';

// A reader such as `head` may close the pipe before the end.
process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? 0 : 1));

// A new clone has no build.
if (!existsSync(path('dist/start.cjs'))) await import('./build.js');
for (const words of [
  ['find', 'Nopa', '--city', 'SF', '--demo'],
  ['lookup', '1', '--fields', 'premium', '--demo'],
]) {
  process.stdout.write(`$ restaurant ${words.join(' ').replace('Nopa', '"Nopa"')}\n`);
  const line = [path('bin/restaurant.js'), ...words, '--format', 'table'];
  const { status } = spawnSync(process.execPath, line, { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  process.stdout.write('\n');
}

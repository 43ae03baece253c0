// Start-up and one call, against bare scripts that do the same.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { line, sideBySide, time } from './measure.js';

const bin = fileURLToPath(new URL('../bin/restaurant.js', import.meta.url));
const bare = fileURLToPath(new URL('bare-find.js', import.meta.url));

/** Prints how long starting takes with one Node. */
export function benchStartup({ node, home, env, runs, say }) {
  const empty = join(home, 'empty.js');
  writeFileSync(empty, '');
  const find = [bin, 'find', 'Nopa', '--city', 'SF', '--json'];
  const rows = [
    ['--version', [bin, '--version'], 'an empty script', [empty]],
    ['--help', [bin, '--help'], 'an empty script', [empty]],
    ['find --help', [bin, 'find', '--help'], 'an empty script', [empty]],
    ['find', [...find, '--max-age', '0'], 'a bare node:http script', [bare]],
    ['find, cached', [...find, '--max-age', '10m'], 'an empty script', [empty]],
  ];
  for (const [name, ours, otherName, theirs] of rows) {
    const compared = sideBySide(
      () => time([node, ...ours], env),
      () => time([node, ...theirs], env),
      runs,
    );
    say(line(name, compared, otherName));
  }
}

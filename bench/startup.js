// Start-up and one call, compared with bare scripts that do the same.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { line, sideBySide, time } from './measure.js';

const bin = fileURLToPath(new URL('../bin/restaurant.js', import.meta.url));
const bare = fileURLToPath(new URL('bare-find.cjs', import.meta.url));

/**
 * Prints the times of the start.
 * @param node runs the scripts
 * @param program the words that start ours; default: our build for that Node
 */
export function benchStartup({ node, program = [node, bin], home, env, runs, say }) {
  const empty = join(home, 'empty.cjs');
  writeFileSync(empty, '');
  const find = ['find', 'Nopa', '--city', 'SF', '--json'];
  const rows = [
    ['--version', ['--version'], 'an empty script', [empty]],
    ['--help', ['--help'], 'an empty script', [empty]],
    ['find --help', ['find', '--help'], 'an empty script', [empty]],
    ['find', [...find, '--max-age', '0'], 'a bare node:http script', [bare]],
    ['find, cached', [...find, '--max-age', '10m'], 'an empty script', [empty]],
  ];
  for (const [name, ours, otherName, theirs] of rows) {
    const compared = sideBySide(
      () => time([...program, ...ours], env),
      () => time([node, ...theirs], env),
      runs,
    );
    say(line(name, compared, otherName));
  }
}

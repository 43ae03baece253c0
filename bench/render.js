// 10,000 results in each format compared with `jq .` on the same bytes, and a response after 10,000 notifications.
import { execFileSync } from 'node:child_process';
import { path } from '../scripts/project.js';
import { line, sideBySide } from './measure.js';

const bin = path('bin/restaurant.js');

/** Prints the times for large responses. */
export function benchRender({ node, env, runs, say }) {
  const find = (name) => [node, bin, 'find', name, '--city', 'SF'];
  const few = Math.ceil(runs / 3);
  const many = execFileSync(node, [...find('many').slice(1), '--json'], {
    env,
    maxBuffer: 256 * 1024 * 1024,
  });
  for (const format of ['json', 'ndjson', 'csv', 'tsv', 'geojson', 'table']) {
    const ours = [...find('many'), '--format', format, '--max-age', '10m'];
    const compared = sideBySide(ours, ['jq', '.'], env, few, many);
    say(line(`10,000 as ${format}`, compared, `jq . on ${(many.length / 1e6).toFixed(1)} MB`));
  }
  const [noisy, quiet] = ['noisy', 'Nopa'].map((name) => [...find(name), '--json', '--max-age', '0']);
  const compared = sideBySide(noisy, quiet, env, few);
  say(line('10,000 notifications', compared, 'a find without any'));
}

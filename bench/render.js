// 10,000 results in each format compared with `jq .` on the same bytes, and a response after 10,000 notifications.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { line, sideBySide, time } from './measure.js';

const bin = fileURLToPath(new URL('../bin/restaurant.js', import.meta.url));

/** Prints the times for large responses. */
export function benchRender({ node, env, runs, say }) {
  const find = (name) => [node, bin, 'find', name, '--city', 'SF'];
  const few = Math.ceil(runs / 3);
  const many = execFileSync(node, [...find('many').slice(1), '--json'], {
    env,
    maxBuffer: 256 * 1024 * 1024,
  });
  for (const format of ['json', 'ndjson', 'csv', 'tsv', 'geojson', 'table']) {
    const compared = sideBySide(
      () => time([...find('many'), '--format', format, '--max-age', '10m'], env),
      () => time(['jq', '.'], env, many),
      few,
    );
    say(line(`10,000 as ${format}`, compared, `jq . on ${(many.length / 1e6).toFixed(1)} MB`));
  }
  const compared = sideBySide(
    () => time([...find('noisy'), '--json', '--max-age', '0'], env),
    () => time([...find('Nopa'), '--json', '--max-age', '0'], env),
    few,
  );
  say(line('10,000 notifications', compared, 'a find without any'));
}

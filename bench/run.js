// Start-up and calls against bare scripts that do the same, side by side in one run: medians, and their ratios.
// Usage: npm run bench [-- <runs> | enrich]
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { arch, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { benchEnrich } from './enrich.js';
import { startService } from './service.js';

const onlyEnrich = process.argv[2] === 'enrich';
const runs = onlyEnrich ? 0 : Number(process.argv[2] ?? 15);
const bin = fileURLToPath(new URL('../bin/restaurant.js', import.meta.url));
const bare = fileURLToPath(new URL('bare-find.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'restaurant-bench-'));
const empty = join(home, 'empty.js');
writeFileSync(empty, '');

const service = await startService();
const env = {
  PATH: process.env.PATH,
  HOME: home,
  RESTAURANT_API_KEY: 'sk_service_bench',
  RESTAURANT_BASE_URL: service.baseUrl,
};

/** Milliseconds that one run of a command takes, as a whole process. */
function time(words) {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  if (status !== 0) throw new Error(`${words.join(' ')}: exit ${status}\n${stderr}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const find = ['find', 'Nopa', '--city', 'SF', '--json'];
const pairs = [
  ['--version', [bin, '--version'], 'an empty script', [empty]],
  ['--help', [bin, '--help'], 'an empty script', [empty]],
  ['find --help', [bin, 'find', '--help'], 'an empty script', [empty]],
  ['find', [bin, ...find, '--max-age', '0'], 'a bare node:http script', [bare]],
  ['find, cached', [bin, ...find, '--max-age', '10m'], 'an empty script', [empty]],
];

try {
  process.stdout.write(
    `Node ${process.version}, ${process.platform} ${arch()}, ${cpus().length} cores, medians${onlyEnrich ? '' : ` of ${runs} runs`}\n\n`,
  );
  for (const [name, ours, otherName, other] of onlyEnrich ? [] : pairs) {
    time(ours);
    time(other);
    // In turn, so that a machine whose speed drifts treats both alike.
    const times = Array.from({ length: runs }, () => [time(ours), time(other)]);
    const [a, b] = [median(times.map(([one]) => one)), median(times.map(([, two]) => two))];
    process.stdout.write(
      `${name.padEnd(14)} ${a.toFixed(0).padStart(5)} ms  ${(a / b).toFixed(2).padStart(5)} × ${otherName} (${b.toFixed(0)} ms)\n`,
    );
  }
  await benchEnrich(home, env);
} finally {
  service.stop();
  rmSync(home, { recursive: true, force: true });
}

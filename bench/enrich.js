// Long lists against a bare undici loop that sends the same requests: pace, time a row and peak memory.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../bin/restaurant.js', import.meta.url));
const bare = fileURLToPath(new URL('bare-loop.js', import.meta.url));
const CONCURRENCY = '16';
const SHORT = 20_000;
const LONG = 200_000;
const RUNS = 5;

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Writes a list of as many different rows. */
function writeList(path, rows) {
  const lines = Array.from({ length: rows }, (_each, place) => `Nopa ${place},San Francisco\n`);
  writeFileSync(path, `name,city\n${lines.join('')}`);
}

/**
 * Prints how enrich does, without pacing.
 * @param home an empty folder
 * @param env that the service and the key stand in
 */
export function benchEnrich(home, env) {
  const peakFile = join(home, 'peak');
  const watch = `data:text/javascript,import{writeFileSync}from'node:fs';process.on('exit',()=>writeFileSync(${JSON.stringify(peakFile)},String(process.resourceUsage().maxRSS)))`;

  /** One whole process: its seconds, and its peak memory in MB. */
  function run(words) {
    const start = process.hrtime.bigint();
    const { status, stderr } = spawnSync(process.execPath, ['--import', watch, ...words], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    if (status !== 0) throw new Error(`${words.join(' ')}: exit ${status}\n${stderr}`);
    return { seconds, peak: (Number(readFileSync(peakFile)) * 1024) / 1e6 };
  }

  function enrich(list) {
    rmSync(join(home, 'out.csv'), { force: true });
    rmSync(join(home, '.cache'), { recursive: true, force: true });
    const unpaced = ['--per-minute', '0', '--per-day', '0', '--concurrency', CONCURRENCY];
    return run([bin, 'enrich', list, '-o', join(home, 'out.csv'), ...unpaced]);
  }

  const [short, long] = [join(home, 'short.csv'), join(home, 'long.csv')];
  writeList(short, SHORT);
  writeList(long, LONG);
  run([bare, short, CONCURRENCY]);
  // In turn, so that a machine whose speed drifts treats both alike.
  const pairs = Array.from({ length: RUNS }, () => [enrich(short), run([bare, short, CONCURRENCY])]);
  const ours = median(pairs.map(([one]) => one.seconds));
  const theirs = median(pairs.map(([, other]) => other.seconds));
  const ratio = median(pairs.map(([one, other]) => other.seconds / one.seconds));
  const shortPeak = Math.max(...pairs.map(([{ peak }]) => peak));
  const all = enrich(long);
  const each = (seconds, rows) => ((seconds * 1e6) / rows).toFixed(0);
  process.stdout.write(
    `\nenrich, ${SHORT} and ${LONG} different rows, ${CONCURRENCY} at a time, no pacing
rows a second    ${(SHORT / ours).toFixed(0)}: ${ratio.toFixed(2)} × a bare undici loop (${(SHORT / theirs).toFixed(0)})
time a row       ${each(ours, SHORT)} µs and ${each(all.seconds, LONG)} µs: ${(all.seconds / LONG / (ours / SHORT)).toFixed(2)} ×
peak memory      ${shortPeak.toFixed(0)} MB and ${all.peak.toFixed(0)} MB: ${(all.peak / shortPeak).toFixed(2)} ×\n`,
  );
}

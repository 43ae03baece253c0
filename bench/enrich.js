// Long lists compared with a bare undici loop that sends the same requests: rows per second, time per row, peak memory.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { path } from '../scripts/project.js';
import { median } from './measure.js';
import { startService } from './service.js';

const bin = path('bin/restaurant.js');
const bare = path('bench/bare-loop.cjs');
const CONCURRENCY = '16';
const LATENCY_MS = 10;
const SLOW = 4000;
const SHORT = 20_000;
const LONG = 200_000;
const RUNS = 3;

const say = (name, text) => process.stdout.write(`${name.padEnd(16)} ${text}\n`);

/** Writes a list of different rows. */
function listOf(home, rows) {
  const file = join(home, `${rows}.csv`);
  if (existsSync(file)) return file;
  const lines = Array.from({ length: rows }, (_each, place) => `Nopa ${place},San Francisco\n`);
  writeFileSync(file, `name,city\n${lines.join('')}`);
  return file;
}

/**
 * Measures enrich without pacing, with a service that responds immediately, which leaves only the program's own work, and
 * with one that takes 10 ms.
 * @param home an empty folder
 * @param env with the fast service and the key
 */
export async function benchEnrich(home, env) {
  const slow = await startService(LATENCY_MS);
  try {
    measure(home, env, { ...env, RESTAURANT_BASE_URL: slow.baseUrl });
  } finally {
    slow.stop();
  }
}

function measure(home, env, slowEnv) {
  const peakFile = join(home, 'peak');
  const watch = `data:text/javascript,import{writeFileSync}from'node:fs';process.on('exit',()=>writeFileSync(${JSON.stringify(peakFile)},String(process.resourceUsage().maxRSS)))`;

  /** Runs a process. @returns its seconds and its peak memory in MB */
  function run(words, runEnv) {
    const start = process.hrtime.bigint();
    const { status, stderr } = spawnSync(process.execPath, ['--import', watch, ...words], {
      env: runEnv,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const seconds = Number(process.hrtime.bigint() - start) / 1e9;
    if (status !== 0) throw new Error(`${words.join(' ')}: exit ${status}\n${stderr}`);
    return { seconds, peak: (Number(readFileSync(peakFile)) * 1024) / 1e6 };
  }

  function enrich(rows, runEnv = env) {
    rmSync(join(home, 'out.csv'), { force: true });
    rmSync(join(home, '.cache'), { recursive: true, force: true });
    const unpaced = ['--per-minute', '0', '--per-day', '0', '--concurrency', CONCURRENCY];
    return run([bin, 'enrich', listOf(home, rows), '-o', join(home, 'out.csv'), ...unpaced], runEnv);
  }

  /** Runs both alternately, so that a change of the machine's speed affects both. */
  function compare(name, rows, runEnv) {
    const theirs = () => run([bare, listOf(home, rows), CONCURRENCY], runEnv);
    theirs();
    const pairs = Array.from({ length: RUNS }, () => [enrich(rows, runEnv), theirs()]);
    const [ours, loop] = [0, 1].map((side) => median(pairs.map((pair) => pair[side].seconds)));
    const ratio = median(pairs.map(([one, other]) => other.seconds / one.seconds));
    const [a, b] = [ours, loop].map((seconds) => (rows / seconds).toFixed(0));
    say(name, `${a} rows per second, ${ratio.toFixed(2)} × a bare undici loop (${b})`);
    return { each: ours / rows, peak: Math.max(...pairs.map(([{ peak }]) => peak)) };
  }

  process.stdout.write(`\nenrich, different rows, ${CONCURRENCY} at a time, no pacing\n`);
  compare(`${LATENCY_MS} ms per response`, SLOW, slowEnv);
  const short = compare('immediate responses', SHORT, env);
  const long = enrich(LONG);
  const each = long.seconds / LONG;
  const [a, b] = [short.each, each].map((seconds) => (seconds * 1e6).toFixed(0));
  say('time per row', `${a} µs of ${SHORT} rows, ${b} µs of ${LONG}: ${(each / short.each).toFixed(2)} ×`);
  const [p, q] = [short.peak, long.peak].map((peak) => peak.toFixed(0));
  say('peak memory', `${p} MB and ${q} MB: ${(long.peak / short.peak).toFixed(2)} ×`);
}

// Times two commands alternately, so that a change of the machine's speed affects both.
import { spawnSync } from 'node:child_process';

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Returns the milliseconds a process takes, with its output read through a pipe. @throws {Error} unless it exits 0 */
export function time([program, ...words], env, input) {
  const start = process.hrtime.bigint();
  const { status, stderr, error } = spawnSync(program, words, {
    env,
    input,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    maxBuffer: 256 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: exit ${status}\n${error ?? stderr}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/**
 * Runs two command lines alternately. The first run of each is not counted: it fills the caches.
 * @param input of the second
 * @returns the medians in milliseconds, and the ratio of the first to the second
 */
export function sideBySide(ours, theirs, env, runs, input) {
  const both = () => [time(ours, env), time(theirs, env, input)];
  both();
  const times = Array.from({ length: runs }, both);
  const [mine, other] = [0, 1].map((side) => median(times.map((pair) => pair[side])));
  return { mine, other, ratio: mine / other };
}

/** Formats a line of the table: name, time, ratio to the baseline. */
export function line(name, { mine, other, ratio }, otherName) {
  const ms = (value) => `${value.toFixed(0)} ms`;
  return `${name.padEnd(24)}${ms(mine).padStart(8)}  ${ratio.toFixed(2).padStart(5)} × ${otherName} (${ms(other)})\n`;
}

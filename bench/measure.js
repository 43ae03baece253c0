// Whole processes, timed in turn, so that a machine whose speed drifts treats both sides alike.
import { spawnSync } from 'node:child_process';

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Milliseconds that a whole process takes. Its output is read, as by a shell's pipe. @throws {Error} unless it exits 0 */
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
 * Runs two commands in turn. The first run of each is not counted: it fills what is kept.
 * @returns the medians in milliseconds, and how many times the second the first takes
 */
export function sideBySide(ours, theirs, runs) {
  ours();
  theirs();
  const times = Array.from({ length: runs }, () => [ours(), theirs()]);
  const [mine, other] = [0, 1].map((side) => median(times.map((pair) => pair[side])));
  return { mine, other, ratio: mine / other };
}

/** One line of a table: what, how long, and how many times the other. */
export function line(name, { mine, other, ratio }, otherName) {
  const ms = (value) => `${value.toFixed(0)} ms`;
  return `${name.padEnd(22)}${ms(mine).padStart(8)}  ${ratio.toFixed(2).padStart(5)} × ${otherName} (${ms(other)})\n`;
}

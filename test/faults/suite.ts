import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freshHome, type RunOptions, runCli, type Transcript } from '../helpers/program.ts';
import { type Fault, KEY } from './fault.ts';
import { serveFault } from './server.ts';
import { expectSurvived, expectWholeFiles } from './survival.ts';
import { tallied } from './tally.ts';

/** Less than the program's own 30 seconds, enough for a busy machine. */
const WITHIN_MS = 15_000;
const SEARCH = ['find', 'Nopa', '--city', 'SF'];

/** A test for each fault: the real program, in this process, with --json and as a table. */
export function faultSuite(group: string, faults: readonly Fault[]): void {
  describe.concurrent(`survives ${group}`, () => {
    it.each(faults.map((fault) => [fault.name, fault] as const))('%s', (_name, fault) =>
      tallied(group, () => survive(fault)),
    );
  });
}

async function survive(fault: Fault): Promise<void> {
  for (const form of ['json', 'table'] as const) {
    const server = await serveFault(fault);
    const clock = skippingClock();
    const { home, env } = freshHome();
    const base = fault.at?.(server.port) ?? `http://127.0.0.1:${server.port}`;
    const words = [
      ...(fault.line ?? SEARCH),
      ...(fault.options ?? []),
      ...(form === 'json' ? ['--json'] : []),
    ];
    const started = performance.now();
    const transcript: Transcript = await runCli(words, {
      env: {
        ...env,
        RESTAURANT_BASE_URL: base,
        RESTAURANT_API_KEY: KEY,
        RESTAURANT_MAX_AGE: '0',
        NO_COLOR: '1',
        ...fault.env,
      },
      tty: { stdout: form === 'table', columns: 100 },
      ...(fault.stdin === undefined ? {} : { stdin: fault.stdin }),
      ...clock.options,
    });
    const took = performance.now() - started;
    await server.close();
    const told = expectSurvived(transcript, { form, ...fault });
    expectWholeFiles(home);
    rmSync(home, { recursive: true });
    expect(took).toBeLessThan(WITHIN_MS);
    const { requests = 1 } = fault;
    const [least, most] = typeof requests === 'number' ? [requests, requests] : requests;
    expect(server.requests.length, 'requests').toBeGreaterThanOrEqual(least);
    expect(server.requests.length, 'requests').toBeLessThanOrEqual(most);
    if (fault.waits !== undefined) expect(clock.waits).toEqual(fault.waits);
    if (fault.tells !== undefined) expect(told).toMatch(fault.tells);
    if (fault.shows !== undefined) expect(transcript.stdout).toMatch(fault.shows);
  }
}

/** A clock that a wait sets forward instead of taking its time. */
export function skippingClock(): { waits: number[]; options: Pick<RunOptions, 'now' | 'sleep'> } {
  const waits: number[] = [];
  let skipped = 0;
  return {
    waits,
    options: {
      now: () => Date.now() + skipped,
      sleep: async (ms, signal) => {
        signal?.throwIfAborted();
        waits.push(ms);
        skipped += ms;
      },
    },
  };
}

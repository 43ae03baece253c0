import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { STANDALONE } from '../helpers/process.ts';
import { newHome, runCli, type Transcript } from '../helpers/program.ts';
import { skippingClock } from './clock.ts';
import { type Fault, KEY, type OutputFormat } from './fault.ts';
import { serveFault } from './server.ts';
import { expectSurvived, expectWholeFiles } from './survival.ts';
import { countFault } from './tally.ts';

const WITHIN_MS = 60_000;
const FORMS: readonly OutputFormat[] = ['json', 'table'];
/** The standalone executable waits in real time, and prints no table without a terminal. */
const MAX_REAL_WAITS_MS = 2000;
const SEARCH = ['find', 'Nopa', '--city', 'SF'];

/**
 * Adds a test for each fault, which runs the program with --json and as a table in this process, where waits are skipped.
 * @param concurrent whether to run several tests at a time, since most of them only wait
 */
export function faultSuite(group: string, faults: readonly Fault[], concurrent = true): void {
  describe(`survives ${group}`, { concurrent }, () => {
    const chosen = STANDALONE ? faults.filter(waitsBriefly) : faults;
    it.each(chosen.map((fault) => [fault.name, fault] as const))('%s', (_name, fault) =>
      countFault(group, () => survive(fault)),
    );
  });
}

const waitsBriefly = ({ waits = [] }: Fault): boolean =>
  waits.reduce((total, ms) => total + ms, 0) <= MAX_REAL_WAITS_MS;

async function survive(fault: Fault): Promise<void> {
  for (const form of STANDALONE ? (['json'] as const) : (fault.formats ?? FORMS)) {
    const server = await serveFault(fault);
    const clock = skippingClock();
    const { home, env } = newHome();
    const base = fault.baseUrl?.(server.port) ?? `http://127.0.0.1:${server.port}`;
    const words = [
      ...(fault.words ?? SEARCH),
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
      ...(fault.stdin === undefined ? {} : { stdin: fault.stdin }),
      ...(STANDALONE ? {} : { tty: { stdout: form === 'table', columns: 100 }, ...clock }),
    });
    const took = performance.now() - started;
    await server.close();
    const problem = expectSurvived(transcript, { form, ...fault });
    expectWholeFiles(home);
    rmSync(home, { recursive: true });
    expect(took).toBeLessThan(fault.maxMs ?? WITHIN_MS);
    const { requests = 1 } = fault;
    const [least, most] = typeof requests === 'number' ? [requests, requests] : requests;
    expect(server.requests.length, 'requests').toBeGreaterThanOrEqual(least);
    expect(server.requests.length, 'requests').toBeLessThanOrEqual(most);
    if (fault.waits !== undefined && !STANDALONE) expect(clock.waits).toEqual(fault.waits);
    if (fault.message !== undefined) expect(problem).toMatch(fault.message);
    if (fault.stdout !== undefined) expect(transcript.stdout).toMatch(fault.stdout);
  }
}

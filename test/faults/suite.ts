import { describe, expect, it } from 'vitest';
import { skippingClock } from '../helpers/clock.ts';
import { restaurant, STANDALONE } from '../helpers/process.ts';
import { newHome, runCli } from '../helpers/program.ts';
import type { Fault, OutputFormat } from './fault.ts';
import { type FaultServer, serveFault } from './server.ts';
import { expectSurvived, expectWholeFiles } from './survival.ts';

const FORMS: readonly OutputFormat[] = ['json', 'table'];
/** The standalone executable waits in real time, and prints no table without a terminal. */
const MAX_REAL_WAITS_MS = 2000;
export const SEARCH: readonly string[] = ['find', 'Nopa', '--city', 'SF'];

/**
 * Adds a test for each fault, which runs the program with --json and as a table in this process, where waits are skipped.
 * @param concurrent whether to run several tests at a time, since most of them only wait
 */
export function faultSuite(group: string, faults: readonly Fault[], concurrent = true): void {
  describe(`survives ${group}`, { concurrent }, () => {
    const chosen = STANDALONE ? faults.filter(waitsBriefly) : faults;
    it.each(chosen)('$name', async (fault) => {
      const forms = STANDALONE ? ['json' as const] : (fault.formats ?? FORMS);
      for (const form of forms) await survive(fault, form);
    });
    const built = STANDALONE ? [] : faults.filter((fault) => fault.built);
    it.each(built)('$name, as a process', async (fault) => void (await surviveAsProcess(fault)));
  });
}

const waitsBriefly = ({ waits = [] }: Fault): boolean =>
  waits.reduce((total, ms) => total + ms, 0) <= MAX_REAL_WAITS_MS;

/** Runs the program in this process. */
async function play(fault: Fault, form: OutputFormat, ...more: string[]) {
  const clock = skippingClock();
  const server = await serveFault(fault);
  const { home, env } = newHome();
  const transcript = await runCli([...wordsOf(fault, form), ...more], {
    env: { ...env, ...server.env, NO_COLOR: '1', ...fault.env },
    ...(STANDALONE ? {} : { tty: { stdout: form === 'table', columns: 100 }, ...clock }),
  });
  await server.close();
  return { server, home, transcript, waits: clock.waits };
}

/** Checks that the program ends as the fault expects. */
async function survive(fault: Fault, form: OutputFormat): Promise<void> {
  const { server, home, transcript, waits } = await play(fault, form);
  expectSurvived(transcript, { ...fault, form });
  expectWholeFiles(home);
  expectRequests(server, fault);
  if (fault.waits !== undefined && !STANDALONE) expect(waits).toEqual(fault.waits);
  if (fault.remark === undefined) return;
  const { stdout, stderr } = (await play(fault, form, '--verbose')).transcript;
  expect(stdout).toBe(transcript.stdout);
  expect(stderr.match(/^\* .*/gm)?.join('\n') ?? '').toMatch(fault.remark);
}

/** Runs the built program with --json, and checks that it ends as the fault expects. */
export async function surviveAsProcess(fault: Fault): Promise<FaultServer> {
  const server = await serveFault(fault);
  const env = { ...newHome().env, ...server.env, ...fault.env };
  const ended = await restaurant(wordsOf(fault, 'json'), { env });
  await server.close();
  expectSurvived(ended, { ...fault, form: 'json' });
  expectRequests(server, fault);
  return server;
}

const wordsOf = ({ words = SEARCH, options = [] }: Fault, form: OutputFormat): string[] => [
  ...words,
  ...options,
  ...(form === 'json' ? ['--json'] : []),
];

function expectRequests(server: FaultServer, { requests = 1 }: Fault): void {
  const [least, most] = typeof requests === 'number' ? [requests, requests] : requests;
  expect(server.requests.length, 'requests').toBeGreaterThanOrEqual(least);
  expect(server.requests.length, 'requests').toBeLessThanOrEqual(most);
}

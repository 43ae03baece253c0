import { Session } from 'node:inspector/promises';
import { expect, it, onTestFinished } from 'vitest';
import { FAILURES } from '../../bench/failures.js';
import { parseFault } from '../../src/sandbox/faults.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { newHome, runCli } from '../helpers/program.ts';
import { PAID } from '../helpers/service.ts';

/** Counts how often the constructor of every error of this program is called during some work. */
async function countErrors(work: () => Promise<unknown>): Promise<number> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result
    .filter(({ url }) => /\/src\/errors\.ts/.test(url))
    .flatMap(({ functions }) => functions)
    .filter(({ functionName }) => functionName === 'AppError')
    .reduce((count, { ranges }) => count + (ranges[0]?.count ?? 0), 0);
}

it.each(FAILURES)(
  '$title makes one error for each attempt',
  async ({ words, faults, attempts, exit, settings }) => {
    const sandbox = await startSandbox({ perMinute: 0, perDay: 0, faults: faults.map(parseFault) });
    onTestFinished(() => sandbox.close());
    const service = { RESTAURANT_BASE_URL: sandbox.baseUrl, RESTAURANT_API_KEY: PAID };
    const env = { ...newHome().env, ...service, ...settings };
    const run = async () => expect(await runCli([...words, '--json'], { env })).toMatchObject({ exit });
    expect(await countErrors(run)).toBe(attempts);
  },
);

import { Session } from 'node:inspector/promises';
import { expect, it, onTestFinished } from 'vitest';
import { parseFault } from '../../src/sandbox/faults.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { newHome, runCli } from '../helpers/program.ts';
import { PAID } from '../helpers/service.ts';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const FIND = ['find', 'Nopa', '--city', 'SF'];

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

it.each<[string, string[], string[], number, number, Record<string, string>?]>([
  ['a 429', [...FIND, '--retries', '0'], ['429'], 1, 5],
  ['a 429 after a retry', [...FIND, '--retries', '1'], ['429'], 2, 5],
  ['a 401', FIND, ['401'], 1, 4],
  ['an unknown id', ['lookup', UNKNOWN], [], 1, 3],
  [
    'a quota that is used up',
    [...FIND, '--fields', 'standard', '--limit', '1'],
    [],
    1,
    5,
    { RESTAURANT_PER_DAY: '1' },
  ],
])('%s makes one error for each attempt', async (_title, words, faults, attempts, exit, settings = {}) => {
  const sandbox = await startSandbox({ perMinute: 0, perDay: 0, faults: faults.map(parseFault) });
  onTestFinished(() => sandbox.close());
  const service = { RESTAURANT_BASE_URL: sandbox.baseUrl, RESTAURANT_API_KEY: PAID };
  const env = { ...newHome().env, ...service, ...settings };
  const run = async () => expect(await runCli([...words, '--json'], { env })).toMatchObject({ exit });
  expect(await countErrors(run)).toBe(attempts);
});

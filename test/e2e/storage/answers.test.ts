import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answers, openAnswers } from '../../../src/lists/answers.ts';
import { useFolder } from '../../helpers/files.ts';
import { fewOrAll } from '../../helpers/full.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const KILLS = fewOrAll(10, 300);

/** Counts in the answers about a restaurant until it is killed or has done its turns. */
const COUNTER = `
import { openAnswers } from '../../../src/lists/answers.ts';
const [path, turns] = process.argv.slice(2);
const context = { now: Date.now };
const answers = openAnswers(path, { service: 'demo', access: 'share', context, warn: console.error });
for (let turn = 0; turn < Number(turns); turn += 1) {
  await answers.locked(() => {
    const n = answers.lookup('a', 'basic')?.output?.n ?? 0;
    answers.addLookup('a', 'basic', { n: n + 1, filler: 'x'.repeat(20_000) });
  });
  if (turn === 0) console.log('started');
  // So that the other process gets the lock.
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
}`;

const folder = useFolder();

function withAnswers<T>(work: (answers: Answers) => T): T {
  const warnings: string[] = [];
  const options = { service: 'demo', access: 'read', context: { now: Date.now } } as const;
  const answers = openAnswers(folder.at('a.answers.ndjson'), {
    ...options,
    warn: (text) => warnings.push(text),
  });
  const result = work(answers);
  answers.close();
  expect(warnings).toEqual([]);
  return result;
}

describe('processes that add answers to one file', () => {
  let worker = '';
  beforeAll(async () => {
    worker = await bundleWorker(COUNTER);
  });
  /** Every step must be in the file once. */
  function expectNoGap(): number {
    const steps = withAnswers((answers) => [...answers.history('a')].map(({ record }) => Number(record?.n)));
    expect(steps.reverse()).toEqual(steps.map((_, index) => index + 1));
    return steps.length;
  }
  const start = (turns: string) => startWorker(worker, [folder.at('a.answers.ndjson'), turns]);

  it('lose none and add none twice when they are killed at any moment', async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const runs = Array.from({ length: kill % 5 === 0 ? 2 : 1 }, () => start('1e9'));
      await Promise.all(runs.map((run) => run.printed('started')));
      await sleep(Math.random() * 20);
      for (const run of runs) run.process.kill('SIGKILL');
      await Promise.all(runs.map((run) => run.ended));
      expectNoGap();
    }
    expect(expectNoGap()).toBeGreaterThanOrEqual(KILLS);
  }, 900_000);

  it('wait for each other', async () => {
    const runs = [1, 2, 3].map(() => start('20'));
    for (const run of runs) expect(await run.ended).toMatchObject({ exit: 0, stderr: '' });
    expect(expectNoGap()).toBe(60);
  });
});

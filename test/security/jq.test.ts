import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { found, useScriptedService } from '../helpers/answers.ts';
import { STANDALONE } from '../helpers/process.ts';
import { newHome, runCli } from '../helpers/program.ts';
import { useProgram } from './support.ts';

const FIND = ['find', 'a', '--city', 'SF', '--demo', '--jq'];
/** Time in which a program ends after a signal, on a busy machine. */
const MAX_MS = 15_000;
const service = useScriptedService();
const { begin, run } = useProgram(() => service.url);

describe('--jq', () => {
  it.each([
    'def f: f; f',
    'last(range(0;1e15))',
    '[range(1e9)]',
    'range(infinite)',
    '[limit(1e9; repeat(0))]',
  ])('ends within --timeout or with its memory: %s', async (filter) => {
    // The worker ends with the program, which is tested here, too. In this process it would never end.
    const words = [...FIND, filter, '--timeout', '2s', '--json'];
    const { exit, stdout, stderr, ms } = await run(words, { asProcess: true });
    expect([2, 6]).toContain(exit);
    expect(stdout).toBe('');
    expect(JSON.parse(stderr).error.message).toMatch(/did not finish within 2s|memory/);
    expect(ms).toBeLessThan(2000 + MAX_MS);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('ends with %s', async (signal, code) => {
    // The service hears of the run when the filter is checked, so jq is loaded.
    const asked = new Promise<void>((resolve) => {
      service.answer((request, response) => {
        found({ service_id: 'r-1', name: 'Nopa' })(request, response);
        response.on('finish', () => resolve());
      });
    });
    const running = begin(['find', 'a', '--city', 'SF', '--jq', 'def f: f; f']);
    await asked;
    const began = performance.now();
    running.process.kill(signal);
    expect((await running.ended).exit).toBe(code);
    expect(performance.now() - began).toBeLessThan(MAX_MS);
  });

  it.skipIf(STANDALONE)('frees its memory when the run is over', async () => {
    const workers: Worker[] = [];
    const add = (message: unknown) => void workers.push((message as { readonly worker: Worker }).worker);
    subscribe('worker_threads', add);
    expect((await runCli([...FIND, '.status'])).exit).toBe(0);
    unsubscribe('worker_threads', add);
    expect(workers.map(({ threadId }) => threadId)).toEqual([-1]);
  });

  it('sees no variables', async () => {
    const { stdout } = await runCli([...FIND, 'env, $ENV'], { env: { ...newHome().env, SECRET: 'x' } });
    expect(stdout).toBe('{}\n{}\n');
  });

  it('takes linear time for its input and output', async () => {
    const name = 'x'.repeat(100);
    service.answer(found(...Array.from({ length: 5000 }, (_, row) => ({ service_id: `r-${row}`, name }))));
    const words = ['find', 'a', '--city', 'SF', '--jq', '.results[].name'];
    const { stdout, ms } = await run(words, { exit: 0 });
    expect(stdout.length).toBe(5000 * 101);
    expect(ms).toBeLessThan(MAX_MS);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../../src/context.ts';

/** A process that has nothing and does nothing. */
export function testContext(): Context {
  const nowhere = { isTTY: false, columns: 80, write: async () => {} };
  const unasked = () => Promise.reject(new Error('asked'));
  return {
    stdin: { isTTY: false, async *chunks() {} },
    stdout: nowhere,
    stderr: nowhere,
    env: {},
    platform: 'linux',
    runtime: 'Node.js of the tests',
    cwd: () => '/',
    homedir: () => '/nonexistent',
    now: Date.now,
    sleep: (ms, signal) => sleep(ms, undefined, { ...(signal === undefined ? {} : { signal }) }),
    random: () => 0.5,
    signal: new AbortController().signal,
    prompt: { secret: unasked, text: unasked },
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../../src/context.ts';

/** A context without input, variables, or a terminal. */
export function testContext(): Context {
  const output = { isTTY: false, columns: 80, write: async () => {} };
  const refuse = () => Promise.reject(new Error('no terminal'));
  return {
    stdin: { isTTY: false, async *chunks() {} },
    stdout: output,
    stderr: output,
    env: {},
    platform: 'linux',
    runtime: 'Node.js of the tests',
    cwd: () => '/',
    homedir: () => '/nonexistent',
    now: Date.now,
    sleep: (ms, signal) => sleep(ms, undefined, { ...(signal === undefined ? {} : { signal }) }),
    random: () => 0.5,
    signal: new AbortController().signal,
    leaveInterruptsTo: (program) => program(),
    prompt: { secret: refuse, text: refuse, keys: () => ({ next: refuse }) },
  };
}

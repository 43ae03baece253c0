import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { type Running, startRestaurant, until } from '../../helpers/process.ts';
import { newHome } from '../../helpers/program.ts';
import { httpServer } from '../../helpers/servers.ts';
import { PAID } from '../../helpers/service.ts';

/** Maximum time from a signal to the exit, in ms, on a busy and on an idle machine. */
const BUSY_MS = 10_000;
const IDLE_MS = 400;
const FIND = ['find', 'Nopa', '--city', 'SF'];
const COMMANDS = [
  FIND,
  ['lookup', 'a', 'b', 'c'],
  ['raw', 'tools/call', '{"name":"x"}'],
  ['status', '--check'],
];

let hanging: Sandbox;
let busy: Sandbox;
beforeAll(async () => {
  hanging = await startSandbox({ faults: [parseFault('hang')] });
  busy = await startSandbox({ faults: [parseFault('429')] });
});
afterAll(async () => {
  await hanging.close();
  await busy.close();
});

const { home } = newHome();
const start = (
  words: readonly string[],
  url: string,
  stdio: 'pipe' | ('pipe' | 'ignore')[] = 'pipe',
): Running =>
  startRestaurant(words, {
    env: { HOME: home, RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: url, RESTAURANT_MAX_AGE: '0' },
    stdio,
  });

/** Sends the signals; returns the result and the time to the exit in ms. */
async function stop(run: Running, ...signals: NodeJS.Signals[]) {
  const started = performance.now();
  for (const signal of signals) run.process.kill(signal);
  const ended = await run.ended;
  return { ...ended, ms: performance.now() - started };
}

/** Resolves when a process waits for stdin, as Linux reports in /proc. */
async function waitsForStdin({ process: { pid } }: Running): Promise<void> {
  const folder = `/proc/${pid}/fdinfo`;
  if (!existsSync('/proc/self/fdinfo')) return new Promise((resolve) => setTimeout(resolve, 2000));
  const waits = (): boolean =>
    readdirSync(folder).some((file) => {
      try {
        return /^tfd:\s+0 /m.test(readFileSync(join(folder, file), 'utf8'));
      } catch {
        // Closed in the meantime.
        return false;
      }
    });
  while (!waits()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe('a signal', () => {
  let fastest = Number.POSITIVE_INFINITY;

  it.each([
    ['SIGINT', 130, COMMANDS],
    ['SIGTERM', 143, COMMANDS.slice(0, 2)],
    ['SIGHUP', 129, COMMANDS.slice(0, 1)],
  ] as const)('%s during a request ends it, with its code', async (signal, code, commands) => {
    for (const words of commands) {
      const before = hanging.requests.length;
      const run = start(words, hanging.baseUrl);
      await until(() => hanging.requests.length > before, run);
      const { exit, stdout, stderr, ms } = await stop(run, signal);
      expect([words, exit, stdout]).toEqual([words, code, '']);
      expect(stderr).toBe(`error: interrupted by ${signal}\nhint: run the command again\n`);
      expect(ms).toBeLessThan(BUSY_MS);
      fastest = Math.min(fastest, ms);
    }
  });

  it('ends it at once', () => expect(fastest).toBeLessThan(IDLE_MS));

  it('ends a wait between two attempts', async () => {
    const run = start([...FIND, '--verbose', '--max-wait', '60s'], busy.baseUrl);
    await run.printed('retrying');
    const { exit, ms } = await stop(run, 'SIGINT');
    expect(exit).toBe(130);
    expect(ms).toBeLessThan(BUSY_MS);
  });

  it('ends the wait for stdin', async () => {
    for (const words of [
      ['lookup', '-', '--verbose'],
      ['raw', 'tools/call', '-'],
      ['login', '--key-stdin'],
    ]) {
      const run = startRestaurant(words, {
        env: { HOME: home, RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: hanging.baseUrl },
        holdStdin: true,
      });
      await waitsForStdin(run);
      const { exit, ms } = await stop(run, 'SIGINT');
      expect([words, exit]).toEqual([words, 130]);
      expect(ms).toBeLessThan(BUSY_MS);
    }
  });

  it('ends the wait for a reader of stdout that does not read', async () => {
    const server = await httpServer(({ body }, response) => {
      const results = Array.from({ length: 20_000 }, (_, index) => ({
        service_id: `id-${index}`,
        name: 'x'.repeat(100),
      }));
      const output = JSON.stringify({ status: 'ok', results, total_matches: results.length });
      const result = { content: [{ type: 'text', text: output }] };
      response.end(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result }));
      answered = true;
    });
    let answered = false;
    const run = start(FIND, server.origin);
    run.process.stdout?.removeAllListeners('data').pause();
    await until(() => answered, run);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const began = performance.now();
    run.process.kill('SIGINT');
    const exit = await new Promise((resolve) => run.process.on('exit', resolve));
    expect(exit).toBe(130);
    expect(performance.now() - began).toBeLessThan(BUSY_MS);
    await server.close();
  });

  it('that arrives twice ends the program at once', async () => {
    const before = hanging.requests.length;
    const run = start(FIND, hanging.baseUrl);
    await until(() => hanging.requests.length > before, run);
    const { exit, ms } = await stop(run, 'SIGINT', 'SIGINT');
    expect(exit).toBe(130);
    expect(ms).toBeLessThan(BUSY_MS);
  });

  it('leaves no partially written file', () => {
    const files = readdirSync(home, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => /\.(tmp|lock)$/.test(name))).toEqual([]);
  });
});

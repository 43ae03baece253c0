import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults.ts';
import { found, useScriptedService } from '../../helpers/answers.ts';
import { type Running, startRestaurant, until } from '../../helpers/process.ts';
import { newHome } from '../../helpers/program.ts';
import { rawServer } from '../../helpers/servers.ts';
import { useService } from '../../helpers/service.ts';

/** Maximum time from a signal to the exit, in ms, on a busy and on an idle machine. */
const BUSY_MS = 10_000;
const IDLE_MS = 400;
const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;
const FIND = ['find', 'Nopa', '--city', 'SF'];
const INITIALIZE = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n`;
const CALL = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"find_restaurant","arguments":{"name":"Nopa","city":"SF"}}}\n`;

const hanging = useService({ faults: [parseFault('hang')] });
const busy = useService({ faults: [parseFault('429')] });
const large = useScriptedService();
/** Accepts connections and sends nothing. */
const silent = await rawServer(() => {});
afterAll(silent.close);

const homes: string[] = [];

/** Starts a command in a home with a list, writes to its stdin, and keeps that open. */
function start(words: readonly string[], url = hanging.sandbox.baseUrl, input = ''): Running {
  const { home } = newHome();
  homes.push(home);
  writeFileSync(join(home, 'in.csv'), 'name,city\nNopa,SF\n');
  const env = { ...hanging.env, HOME: home, RESTAURANT_BASE_URL: url };
  const run = startRestaurant(words, { env, cwd: home, holdStdin: true });
  run.process.stdin?.write(input);
  return run;
}

/** Starts a command and waits until the count is higher. */
async function counted(count: () => number, begin: () => Running): Promise<Running> {
  const before = count();
  const run = begin();
  await until(() => count() > before, run);
  return run;
}
const requested = (words: readonly string[], input?: string) =>
  counted(
    () => hanging.sandbox.requests.length,
    () => start(words, undefined, input),
  );

async function printed(text: string, words: readonly string[], url?: string, input?: string) {
  const run = start(words, url, input);
  await run.printed(text);
  return run;
}

/** Starts a command that waits for stdin, as Linux reports in /proc. */
async function waitingForStdin(words: readonly string[]): Promise<Running> {
  const run = start(words);
  const folder = `/proc/${run.process.pid}/fdinfo`;
  const waits = (file: string): boolean => {
    try {
      return /^tfd:\s+0 /m.test(readFileSync(join(folder, file), 'utf8'));
    } catch {
      // Closed in the meantime.
      return false;
    }
  };
  if (existsSync('/proc/self/fdinfo')) await until(() => readdirSync(folder).some(waits), run);
  else await new Promise((resolve) => setTimeout(resolve, 2000));
  return run;
}

/** Starts a sandbox with 100 open connections, half of which wait for a response. */
async function busySandbox(): Promise<Running> {
  const run = start(['sandbox', '--port', '0', '--fault', 'hang', '--json'], '');
  const port = Number(new URL(JSON.parse(await run.printed('}\n')).base_url).port);
  const sockets = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  for (const socket of sockets.slice(0, 50)) {
    socket.write(`POST /api/mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 2\r\n\r\n{}`);
  }
  return run;
}

const AGAIN = /^error: interrupted by SIG\w+\nhint: run the command again\n$/;
const VERBOSE = /(^|\n)error: interrupted by SIG\w+\nhint: .+\n/;

/** How to start the program and wait until it reaches a stage, and what it prints when it is stopped there. */
const STAGES: Readonly<Record<string, readonly [reach: () => Promise<Running>, stderr: string | RegExp]>> = {
  'while it connects': [
    () => counted(silent.connections, () => start(FIND, `https://127.0.0.1:${silent.port}`)),
    AGAIN,
  ],
  'in find': [() => requested(FIND), AGAIN],
  'in lookup': [() => requested(['lookup', 'a', 'b', 'c']), AGAIN],
  'in raw': [() => requested(['raw', 'tools/call', '{"name":"x"}']), AGAIN],
  'in status': [() => requested(['status', '--check']), AGAIN],
  'in enrich': [
    () => requested(['enrich', 'in.csv', '-o', 'out.csv']),
    /\nerror: interrupted by .*\nhint: .+\n$/,
  ],
  'between two attempts, after a refused connection': [
    () =>
      printed('retrying', [...FIND, '--retries', '20', '--timeout', '1h', '--verbose'], 'http://127.0.0.1:1'),
    VERBOSE,
  ],
  'between two attempts, after a rate limit': [
    () => printed('retrying', [...FIND, '--verbose', '--max-wait', '60s'], busy.sandbox.baseUrl),
    VERBOSE,
  ],
  'while lookup reads stdin': [() => waitingForStdin(['lookup', '-', '--verbose']), VERBOSE],
  'while raw reads stdin': [() => waitingForStdin(['raw', 'tools/call', '-']), AGAIN],
  'while login reads stdin': [() => waitingForStdin(['login', '--key-stdin']), AGAIN],
  'in mcp, between two calls': [() => printed('"result"', ['mcp'], undefined, INITIALIZE), 'stopped\n'],
  'in mcp, in a call': [() => requested(['mcp'], INITIALIZE + CALL), 'stopped\n'],
  'in sandbox, with open connections': [busySandbox, ''],
};

/** Sends signals. @returns how the program ended, and after how many milliseconds */
async function afterSignals(run: Running, ...signals: readonly NodeJS.Signals[]) {
  const began = performance.now();
  for (const signal of signals) run.process.kill(signal);
  // `ended` waits for stdout, which nobody may read.
  const exit = await new Promise((resolve) => run.process.on('exit', resolve));
  const ms = performance.now() - began;
  expect(ms).toBeLessThan(BUSY_MS);
  return { exit, ms, output: run.ended };
}

describe('a signal ends the program with its exit code', () => {
  let fastest = Number.POSITIVE_INFINITY;

  it.each(Object.entries(STAGES))('%s', async (stage, [reach, expected]) => {
    for (const [signal, code] of SIGNALS) {
      const run = await reach();
      const { exit, ms, output } = await afterSignals(run, signal);
      const { stdout, stderr } = await output;
      fastest = Math.min(fastest, ms);
      expect([signal, exit]).toEqual([signal, code]);
      if (typeof expected === 'string') expect(stderr).toBe(expected);
      else {
        expect([stdout, stderr]).toEqual(['', expect.stringMatching(expected)]);
        expect(stderr).toContain(`by ${signal}\n`);
      }
      // A verbose refusal has a stack.
      if (!stage.includes('refused')) expect(stderr).not.toMatch(/^\s+at /m);
    }
  });

  it('at once', () => expect(fastest).toBeLessThan(IDLE_MS));

  it('also when it arrives twice', async () => {
    const run = await requested(FIND);
    expect((await afterSignals(run, 'SIGINT', 'SIGINT')).exit).toBe(130);
  });

  it('without a partially written file', () => {
    for (const home of homes) {
      const files = readdirSync(home, { recursive: true, encoding: 'utf8' });
      expect(files.filter((name) => /\.(tmp|lock)$/.test(name))).toEqual([]);
    }
  });

  it('while nobody reads stdout', async () => {
    const rows = Array.from({ length: 20_000 }, (_, n) => ({ service_id: `${n}`, name: 'x'.repeat(100) }));
    large.answer(found(...rows));
    const run = start(FIND, large.url);
    run.process.stdout?.removeAllListeners('data').pause();
    await until(() => large.asked.length > 0, run);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await afterSignals(run, 'SIGINT')).exit).toBe(130);
  });

  it('at any time during its start, with at most its usual message', async () => {
    const runs = Array.from({ length: 8 }, async (_, place) => {
      const run = start(FIND);
      await new Promise((resolve) => setTimeout(resolve, place * 15));
      run.process.kill('SIGTERM');
      const { exit, signal, stdout, stderr } = await run.ended;
      // Before the program handles signals, the system ends it.
      expect([143, null]).toContain(exit);
      if (exit === null) expect(signal).toBe('SIGTERM');
      expect(stdout).toBe('');
      expect(stderr).toMatch(/^$|^error: interrupted by SIGTERM\nhint: .+\n$/);
    });
    await Promise.all(runs);
  });
});

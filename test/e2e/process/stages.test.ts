import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { PROGRAM, type Running, startRestaurant, until } from '../../helpers/process.ts';
import { newHome } from '../../helpers/program.ts';
import { rawServer, type TestServer } from '../../helpers/servers.ts';
import { PAID } from '../../helpers/service.ts';
import { inTerminal } from '../../helpers/terminal.ts';

/** Maximum time from a signal to the exit, in ms: of each stage on a busy machine, and of the fastest stage on any. */
const BUSY_MS = 10_000;
const FASTEST_MS = 500;
const SIGNALS = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const;
const FIND = ['find', 'Nopa', '--city', 'SF'];
const INITIALIZE = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n`;
const CALL = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"find_restaurant","arguments":{"name":"Nopa","city":"SF"}}}\n`;

let hanging: Sandbox;
/** Accepts connections and sends nothing. */
let silent: TestServer;
beforeAll(async () => {
  hanging = await startSandbox({ faults: [parseFault('hang')] });
  silent = await rawServer(() => {});
});
afterAll(async () => {
  await hanging.close();
  await silent.close();
});

const start = (words: readonly string[], url: string, home = newHome().home): Running =>
  startRestaurant(words, {
    env: { HOME: home, RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: url, RESTAURANT_MAX_AGE: '0' },
    cwd: home,
    holdStdin: true,
  });

/** Resolves when the sandbox has received another request. */
function nextRequest(run: Running, before: number): Promise<void> {
  return until(() => hanging.requests.length > before, run);
}

interface Stage {
  /** Starts the program and waits until it reaches the stage. */
  readonly reach: () => Promise<Running>;
  /** A server prints nothing when it is stopped. */
  readonly silent?: true;
}

const STAGES: Readonly<Record<string, Stage>> = {
  'while it connects': {
    reach: async () => {
      const before = silent.connections();
      const run = start(FIND, `https://127.0.0.1:${silent.port}`);
      await until(() => silent.connections() > before, run);
      return run;
    },
  },
  'between two attempts, after a refused connection': {
    reach: async () => {
      const run = start([...FIND, '--retries', '20', '--timeout', '1h', '--verbose'], 'http://127.0.0.1:1');
      await run.printed('retrying');
      return run;
    },
  },
  'in enrich': {
    reach: async () => {
      const { home } = newHome();
      writeFileSync(join(home, 'in.csv'), 'name,city\nNopa,SF\n');
      const before = hanging.requests.length;
      const run = start(['enrich', 'in.csv', '-o', 'out.csv'], hanging.baseUrl, home);
      await nextRequest(run, before);
      return run;
    },
  },
  'in mcp, between two calls': {
    silent: true,
    reach: async () => {
      const run = start(['mcp'], hanging.baseUrl);
      run.process.stdin?.write(INITIALIZE);
      await run.printed('"result"');
      return run;
    },
  },
  'in mcp, in a call': {
    silent: true,
    reach: async () => {
      const before = hanging.requests.length;
      const run = start(['mcp'], hanging.baseUrl);
      run.process.stdin?.write(INITIALIZE + CALL);
      await nextRequest(run, before);
      return run;
    },
  },
  'in sandbox': {
    silent: true,
    reach: async () => {
      const run = start(['sandbox', '--port', '0'], '');
      await run.printed('\n');
      return run;
    },
  },
};

describe('a signal ends the program with its exit code', () => {
  let fastest = Number.POSITIVE_INFINITY;

  it.each(Object.entries(STAGES))('%s', async (_stage, { reach, silent: quiet }) => {
    // In sequence: each waits for its own request.
    const runs = [];
    for (const [signal, code] of SIGNALS) runs.push({ signal, code, run: await reach() });
    const times = await Promise.all(
      runs.map(async ({ signal, code, run }) => {
        const began = performance.now();
        run.process.kill(signal);
        const { exit, stdout, stderr } = await run.ended;
        const ms = performance.now() - began;
        expect([signal, exit]).toEqual([signal, code]);
        if (quiet !== true) {
          expect(stdout).toBe('');
          expect(stderr).toContain(`error: interrupted by ${signal}`);
          expect(stderr).toMatch(/\nhint: .+\n/);
        }
        // One stage needs --verbose, which prints its steps.
        if (!stderr.includes('> POST')) expect(stderr).not.toMatch(/^\s+at /m);
        return ms;
      }),
    );
    expect(Math.max(...times)).toBeLessThan(BUSY_MS);
    fastest = Math.min(fastest, ...times);
  });

  it('at once', () => expect(fastest).toBeLessThan(FASTEST_MS));

  it('at any time during its start, with at most its usual message', async () => {
    const runs = Array.from({ length: 8 }, async (_, place) => {
      const run = start(FIND, hanging.baseUrl);
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

describe.skipIf(process.platform === 'win32')('a signal at a prompt', () => {
  it('restores the terminal', async () => {
    const runs = SIGNALS.map(async ([signal, code]) => {
      const { home } = newHome();
      const env = { HOME: home, RESTAURANT_BASE_URL: hanging.baseUrl, NO_COLOR: '1' };
      // The inner shell becomes the program, so its process ID is the program's.
      const line = `stty -a > before; sh -c 'echo $$ > pid; exec "$0" "$@"' "$0" "$@"; echo "exit $?"; stty -a > after`;
      const login = inTerminal('sh', ['-c', line, ...PROGRAM, 'login'], { env, cwd: home });
      await login.shown('API key for');
      process.kill(Number(readFileSync(join(home, 'pid'), 'utf8')), signal);
      const { output } = await login.ended;
      expect([signal, output]).toEqual([signal, expect.stringContaining(`exit ${code}`)]);
      expect(stripVTControlCharacters(output)).toMatch(/\r\nerror: interrupted by SIG.+\r\nhint: /);
      expect(readFileSync(join(home, 'after'), 'utf8')).toBe(readFileSync(join(home, 'before'), 'utf8'));
    });
    await Promise.all(runs);
  });
});

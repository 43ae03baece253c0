import { afterAll, describe, expect, it } from 'vitest';
import { hintFor } from '../../src/app/error-hint.ts';
import { AppError, CODES, type Code, EXIT_CODES } from '../../src/errors.ts';
import { hintText } from '../../src/output/hint-text.ts';
import { parseFault } from '../../src/sandbox/faults.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { splitWords } from '../../src/util/shell.ts';
import { PROGRAM, start, startRestaurant, until } from '../helpers/process.ts';
import { newHome, type RunOptions, runCli, type Transcript } from '../helpers/program.ts';
import { ID } from '../helpers/runs.ts';
import { FREE, PAID, REVOKED, useService } from '../helpers/service.ts';

const service = useService();
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const FIND = ['find', 'Nopa', '--city', 'SF', '--retries', '0', '--timeout', '2s'];
const LOOKUP = ['lookup', ID, '--retries', '0'];

/** The codes that the scenarios produced. */
const produced = new Set<string>();

interface Scenario {
  readonly what: string;
  readonly code: Code;
  readonly words: readonly string[];
  /** Expected in the message. */
  readonly names: string | RegExp;
  readonly options?: RunOptions;
  readonly fault?: string;
  /** Whether rows are written before the failure. */
  readonly stdout?: true;
}

const keyed = (key: string) => ({ env: { RESTAURANT_API_KEY: key } });
const at = (url: string) => ({ env: { RESTAURANT_BASE_URL: url } });

const SCENARIOS: readonly Scenario[] = [
  { what: 'an unknown command', code: 'usage', words: ['fnd'], names: 'fnd' },
  { what: 'a value out of range', code: 'usage', words: [...FIND, '--limit', '0'], names: "--limit '0'" },
  { what: 'no city', code: 'usage', words: ['find', 'x'], names: 'city' },
  { what: 'no service', code: 'no_service', words: FIND, names: 'no service', options: at('') },
  {
    what: 'a missing file',
    code: 'bad_input',
    words: ['raw', 'x', '@none.json'],
    names: 'none.json: no such file or folder',
  },
  {
    what: 'stdin that is not UTF-8',
    code: 'bad_input',
    words: ['lookup', '-'],
    names: 'stdin is not UTF-8',
    options: { stdin: new Uint8Array([0xff, 0xfe, 0x41]) },
  },
  {
    what: 'empty stdin instead of JSON',
    code: 'bad_input',
    words: ['raw', 'x', '-'],
    names: 'stdin is empty',
    options: { stdin: '' },
  },
  {
    what: 'a variable with an invalid value',
    code: 'bad_config',
    words: FIND,
    names: "RESTAURANT_PROTOCOL 'new'",
    options: { env: { RESTAURANT_PROTOCOL: 'new' } },
  },
  {
    what: 'a variable that is not a URL',
    code: 'bad_config',
    words: FIND,
    names: 'RESTAURANT_BASE_URL: "ftp://localhost:1"',
    options: at('ftp://localhost:1'),
  },
  { what: 'an unknown id', code: 'not_found', words: ['lookup', UNKNOWN], names: UNKNOWN },
  { what: 'an unknown tool', code: 'not_found', words: ['call', 'nope', '--demo'], names: "'nope'" },
  { what: 'no key', code: 'no_key', words: FIND, names: 'no API key', options: keyed('') },
  {
    what: 'text that is not a key',
    code: 'bad_key',
    words: FIND,
    names: 'sk_service_',
    options: keyed('sk_other_1'),
  },
  {
    what: 'a revoked key',
    code: 'unauthorized',
    words: FIND,
    names: 'ending in oked',
    options: keyed(REVOKED),
  },
  { what: 'a key without permission', code: 'forbidden', words: FIND, names: '(403)', fault: '403' },
  {
    what: 'fields that require a paid key',
    code: 'plan_required',
    words: [...LOOKUP, '--fields', 'premium'],
    names: 'premium',
    options: keyed(FREE),
  },
  { what: 'too many requests', code: 'rate_limited', words: FIND, names: /429, wait 1 ?s/, fault: '429' },
  {
    what: 'a closed port',
    code: 'network',
    words: FIND,
    names: '127.0.0.1:9',
    options: at('http://127.0.0.1:9'),
  },
  {
    what: 'a host that does not exist',
    code: 'network',
    words: FIND,
    names: 'no-such-host.invalid',
    options: at('https://no-such-host.invalid'),
  },
  { what: 'a connection that breaks', code: 'network', words: FIND, names: '127.0.0.1', fault: 'reset' },
  { what: 'a response that is cut off', code: 'network', words: FIND, names: '127.0.0.1', fault: 'truncate' },
  { what: 'a stream that is cut off', code: 'network', words: FIND, names: '127.0.0.1', fault: 'sse-cut' },
  {
    what: 'no response',
    code: 'timeout',
    words: [...FIND, '--timeout', '300ms'],
    names: '300ms',
    fault: 'hang',
  },
  {
    what: 'a slow response',
    code: 'timeout',
    words: [...FIND, '--timeout', '400ms'],
    names: '400ms',
    fault: 'slow',
  },
  { what: 'a server error', code: 'http_error', words: FIND, names: 'HTTP 500', fault: '500' },
  { what: 'an unavailable server', code: 'http_error', words: FIND, names: 'HTTP 503', fault: '503' },
  { what: 'a JSON-RPC error', code: 'rpc_error', words: FIND, names: '-32603', fault: 'rpc-error' },
  { what: 'a failed tool', code: 'tool_error', words: FIND, names: 'tool-error', fault: 'tool-error' },
  { what: 'a web page', code: 'bad_response', words: FIND, names: 'got a web page', fault: 'html' },
  { what: 'JSON that ends early', code: 'bad_response', words: FIND, names: 'offset', fault: 'bad-json' },
  { what: 'text that is not JSON', code: 'bad_response', words: FIND, names: 'not JSON', fault: 'bad-text' },
  {
    what: 'a response with another id',
    code: 'bad_response',
    words: FIND,
    names: 'expected a JSON-RPC response',
    fault: 'wrong-id',
  },
  {
    what: 'a list that failed in part',
    code: 'partial',
    words: ['lookup', ID, UNKNOWN],
    names: `1 of 2 lookups failed: not_found (${UNKNOWN})`,
    stdout: true,
  },
  {
    what: 'a missing folder',
    code: 'io_error',
    words: [...FIND, '-o', 'none/out.csv'],
    names: /cannot write .*none\/out\.csv: the folder .*none does not exist/,
  },
  {
    what: 'a bug in the program',
    code: 'unexpected',
    words: FIND,
    names: 'TypeError: no clock',
    options: {
      now: () => {
        throw new TypeError('no clock');
      },
    },
  },
];

const sandboxes = new Map<string, Promise<Sandbox>>();
afterAll(async () => {
  for (const sandbox of sandboxes.values()) await (await sandbox).close();
});

function scenarioOf(code: Code): Scenario {
  const scenario = SCENARIOS.find((each) => each.code === code);
  if (scenario === undefined) throw new Error(`no scenario for ${code}`);
  return scenario;
}

async function play({ words, options, fault }: Scenario, more: readonly string[]): Promise<Transcript> {
  const env: Record<string, string | undefined> = { ...options?.env };
  if (fault !== undefined) {
    const faulty = sandboxes.get(fault) ?? startSandbox({ perMinute: 0, faults: [parseFault(fault)] });
    sandboxes.set(fault, faulty);
    env.RESTAURANT_BASE_URL = (await faulty).baseUrl;
    env.RESTAURANT_MAX_WAIT = '0';
  }
  return service.run([...words, ...more], { ...options, env, cwd: service.home });
}

describe('an error', () => {
  it.each(SCENARIOS)('from $what prints two lines without --json (code $code)', async (scenario) => {
    const { exit, stdout, stderr } = await play(scenario, []);
    expect(exit).toBe(EXIT_CODES[CODES[scenario.code].kind]);
    expect(stdout === '').toBe(scenario.stdout !== true);
    expect(stderr).toMatch(/^error: .+\nhint: .+\n$/);
    const [message = '', hint = ''] = stderr.split('\n');
    expect(message).toMatch(scenario.names);
    // No stack, no dump, no incomplete sentence.
    expect(stderr).not.toMatch(/^\s+at |\[object|undefined|NaN|\bnull\b/m);
    expect(message.length).toBeLessThan(420);
    expect(hint).toMatch(/restaurant|--[a-z]|https?:|[A-Z]+_[A-Z]+|ls -l|JSON needs|iconv/);
  });

  it.each(SCENARIOS)('from $what prints one line of JSON with $code with --json', async (scenario) => {
    const { exit, stdout, stderr } = await play(scenario, ['--json']);
    expect(exit).toBe(EXIT_CODES[CODES[scenario.code].kind]);
    expect(stdout === '').toBe(scenario.stdout !== true);
    expect(stderr).toMatch(/^\{.*\}\n$/);
    const { error, ...rest } = JSON.parse(stderr);
    expect(rest).toEqual({});
    expect(error).toMatchObject({
      code: scenario.code,
      message: expect.any(String),
      hint: expect.any(String),
      retryable: expect.any(Boolean),
    });
    const allowed = ['status', 'retry_after', 'restaurant_id', 'rpc_code', 'request_id'];
    for (const key of Object.keys(error).slice(4)) expect(allowed).toContain(key);
    produced.add(error.code);
  });

  it('includes the status, seconds, id and JSON-RPC code', async () => {
    const of = async (what: string) => {
      const scenario = SCENARIOS.find((each) => each.what === what);
      if (scenario === undefined) throw new Error(`no scenario: ${what}`);
      return JSON.parse((await play(scenario, ['--json'])).stderr).error;
    };
    expect(await of('too many requests')).toMatchObject({ status: 429, retry_after: 1, retryable: true });
    expect(await of('an unknown id')).toMatchObject({ restaurant_id: UNKNOWN, retryable: false });
    expect(await of('a JSON-RPC error')).toMatchObject({ rpc_code: -32603 });
    expect(await of('a server error')).toMatchObject({ status: 500, retryable: true });
    expect(await of('a revoked key')).toMatchObject({ status: 401, retryable: false });
    expect(await of('a closed port')).toMatchObject({ retryable: true });
  });

  it('distinguishes a missing, a rejected and a restricted key, and suggests login', async () => {
    const hints: string[] = [];
    const messages = new Set<string>();
    for (const code of ['no_key', 'unauthorized', 'forbidden'] as const) {
      const [message = '', hint = ''] = (await play(scenarioOf(code), [])).stderr.split('\n');
      hints.push(hint);
      messages.add(message);
    }
    expect(messages.size).toBe(3);
    expect(hints[0]).toMatch(/restaurant login$/);
    expect(hints[1]).toMatch(/restaurant login$/);
  });

  it('shows its stack with --verbose only', async () => {
    const { stdout, stderr } = await play(scenarioOf('unexpected'), ['--verbose']);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^error: TypeError: no clock$/m);
    expect(stderr).toMatch(/^\s+at /m);
  });

  it('is printed once for a thousand rows', async () => {
    const ids = Array.from(
      { length: 300 },
      (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
    );
    for (const format of ['tsv', 'ndjson', 'csv']) {
      const { exit, stderr } = await service.run(['lookup', '-', '--format', format], {
        stdin: ids.join('\n'),
        // Without a quota, or the run would wait for the next minute.
        env: { RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: '0' },
      });
      expect([exit, stderr.split('\n')]).toEqual([8, [expect.any(String), expect.any(String), '']]);
      expect(stderr).toMatch(/300 of 300 lookups failed: not_found \(.+ and 297 more\)/);
    }
  });
});

describe('an error in a real process is', () => {
  const { env: own } = newHome();
  const env = () => ({ ...own, RESTAURANT_API_KEY: PAID, RESTAURANT_BASE_URL: service.sandbox.baseUrl });

  it('tls for https to a server that uses http', async () => {
    const url = service.sandbox.baseUrl.replace('http:', 'https:');
    const { exit, stdout, stderr } = await service.run([...FIND, '--base-url', url, '--json']);
    expect([exit, stdout]).toEqual([6, '']);
    const { error } = JSON.parse(stderr);
    expect(error).toMatchObject({ code: 'tls', retryable: false, hint: expect.stringContaining('http://') });
    produced.add(error.code);
  });

  it('in_use for a port of another server', async () => {
    const port = new URL(service.sandbox.baseUrl).port;
    const { exit, stderr } = await service.run(['sandbox', '--port', port, '--json']);
    expect([exit, JSON.parse(stderr).error.code]).toEqual([9, 'in_use']);
    produced.add('in_use');
  });

  it('io_error for stdout that cannot be written', async () => {
    for (const words of [FIND, ['--help'], ['--version'], ['status', '--json']]) {
      const line = 'exec "$0" "$@" > /dev/full';
      const ran = await start('sh', ['-c', line, ...PROGRAM, ...words], { env: env() }).ended;
      expect([words, ran.exit, ran.stdout]).toEqual([words, 9, '']);
      if (words.includes('--json')) expect(JSON.parse(ran.stderr).error.code).toBe('io_error');
      else expect(ran.stderr).toMatch(/^error: cannot write to stdout: the disk is full\nhint: .*\n$/);
    }
  });

  it('interrupted for SIGINT and SIGTERM, as text and as JSON', async () => {
    const hanging = await startSandbox({ faults: [parseFault('hang')] });
    try {
      for (const [signal, exit] of [
        ['SIGINT', 130],
        ['SIGTERM', 143],
      ] as const) {
        const where = { env: { ...env(), RESTAURANT_BASE_URL: hanging.baseUrl } };
        const before = hanging.requests.length;
        const run = startRestaurant(['find', 'x', '--city', 'SF', '--json'], where);
        await until(() => hanging.requests.length > before, run);
        run.process.kill(signal);
        const ended = await run.ended;
        expect([ended.exit, ended.stdout]).toEqual([exit, '']);
        const { error } = JSON.parse(ended.stderr);
        expect(error).toMatchObject({ code: 'interrupted', message: `interrupted by ${signal}` });
        produced.add(error.code);
      }
    } finally {
      await hanging.close();
    }
  });
});

describe('the command in a hint', () => {
  const SEARCH = ['find', 'Nopa', '--city', 'San Francisco'];
  it.each<readonly string[]>([
    ['find', 'Nopa', '--location', 'San Francisco'],
    ['find', 'Nopa', '--ctiy', 'San Francisco'],
    ['find', 'Nopa', 'SF'],
    [...SEARCH, '--columns', 'nmae'],
    [...SEARCH, '--jq', '.a['],
    [...SEARCH, '-o', 'json'],
    [...SEARCH, '-o', 'new.pdf', '--quiet'],
    [...SEARCH, '--retries', '99'],
    [...SEARCH, '--open', '--csv'],
    [...SEARCH, '--quiet', '--debug'],
    [...SEARCH, '--json=name,grade'],
    ['lookup', ID, '--fields', 'premum'],
    ['call', 'find_restaurant', 'naem=Nopa', 'city=SF'],
    ['call', 'find_restaurant', 'name:=Nopa', 'city=SF', 'city=SF'],
    ['config', 'set', 'timeout', 'soon'],
    ['help', 'format'],
  ])('works as printed: after %j', async (...words) => {
    await service.run(SEARCH, { tty: { stdout: true } });
    const { exit, stderr } = await service.run(words, { cwd: service.home });
    expect(exit).toBe(2);
    const [, command] = /hint: (?:.*?[:?] )?restaurant (.*?)(?:; |\n)/.exec(stderr) ?? [];
    if (command === undefined) return expect(stderr).toMatch(/\nhint: /);
    const fixed = await service.run(splitWords(command) ?? [], { cwd: service.home });
    expect([command, fixed.exit, fixed.stderr]).toEqual([command, 0, expect.anything()]);
  });
});

describe('the table of codes', () => {
  it('matches help and schema', async () => {
    const { stdout } = await runCli(['help', 'exit-codes']);
    const shown = [...stdout.matchAll(/^ {2}(?:(\d+)(?:, 143)?)? +([a-z_]+) {2,}\S/gm)].map(
      ([, , code]) => code,
    );
    expect(shown).toEqual(Object.keys(CODES));
    const { exit_codes: kinds } = JSON.parse((await runCli(['schema'])).stdout);
    for (const { exit, kind, codes } of kinds) {
      expect(exit).toBe(kind === 'success' ? 0 : EXIT_CODES[kind as keyof typeof EXIT_CODES]);
      for (const { code } of codes) expect(CODES[code as Code].kind).toBe(kind);
    }
    expect(
      kinds.flatMap(({ codes }: { codes: { code: string }[] }) => codes.map(({ code }) => code)),
    ).toEqual(Object.keys(CODES));
  });

  it('has a hint with an action for every code', () => {
    for (const code of Object.keys(CODES) as Code[]) {
      const hint = hintText(hintFor(new AppError(code, 'x')));
      expect([code, hint]).toEqual([code, expect.stringMatching(/restaurant |--[a-z]|-o|run/)]);
    }
  });

  it('is covered by these tests, except for the quota, which only enrich enforces', () => {
    const missing = Object.keys(CODES).filter((code) => !produced.has(code));
    expect(missing).toEqual(['budget_spent']);
  });
});

import { afterAll, describe, expect, it } from 'vitest';
import { hintFor } from '../../src/app/error-hint.ts';
import { AppError, type Code, EXIT_CODES, KIND_OF } from '../../src/errors.ts';
import { hintText } from '../../src/output/hint-text.ts';
import { parseFault } from '../../src/sandbox/faults.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts';
import { type RunOptions, runCli, type Transcript } from '../helpers/program.ts';
import { ID } from '../helpers/runs.ts';
import { closed, expectValid } from '../helpers/schema.ts';
import { FREE, REVOKED, useService } from '../helpers/service.ts';

const service = useService();
const ERROR = closed(JSON.parse((await runCli(['schema'])).stdout).error);
const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const FIND = 'find Nopa --city SF --retries 0 --timeout 2s';

/** The codes that the scenarios produced. */
const produced = new Set<string>();

/** Code, cause, command line with variables before it and a fault of the sandbox behind it, part of the message, and fields in JSON. */
const SCENARIOS = `
usage         | an unknown command             | fnd                                         | fnd
usage         | a value out of range           | FIND --limit 0                              | --limit '0'
usage         | no city                        | find x                                      | city
no_service    | no service                     | RESTAURANT_BASE_URL= FIND                   | no service
bad_input     | a missing file                 | raw x @none.json                            | none.json: no such file or folder
bad_input     | stdin that is not UTF-8        | lookup -                                    | stdin is not UTF-8
bad_input     | empty stdin instead of JSON    | raw x -                                     | stdin is empty
bad_config    | a variable that is invalid     | RESTAURANT_PROTOCOL=new FIND                | RESTAURANT_PROTOCOL 'new'
bad_config    | a variable that is not a URL   | RESTAURANT_BASE_URL=ftp://localhost:1 FIND  | RESTAURANT_BASE_URL: "ftp://localhost:1"
not_found     | an unknown id                  | lookup UNKNOWN                              | UNKNOWN | {"restaurant_id":"UNKNOWN","retryable":false}
not_found     | an unknown tool                | call nope --demo                            | 'nope'
no_key        | no key                         | RESTAURANT_API_KEY= FIND                    | no API key
bad_key       | text that is not a key         | RESTAURANT_API_KEY=sk_other_1 FIND          | sk_service_
unauthorized  | a revoked key                  | RESTAURANT_API_KEY=REVOKED FIND             | ending in 'oked' | {"status":401,"retryable":false}
forbidden     | a key without permission       | FIND @ 403                                  | (403)
plan_required | fields that need a paid key    | RESTAURANT_API_KEY=FREE LOOKUP --fields premium | premium
rate_limited  | too many requests              | FIND @ 429                                  | 429, wait 1 | {"status":429,"retry_after":1,"retryable":true}
tls           | https to a server that uses http | FIND --base-url https://HOST               | 127.0.0.1 | {"retryable":false}
network       | a closed port                  | RESTAURANT_BASE_URL=http://127.0.0.1:9 FIND | 127.0.0.1:9 | {"retryable":true}
network       | a host that does not exist     | RESTAURANT_BASE_URL=https://no-such-host.invalid FIND | no-such-host.invalid
network       | a connection that breaks       | FIND @ reset                                | 127.0.0.1
network       | a response that is cut off     | FIND @ truncate                             | 127.0.0.1
network       | a stream that is cut off       | FIND @ sse-cut                              | 127.0.0.1
timeout       | no response                    | FIND --timeout 300ms @ hang                 | 300ms
timeout       | a slow response                | FIND --timeout 400ms @ slow                 | 400ms
http_error    | a server error                 | FIND @ 500                                  | HTTP 500 | {"status":500,"retryable":true}
http_error    | an unavailable server          | FIND @ 503                                  | HTTP 503
rpc_error     | a JSON-RPC error               | FIND @ rpc-error                            | -32603 | {"rpc_code":-32603}
tool_error    | a failed tool                  | FIND @ tool-error                           | tool-error
bad_response  | a web page                     | FIND @ html                                 | got a web page
bad_response  | JSON that ends early           | FIND @ bad-json                             | offset
bad_response  | text that is not JSON          | FIND @ bad-text                             | not valid JSON
bad_response  | a response with another id     | FIND @ wrong-id                             | expected a JSON-RPC response
partial       | a list that failed in part     | lookup ID UNKNOWN                           | 1 of 2 lookups failed: not_found (UNKNOWN)
in_use        | a port of another server       | sandbox --port PORT                         | port
io_error      | a missing folder               | FIND -o none/out.csv                        | none/out.csv: the folder
interrupted   | a signal                       | FIND                                        | interrupted by SIGINT
unexpected    | a bug in the program           | FIND                                        | TypeError: no clock
`
  .replaceAll('FIND', FIND)
  .replaceAll('LOOKUP', `lookup ${ID} --retries 0`)
  .replace(/\b(ID|UNKNOWN|REVOKED|FREE)\b/g, (name) => ({ ID, UNKNOWN, REVOKED, FREE })[name] ?? name)
  .trim()
  .split('\n')
  .map((row) => {
    const [code = '', cause = '', line = '', names = '', facts = '{}'] = row
      .split('|')
      .map((cell) => cell.trim());
    const [, variables = '', command = '', fault] = /^((?:\w+=\S* )*)(.*?)(?: @ (\S+))?$/.exec(line) ?? [];
    const env = Object.fromEntries(variables.split(' ').map((variable) => variable.split('=')));
    return {
      code: code as Code,
      cause,
      words: command.split(' '),
      env,
      fault,
      names,
      facts: JSON.parse(facts),
    };
  });

/** Options that a command line cannot express. */
const OPTIONS: Readonly<Record<string, RunOptions>> = {
  'stdin that is not UTF-8': { stdin: new Uint8Array([0xff, 0xfe, 0x41]) },
  'a signal': { signal: AbortSignal.abort(new AppError('interrupted', 'interrupted by SIGINT')) },
  'a bug in the program': {
    now: () => {
      throw new TypeError('no clock');
    },
  },
};

const sandboxes = new Map<string, Promise<Sandbox>>();
afterAll(async () => {
  for (const sandbox of sandboxes.values()) await (await sandbox).close();
});

async function play(scenario: (typeof SCENARIOS)[number], ...more: string[]): Promise<Transcript> {
  const { words, cause, fault } = scenario;
  const env: Record<string, string> = { ...scenario.env };
  if (fault !== undefined) {
    const faulty = sandboxes.get(fault) ?? startSandbox({ perMinute: 0, faults: [parseFault(fault)] });
    sandboxes.set(fault, faulty);
    env.RESTAURANT_BASE_URL = (await faulty).baseUrl;
    env.RESTAURANT_MAX_WAIT = '0';
  }
  const { host, port } = new URL(service.sandbox.baseUrl);
  const line = words.map((word) => word.replace('HOST', host).replace('PORT', port));
  return service.run([...line, ...more], { ...OPTIONS[cause], env, cwd: service.home });
}

describe('an error', () => {
  it.each(SCENARIOS)('from $cause prints two lines, or one line of JSON (code $code)', async (scenario) => {
    const { code, names, facts } = scenario;
    const exit = EXIT_CODES[KIND_OF[code]];
    // Only a list that failed in part has rows before the failure.
    const stdout = code === 'partial' ? expect.stringMatching(/./) : '';
    const asText = await play(scenario);
    expect(asText).toEqual({ exit, stdout, stderr: expect.stringMatching(/^error: .+\nhint: .+\n$/) });
    const [message = '', hint = ''] = asText.stderr.split('\n');
    expect(message).toContain(names);
    // No stack, no dump, no incomplete sentence.
    expect(asText.stderr).not.toMatch(/^\s+at |\[object|undefined|NaN|\bnull\b/m);
    expect(message.length).toBeLessThan(420);
    expect(hint).toMatch(
      /restaurant|--[a-z]|https?:|[A-Z]+_[A-Z]+|ls -l|JSON needs|save it as UTF-8|run the command again/,
    );

    const asJson = await play(scenario, '--json');
    expect(asJson).toEqual({ exit, stdout, stderr: expect.stringMatching(/^\{.*\}\n$/) });
    expectValid(scenario.cause, ERROR, asJson.stderr);
    const { error } = JSON.parse(asJson.stderr);
    expect(error).toMatchObject({ code, ...facts });
    produced.add(error.code);
  });

  it('shows its stack with --verbose only', async () => {
    const bug = OPTIONS['a bug in the program'];
    const { stdout, stderr } = await service.run([...FIND.split(' '), '--verbose'], bug);
    expect(stdout).toBe('');
    expect(stderr).toMatch(/^error: TypeError: no clock$/m);
    expect(stderr).toMatch(/^\s+at /m);
  });
});

describe('the table of codes', () => {
  it('matches help and schema', async () => {
    const { stdout } = await runCli(['help', 'exit-codes']);
    const shown = [...stdout.matchAll(/^ {2}(?:(\d+)(?:, 143)?)? +([a-z_]+) {2,}\S/gm)].map(
      ([, , code]) => code,
    );
    expect(shown).toEqual(Object.keys(KIND_OF));
    const { exit_codes: kinds } = JSON.parse((await runCli(['schema'])).stdout);
    for (const { exit, kind, codes } of kinds) {
      expect(exit).toBe(kind === 'success' ? 0 : EXIT_CODES[kind as keyof typeof EXIT_CODES]);
      for (const { code } of codes) expect(KIND_OF[code as Code]).toBe(kind);
    }
    expect(
      kinds.flatMap(({ codes }: { codes: { code: string }[] }) => codes.map(({ code }) => code)),
    ).toEqual(Object.keys(KIND_OF));
  });

  it('has a hint with an action for every code', () => {
    for (const code of Object.keys(KIND_OF) as Code[]) {
      const hint = hintText(hintFor(new AppError(code, 'x')));
      expect([code, hint]).toEqual([code, expect.stringMatching(/restaurant |--[a-z]|-o|run/)]);
    }
  });

  it('is covered by these tests, except for the quota, which only enrich enforces', () => {
    const missing = Object.keys(KIND_OF).filter((code) => !produced.has(code));
    expect(missing).toEqual(['budget_spent']);
  });
});

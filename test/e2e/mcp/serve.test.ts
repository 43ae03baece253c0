import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults.ts';
import type { JsonObject } from '../../../src/util/json.ts';
import { runCli } from '../../helpers/program.ts';
import { useService } from '../../helpers/service.ts';
import { playWithService } from '../../helpers/session.ts';
import { answerTo, find, lines, messagesIn, request } from '../../unit/mcp/lines.ts';

const errorText = (answer: JsonObject): string => {
  const { isError, content } = answer.result as { isError: boolean; content: { text: string }[] };
  expect(isError).toBe(true);
  return content[0]?.text ?? '';
};

describe.each(['json', 'sse'] as const)('with the plain service that responds in %s', (reply) => {
  const service = useService({ reply });
  playWithService(join(import.meta.dirname, 'serve.session'), service);

  it('sends additional headers to the service', async () => {
    await service.run(['mcp', '-H', 'X-Team: blue'], { stdin: lines(find(1)) });
    expect(service.sandbox.requests.at(-1)?.headers).toMatchObject({ 'x-team': 'blue' });
  });

  it('writes only messages to stdout, even with --verbose', async () => {
    const { stdout, stderr } = await service.run(['mcp', '--verbose'], { stdin: lines(find(1)) });
    expect(messagesIn(stdout)).toHaveLength(1);
    expect(stderr).toContain('tools/call');
    expect(stderr).not.toContain('sk_service_demo_paid');
  });
});

describe('with an MCP server', () => {
  const service = useService({ mode: 'mcp', reply: 'sse' });
  // Requests at the same time each detect the protocol, so that their number changes.
  playWithService(join(import.meta.dirname, 'serve-mcp.session'), service, { sent: () => 0 });

  it('passes on the lifetime that the service sets', async () => {
    const _meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' };
    const stdin = lines(request(1, 'tools/list', { _meta }));
    const { stdout } = await service.run(['mcp', '--protocol', '2026-07-28'], { stdin });
    const { ttlMs, cacheScope } = answerTo(stdout, 1).result as JsonObject;
    expect(cacheScope).toBe('public');
    expect(ttlMs).toBeGreaterThan(3_000_000);
  });
});

describe('limits', () => {
  const limited = useService({ perMinute: 1 });

  it('of the service are a tool error with the time, without a long wait', async () => {
    const { exit, stdout, stderr } = await limited.run(['mcp'], { stdin: lines(find(1), find(2)) });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    const failed = messagesIn(stdout).filter(({ result }) => (result as JsonObject).isError === true);
    expect(failed).toHaveLength(1);
    const [failure = {}] = failed;
    expect(errorText(failure)).toMatch(
      /429, wait \d+ ?s.*\nhint: try again in \d+s; see the quota: restaurant status/s,
    );
    expect((failure.result as JsonObject)._meta).toMatchObject({
      'restaurant/error': {
        code: 'rate_limited',
        retryable: true,
        status: 429,
        retry_after: expect.any(Number),
      },
    });
  });

  const refusing = useService({ faults: [parseFault('429')] });

  it('of the service are waited out once, for at most 15 s', async () => {
    const { stdout } = await refusing.run(['mcp'], { stdin: lines(find(1)) });
    expect(errorText(answerTo(stdout, 1))).toContain('try again in 1s');
    expect(refusing.sent()).toBe(2);
  });

  const free = useService();

  it('of the quota count the requests of the bridge', async () => {
    await free.run(['mcp'], { stdin: lines(find(1), find(2)) });
    const { stdout } = await free.run(['status', '--json']);
    expect(JSON.parse(stdout).budget.per_day.used).toBe(2);
  });
});

describe.each(['500', 'html', 'truncate', 'reset', 'bad-json', 'wrong-id'])('%s', (kind) => {
  const service = useService({ faults: [parseFault(kind)] });

  it('is a tool error with a hint, and the bridge continues', async () => {
    const stdin = lines(find(1), find(2), request(3, 'ping'));
    const { exit, stdout } = await service.run(['mcp', '--retries', '0'], { stdin });
    expect(exit).toBe(0);
    for (const id of [1, 2]) expect(errorText(answerTo(stdout, id))).toMatch(/\nhint: .*restaurant /);
    expect(answerTo(stdout, 3).result).toEqual({});
  });
});

describe('a call that the service does not answer', () => {
  const service = useService({ faults: [parseFault('hang')] });

  it('ends with its cancellation, without a response', async () => {
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    const { exit, stdout } = await service.run(['mcp'], { stdin: lines(find(1), cancel) });
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: '' });
  });

  it('delays the exit for at most five seconds', async () => {
    const waits: number[] = [];
    const { exit, stdout } = await service.run(['mcp'], {
      stdin: lines(find(1)),
      sleep: async (ms) => {
        waits.push(ms);
      },
    });
    expect([exit, waits]).toEqual([0, [5000]]);
    expect(errorText(answerTo(stdout, 1))).toContain('closed');
  });

  it('ends with Ctrl-C', async () => {
    const controller = new AbortController();
    const running = service.run(['mcp'], { stdin: lines(find(1)), signal: controller.signal });
    setTimeout(() => controller.abort(new Error('stop')), 100);
    expect((await running).exit).not.toBe(0);
  });
});

it('explains itself at a terminal', async () => {
  const { stderr } = await runCli(['mcp', '--demo', '--no-color'], { tty: { stdin: true, stderr: true } });
  expect(stderr.replace(/\s+/g, ' ')).toContain('restaurant mcp config');
});

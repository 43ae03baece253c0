import { describe, expect, it, onTestFinished } from 'vitest';
import { found, useScriptedService } from '../helpers/answers.ts';
import { HAS_REDIS, startRedis } from '../helpers/redis.ts';
import { freePort, rawServer } from '../helpers/servers.ts';
import { useProgram } from './support.ts';

const service = useScriptedService(found({ service_id: 'r-1', name: 'Nopa' }));
const { run } = useProgram(() => service.url);
const FIND = ['find', 'Nopa', '--city', 'SF', '--json'];
const envFor = (url: string) => ({
  RESTAURANT_SHARED_STATE: url,
  RESTAURANT_MAX_AGE: '10m',
  RESTAURANT_MAX_WAIT: '1s',
});

/** Starts a server that replies to each script with these bytes. @returns its URL */
async function storeThatReplies(bytes: string): Promise<string> {
  const server = await rawServer((socket) =>
    socket.on('data', (data) => {
      const commands = data.toString().split('*').slice(1);
      for (const command of commands) socket.write(/\r\nEVAL\r\n/.test(command) ? bytes : '+OK\r\n');
    }),
  );
  onTestFinished(server.close);
  return `redis://127.0.0.1:${server.port}`;
}

describe('a store whose replies make no sense', () => {
  it.each([
    ['a status', '+OK\r\n'],
    ['a number', ':1\r\n'],
    ['null', '$-1\r\n'],
    ['an empty list', '*0\r\n'],
    ['a list of null', '*7\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n$-1\r\n'],
    ['huge times', `*7\r\n${':9007199254740993\r\n'.repeat(7)}`],
    ['a response of null', '*2\r\n:1\r\n$-1\r\n'],
    ['nothing', ''],
    ['another protocol', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ])('ends a run with exit 6 before a request: %s', async (_name, reply) => {
    const env = envFor(await storeThatReplies(reply));
    const { stderr, ms } = await run(FIND, { env, exit: 6 });
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'network' });
    expect(service.asked).toEqual([]);
    expect(ms).toBeLessThan(20_000);
    const status = await run(['status', '--json'], { env, exit: 0 });
    expect(JSON.parse(status.stdout).budget.problem).toContain('cannot use the shared state');
  });
});

describe.skipIf(!HAS_REDIS)('a store that others can write to (needs redis-server)', () => {
  it('holds no value that ends a run or is taken for a response', async () => {
    const redis = await startRedis({ port: await freePort() });
    const env = envFor(redis.url);
    const { stdout } = await run(FIND, { env, exit: 0 });
    const key = /restaurant:\S+:response:\S+/.exec(await redis.send('KEYS *'))?.[0];
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    const values = ['{{{', deep, '""', 'null', '0', '{"status":"ok","results":[],"total_matches":0}'];
    const texts = values.flatMap((value) => [
      `${Date.now()} ${value}`,
      `${Date.now()} ${'0'.repeat(64)} ${value}`,
    ]);
    for (const [index, text] of [...texts, '', 'x', `${'9'.repeat(400)} {}`].entries()) {
      await redis.send(`SET ${key} '${text.replaceAll("'", '')}'`);
      expect((await run(FIND, { env, exit: 0 })).stdout).toBe(stdout);
      expect(service.asked).toHaveLength(index + 2);
    }
    await redis.send(`DEL ${key}`);
    await redis.send(`LPUSH ${key} x`);
    expect((await run(FIND, { env, exit: 0 })).stdout).toBe(stdout);
    // A response that was stored is used again.
    const requests = service.asked.length;
    await run(FIND, { env, exit: 0 });
    expect(service.asked).toHaveLength(requests);
  });

  it.each(['99999999999999999', 'x', '1e400', '-1'])('holds no pause that ends a run: %s', async (pause) => {
    const redis = await startRedis({ port: await freePort() });
    const env = envFor(redis.url);
    await run(FIND, { env, exit: 0 });
    const prefix = /restaurant:\{[0-9a-f]+\}/.exec(await redis.send('KEYS *'))?.[0];
    await redis.send(`SET ${prefix}:pause ${pause}`);
    await run(['find', 'Other', '--city', 'SF', '--fields', 'standard', '--json'], { env });
    await run(['status'], { env, exit: 0 });
  });

  it('that is full still gives cached responses', async () => {
    const redis = await startRedis({ port: await freePort() });
    const env = envFor(redis.url);
    const { stdout } = await run(FIND, { env, exit: 0 });
    await redis.send('CONFIG SET maxmemory 1');
    expect((await run(FIND, { env, exit: 0 })).stdout).toBe(stdout);
    expect(service.asked).toHaveLength(1);
    const { stderr } = await run(['find', 'Other', '--city', 'SF'], { env, exit: 0 });
    expect(stderr).toMatch(/^warning: the shared state at \S+ is full: it stores no more responses\n$/);
    expect(service.asked).toHaveLength(2);
  });
});

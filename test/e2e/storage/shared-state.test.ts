import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/server.ts';
import { openSharedState, type SharedState } from '../../../src/shared-state/shared-state.ts';
import type { Ledger } from '../../../src/storage/ledger.ts';
import { sha256Hex } from '../../../src/util/sha256.ts';
import { UNTRUSTED } from '../../helpers/certificate.ts';
import { TestFolder } from '../../helpers/files.ts';
import { fewOrAll } from '../../helpers/full.ts';
import { restaurant, startRestaurant } from '../../helpers/process.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { HAS_REDIS, startRedis, type TestRedis } from '../../helpers/redis.ts';
import { freePort } from '../../helpers/servers.ts';
import { PAID } from '../../helpers/service.ts';

const ENDPOINT = 'https://x.example/api/mcp';
const KEY = 'sk_service_secret_0123456789';
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** The ledger of a machine. A limit of 0 is none. */
const ledgerOf = (shared: SharedState, perMinute: number, perDay: number) =>
  shared.ledger(ENDPOINT, KEY, { perMinute, perDay });

/** Requests grants, one after another. */
async function grantsOf(ledger: Ledger, tries: number): Promise<boolean[]> {
  const grants: boolean[] = [];
  while (grants.length < tries) grants.push((await ledger.grant()).granted);
  return grants;
}

const redisOnPort = async (): Promise<TestRedis> => startRedis({ port: await freePort() });

/** The shared state as seen by another machine with a clock that is wrong by `offMs`. */
function machine(url: string, { offMs = 0, maxWaitMs = 10_000 } = {}): SharedState & { warnings: string[] } {
  const warnings: string[] = [];
  const shared = openSharedState({
    url: new URL(url),
    maxWaitMs,
    warn: (message) => warnings.push(message),
    context: {
      now: () => Date.now() + offMs,
      sleep: (ms) => pause(ms),
      signal: new AbortController().signal,
    },
  });
  onTestFinished(() => shared.close());
  return { ...shared, warnings };
}

/** Starts a sandbox; returns it with the environment of a process that uses it and the shared state. */
async function serviceWith(redis: { url: string }, options: SandboxOptions = {}) {
  const sandbox = await startSandbox({ perMinute: 0, perDay: 0, ...options });
  onTestFinished(() => sandbox.close());
  const env = () => ({
    ...newHome().env,
    RESTAURANT_BASE_URL: sandbox.baseUrl,
    RESTAURANT_API_KEY: PAID,
    RESTAURANT_SHARED_STATE: redis.url,
  });
  return { sandbox, env };
}

describe.skipIf(!HAS_REDIS)('the shared state (needs redis-server)', () => {
  it('grants exactly the limit to machines with different clocks, and returns when the next is allowed', async () => {
    const { url } = await redisOnPort();
    const ledgers = [0, 3_600_000, -86_400_000].map((offMs) => ({
      offMs,
      ledger: ledgerOf(machine(url, { offMs }), 50, 60),
    }));
    const grants = await Promise.all(
      Array.from({ length: 120 }, (_, i) => ledgers[i % 3]?.ledger.grant().then(({ granted }) => granted)),
    );
    expect(grants.filter((granted) => granted)).toHaveLength(50);
    for (const { ledger, offMs } of ledgers) {
      const denied = await ledger.grant();
      expect(denied).toMatchObject({ granted: false, window: 'minute' });
      const left = 'freeAt' in denied ? denied.freeAt - (Date.now() + offMs) : 0;
      expect([left > 50_000, left <= 62_000]).toEqual([true, true]);
      expect((await ledger.usage()).perDay.used).toBe(50);
    }
    const more = ledgerOf(machine(url), 0, 60);
    for (let i = 0; i < 8; i += 1) await more.record();
    const last = await Promise.all(Array.from({ length: 9 }, () => more.grant()));
    expect(last.filter(({ granted }) => granted)).toHaveLength(2);
    expect(await more.grant()).toMatchObject({ granted: false, window: 'day' });
  });

  it('pauses all machines, and separates keys and endpoints', async () => {
    const { url } = await redisOnPort();
    const [one, two] = [machine(url), machine(url, { offMs: 5000 })];
    const limits = { perMinute: 0, perDay: 0 };
    await ledgerOf(one, 0, 0).pauseUntil(Date.now() + 30_000);
    await ledgerOf(one, 0, 0).pauseUntil(Date.now() + 1000);
    const denied = await ledgerOf(two, 0, 0).grant();
    expect(denied).toMatchObject({ granted: false, window: 'pause' });
    expect('freeAt' in denied && Math.abs(denied.freeAt - Date.now() - 35_000)).toBeLessThan(4000);
    expect(await two.ledger(ENDPOINT, `${KEY}b`, limits).grant()).toMatchObject({ granted: true });
    expect(await two.ledger('https://y.example/', KEY, limits).grant()).toMatchObject({ granted: true });
  });

  it('takes back requests that did not reach the service', async () => {
    const { url } = await redisOnPort();
    const [one, other] = [ledgerOf(machine(url), 3, 3), ledgerOf(machine(url), 3, 3)];
    await other.record();
    const [recorded, granted] = [await one.record(), await one.grant()];
    expect(await grantsOf(one, 1)).toEqual([false]);
    await recorded();
    if (granted.granted) await granted.takeBack();
    expect((await other.usage()).perDay.used).toBe(1);
  });

  it('never contains the API key or the endpoint, and all its keys expire', async () => {
    const redis = await redisOnPort();
    const shared = machine(redis.url);
    await ledgerOf(shared, 1, 1).grant();
    await ledgerOf(shared, 1, 1).pauseUntil(Date.now() + 5000);
    const cache = shared.cache(ENDPOINT, KEY);
    await cache.get('t', { name: 'Nopa' }, 1000);
    await cache.put('t', { name: 'Nopa' }, '{"total_matches":1}');
    const names = (await redis.send('KEYS *')).split('\r\n').filter((line) => line.startsWith('restaurant'));
    expect(names).toHaveLength(3);
    for (const name of names) {
      expect(Number((await redis.send(`PTTL ${name}`)).slice(1))).toBeGreaterThan(0);
      expect(name).not.toContain(sha256Hex(KEY));
    }
    expect(names.join()).not.toMatch(/sk_service|example/);
  });

  it('continues after a restart of Redis with the same count, and waits for the network', async () => {
    const redis = await redisOnPort();
    const shared = machine(redis.url);
    const ledger = ledgerOf(shared, 0, 5);
    expect(await grantsOf(ledger, 2)).toEqual([true, true]);
    await redis.stop();
    const waiting = grantsOf(ledger, 1);
    await pause(400);
    await redis.start();
    expect(await waiting).toEqual([true]);
    expect(shared.warnings).toHaveLength(1);
    // A grant that arrives 2 s late is not used.
    await redis.send('CLIENT PAUSE 2000 ALL');
    const late = await ledger.grant();
    expect(late.granted && late.usableUntil).toBeLessThan(Date.now());
    if (late.granted) await late.takeBack();
    expect((await ledger.usage()).perDay.used).toBe(3);
    expect(await grantsOf(ledger, 3)).toEqual([true, true, false]);
  });

  it('fails after the maximum wait, and at once when it was never reached', async () => {
    const redis = await redisOnPort();
    const shared = machine(redis.url, { maxWaitMs: 600 });
    const ledger = ledgerOf(shared, 5, 5);
    await ledger.record();
    await redis.stop();
    const start = Date.now();
    await expect(ledger.grant()).rejects.toMatchObject({ code: 'network' });
    expect(Date.now() - start).toBeGreaterThanOrEqual(600);
    const fresh = ledgerOf(machine(redis.url), 5, 5);
    await expect(fresh.grant()).rejects.toThrow(
      /^cannot use the shared state at 127\.0\.0\.1:\d+: connect ECONNREFUSED/,
    );
  });

  it('works through a Unix socket', async () => {
    const { url } = await startRedis({ socket: new TestFolder().at('r.sock') });
    expect(await grantsOf(ledgerOf(machine(url), 1, 0), 2)).toEqual([true, false]);
  });

  it('works over TLS, and always verifies the certificate', async () => {
    const [port, tlsPort, folder] = [await freePort(), await freePort(), new TestFolder()];
    const cert = folder.write('cert.pem', UNTRUSTED.cert);
    const key = folder.write('key.pem', UNTRUSTED.key);
    const files = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no'];
    await startRedis({ port }, '--tls-port', `${tlsPort}`, ...files);
    const { sandbox, env } = await serviceWith({ url: `rediss://localhost:${tlsPort}` });
    const find = (own: Record<string, string>) =>
      restaurant(['find', 'Nopa', '--city', 'SF', '--json'], { env: { ...env(), ...own } });

    for (const verify of ['', '0']) {
      const off = { NODE_EXTRA_CA_CERTS: '', NODE_TLS_REJECT_UNAUTHORIZED: verify };
      const { exit, stderr } = await find(off);
      expect([exit, sandbox.requests.length]).toEqual([6, 0]);
      expect(JSON.parse(stderr).error).toMatchObject({
        code: 'tls',
        message: `the certificate of the shared state at localhost:${tlsPort} is not signed by an authority that this machine trusts`,
        hint: 'for a private CA: NODE_EXTRA_CA_CERTS=ca.pem restaurant status --check',
      });
    }

    const trusting = await find({ NODE_EXTRA_CA_CERTS: cert });
    expect([trusting.exit, trusting.stderr, sandbox.requests.length]).toEqual([0, '', 1]);
    // The second machine finds the response in the store.
    expect(await find({ NODE_EXTRA_CA_CERTS: cert })).toEqual(trusting);
    expect(sandbox.requests).toHaveLength(1);
  });

  it('requires the password of the server', async () => {
    const redis = await redisOnPort();
    await redis.send('CONFIG SET requirepass geheim-geheim');
    const ledgerAt = (url: string) => ledgerOf(machine(url), 1, 0);
    await expect(ledgerAt(redis.url).grant()).rejects.toMatchObject({ code: 'network' });
    const withPassword = redis.url.replace('//', '//:geheim-geheim@');
    expect(await grantsOf(ledgerAt(withPassword), 1)).toEqual([true]);
    const { env } = await serviceWith({ url: withPassword });
    const status = await runCli(['status', '--json'], { env: env() });
    expect(status.stdout).toContain('redis://…@127.0.0.1');
    expect(status.stdout + status.stderr).not.toContain('geheim');
  });

  it('sends equal queries of different machines once', async () => {
    const redis = await redisOnPort();
    const { sandbox, env } = await serviceWith(redis, { latencyMs: 500 });
    const find = () => restaurant(['find', 'Nopa', '--city', 'SF', '--json'], { env: env() });
    const results = await Promise.all([find(), find(), find(), find()]);
    expect(new Set(results.map(({ exit, stdout }) => `${exit} ${stdout}`)).size).toBe(1);
    expect((await find()).stdout).toBe(results[0]?.stdout);
    expect(sandbox.requests).toHaveLength(1);
  });

  it('lets another machine send a query after its request failed', async () => {
    const { url } = await redisOnPort();
    const [one, two] = [machine(url).cache(ENDPOINT, KEY), machine(url).cache(ENDPOINT, KEY)];
    expect(await one.get('t', {}, 1000)).toBeUndefined();
    const other = two.get('t', {}, 1000);
    await pause(300);
    await one.release('t', {});
    expect(await other).toBeUndefined();
    await two.put('t', {}, '[12345678901234567890]');
    expect((await one.get('t', {}, 1000))?.text).toBe('[12345678901234567890]');
  });

  it('keeps a query for the process that sends it, and soon frees it after that was killed', async () => {
    const redis = await redisOnPort();
    const one = machine(redis.url);
    await one.cache(ENDPOINT, KEY).get('t', {}, 1000);
    const claim = /restaurant:\S+:claim:\S+/.exec(await redis.send('KEYS *'))?.[0];
    const left = async () => Number((await redis.send(`PTTL ${claim}`)).slice(1));
    const longest = await left();
    expect([longest > 0, longest <= 6000]).toEqual([true, true]);

    await redis.send(`PEXPIRE ${claim} 5000`);
    let isWaiting = true;
    const other = (async () => {
      await machine(redis.url).cache(ENDPOINT, KEY).get('t', {}, 1000);
      isWaiting = false;
    })();
    await vi.waitFor(async () => expect(await left()).toBeGreaterThan(5000), { timeout: 20_000 });
    expect(isWaiting).toBe(true);

    // A closed process sends nothing any more, as one that was killed.
    one.close();
    // Longer than until the next renewal.
    await redis.send(`PEXPIRE ${claim} 2500`);
    const killedAt = Date.now();
    await other;
    expect(Date.now() - killedAt).toBeLessThan(20_000);
  });

  it('stops enrich with a command to continue when it cannot be reached, and nothing is lost', async () => {
    const redis = await redisOnPort();
    const { sandbox, env } = await serviceWith(redis, { latencyMs: 100 });
    const own = { ...env(), RESTAURANT_MAX_WAIT: '500ms' };
    const run = enrich('list', own, 30);
    while (sandbox.requests.length < 10) await pause(20);
    await redis.stop();
    const { exit, stderr } = await run.ended;
    expect([exit, stderr]).toEqual([6, expect.stringContaining('restaurant enrich ')]);
    const sent = sandbox.requests.length;
    const resume = () => restaurant(run.words, { env: own });
    expect([(await resume()).exit, sandbox.requests.length]).toEqual([6, sent]);
    await redis.start();
    expect((await resume()).exit).toBe(0);
    expect(run.rows()).toHaveLength(31);
  });
});

/** Starts `enrich` with a unique list of names. */
function enrich(name: string, env: Record<string, string>, rows: number, ...more: readonly string[]) {
  const folder = new TestFolder();
  const names = Array.from({ length: rows }, (_, i) => `Nopa ${name} ${i},SF\n`);
  const list = folder.write('list.csv', `name,city\n${names.join('')}`);
  const words = ['enrich', list, '-o', folder.at('out.csv'), ...more];
  const run = startRestaurant(words, { env, timeout: 230_000 });
  onTestFinished(() => void run.process.kill('SIGKILL'));
  return { ...run, words, rows: () => folder.read('out.csv').trim().split('\n') };
}

const PER_MINUTE = 120;
const PROCESSES = fewOrAll(6, 16);
/** With all cases, a run takes more than a minute. */
const PER_DAY = fewOrAll(100, 150);

/**
 * Checks that no minute has more requests than the quota, and no day, and that the service refused none. The minute is
 * 10 s shorter here, for a busy machine.
 */
function expectWithinQuota({ requests }: Sandbox): void {
  expect(requests.filter(({ status }) => status !== 200)).toEqual([]);
  const times = requests.map(({ time }) => time).sort((one, other) => one - other);
  const spans = times.slice(PER_MINUTE).map((time, index) => time - (times[index] ?? 0));
  expect(Math.min(...spans)).toBeGreaterThan(50_000);
  expect(requests.length).toBeLessThanOrEqual(PER_DAY);
}

describe.skipIf(!HAS_REDIS)('two groups of processes with one key (needs redis-server)', () => {
  const groups = (env: () => Record<string, string>) => {
    const homes = [env(), env()];
    const quota = ['--per-minute', `${PER_MINUTE}`, '--per-day', `${PER_DAY}`];
    return Array.from({ length: PROCESSES }, (_, i) => enrich(`p${i}`, homes[i % 2] ?? {}, 40, ...quota));
  };

  it('never exceed the quota of a minute and spend exactly the quota of the day', async () => {
    const redis = await redisOnPort();
    const { sandbox, env } = await serviceWith(redis);
    const ends = await Promise.all(groups(env).map(({ ended }) => ended));
    expectWithinQuota(sandbox);
    expect(sandbox.requests).toHaveLength(PER_DAY);
    // A fast process may finish its list; the others stop with the command that goes on.
    const stopped = ends.filter(({ exit }) => exit !== 0);
    expect(stopped.length).toBeGreaterThan(0);
    for (const { exit, stderr } of stopped)
      expect([exit, stderr]).toEqual([5, expect.stringContaining('restaurant enrich ')]);
  }, 240_000);

  it('never exceed a quota when Redis restarts, the network pauses and half of them are killed', async () => {
    const redis = await redisOnPort();
    const { sandbox, env } = await serviceWith(redis, { latencyMs: 1500 });
    const runs = groups(env);
    const reached = async (count: number) => {
      while (sandbox.requests.length < count) await pause(50);
    };
    await reached(20);
    await redis.send('CLIENT PAUSE 2000 ALL');
    await reached(50);
    // A process that has never reached the store does not wait for it.
    const clients = async () => (await redis.send('CLIENT LIST')).match(/^id=/gm)?.length;
    await vi.waitFor(async () => expect(await clients()).toBeGreaterThan(runs.length), { timeout: 60_000 });
    await redis.stop();
    await pause(1000);
    await redis.start();
    await reached(80);
    for (const run of runs.slice(0, PROCESSES / 2)) run.process.kill('SIGKILL');
    const ends = await Promise.all(runs.slice(PROCESSES / 2).map(({ ended }) => ended));
    expectWithinQuota(sandbox);
    // Only requests granted to killed processes may be missing.
    expect(sandbox.requests.length).toBeGreaterThan(PER_DAY - 40);
    for (const { exit } of ends) expect(exit).toBe(5);
  }, 240_000);
});

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { useScriptedService } from '../helpers/answers.ts';
import { UNTRUSTED } from '../helpers/certificate.ts';
import { runCli } from '../helpers/program.ts';
import { httpServer, onEachRequest, rawServer } from '../helpers/servers.ts';
import { KEY, restaurants, sharedFolder, useProgram } from './support.ts';

const { run } = useProgram();
const service = useScriptedService(restaurants({ service_id: 'r-1', name: 'Nopa' }));
const FIND = ['find', 'Nopa', '--city', 'SF'];
const NO_KEY = { RESTAURANT_API_KEY: undefined };
let home = '';
const inHome = (more: Record<string, string | undefined> = {}) => ({
  HOME: home,
  RESTAURANT_BASE_URL: service.url,
  ...more,
});
beforeEach(() => {
  home = sharedFolder();
});

/** Returns the files below the home folder that contain the key. */
function filesWithKey(): string[] {
  const files = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(home, name)).isFile(),
  );
  return files.filter((name) => readFileSync(join(home, name), 'latin1').includes(KEY));
}

describe('a key', () => {
  it.each([
    ['login', KEY],
    ['config', 'set', 'key', KEY],
    ['find', KEY, '--city', 'SF'],
    ['find', 'x', '--city', 'SF', '--profile', KEY],
    ['find', 'x', '--city', 'SF', '--base-url', `http://user:${KEY}@127.0.0.1:9`],
    ['raw', 'x', '-H', `Authorization: Bearer ${KEY}`],
  ])('in the arguments of %s %s is rejected or masked, and not stored', async (...words) => {
    await run(words, { env: inHome({ CI: 'true' }) });
    expect(filesWithKey()).toEqual([]);
  });

  it('from the environment is not in any file or page', async () => {
    const env = inHome({ RESTAURANT_MAX_AGE: '10m' });
    for (const more of [[], ['--json'], ['--verbose'], ['-o', 'out.html'], ['-o', 'out.csv']]) {
      await run([...FIND, ...more], { env, cwd: home, exit: 0 });
    }
    expect(filesWithKey()).toEqual([]);
  });

  it.each([
    ['another host', 'https://evil.example'],
    ['a host that contains the first', 'http://127.0.0.1.evil.example'],
    ['plain http', 'http://api.example'],
    ['a host with a final dot', 'http://localhost.:9'],
    ['all interfaces', 'http://0.0.0.0:9'],
    ['a mapped address', 'http://[::ffff:127.0.0.2]:9'],
    ['user info', 'http://127.0.0.1@evil.example'],
    ['a backslash', 'http://127.0.0.1\\@evil.example'],
    ['a percent-encoded zero', 'http://127.0.0.1%00.evil.example'],
  ])('that is saved is not sent to %s', async (_name, url) => {
    const saved = ['login', '--key-stdin', '--no-verify', '--base-url', 'https://api.example'];
    await run(saved, { env: { HOME: home, ...NO_KEY }, stdin: KEY, exit: 0 });
    const { exit } = await run([...FIND, '--base-url', url], { env: { HOME: home, ...NO_KEY } });
    expect([2, 4]).toContain(exit);
  });

  it('that is saved without a service is bound to the first one that accepts it', async () => {
    await run(['login', '--key-stdin', '--no-verify'], { env: { HOME: home, ...NO_KEY }, stdin: KEY });
    const first = await run([...FIND, '--base-url', service.url], { env: { HOME: home, ...NO_KEY } });
    const requests = service.asked.length;
    const words = [...FIND, '--base-url', 'https://evil.example', '--timeout', '5s'];
    const { exit, stderr } = await run(words, { env: { HOME: home, ...NO_KEY } });
    // The key is either not saved or bound to a service.
    if (first.exit === 0) expect(stderr).toContain(new URL(service.url).host);
    expect([2, 4]).toContain(exit);
    expect(service.asked.length).toBe(requests);
  });

  it('of a key command that is saved without a service is bound to the first one that accepts it', async () => {
    const env = { HOME: home, ...NO_KEY };
    await run(['config', 'set', 'key-command', `printf ${KEY}`], { env, exit: 0 });
    await run([...FIND, '--base-url', service.url], { env, exit: 0 });
    const { stderr } = await run([...FIND, '--endpoint', 'https://evil.example'], { env, exit: 4 });
    expect(stderr).toContain(`belongs to ${service.url}`);
    await run([...FIND, '--base-url', service.url], { env, exit: 0 });
    await run(['config', 'set', 'key-command', `printf  ${KEY}`], { env, exit: 0 });
    const config = JSON.parse(readFileSync(join(home, '.config/restaurant/config.json'), 'utf8'));
    expect(config.profiles.default).not.toHaveProperty('key_origin');
  });

  it('counts when its command ends, even if a process that it started holds stdout open', async () => {
    const words = ['config', 'set', 'key-command', `sh -c "sleep 30 & echo ${KEY}"`];
    const env = inHome(NO_KEY);
    await run(words, { env, exit: 0 });
    expect((await run(FIND, { env, exit: 0 })).ms).toBeLessThan(20_000);
  });

  it('is not sent to a server with an untrusted certificate, despite NODE_TLS_REJECT_UNAUTHORIZED', async () => {
    const keys: unknown[] = [];
    const server = await rawServer(
      (socket) => onEachRequest(socket, ({ head }) => keys.push(/^authorization:.*/im.exec(head)?.[0])),
      { tls: UNTRUSTED },
    );
    onTestFinished(server.close);
    const url = `https://localhost:${server.port}`;
    for (const value of ['0', '1']) {
      const env = { HOME: home, RESTAURANT_BASE_URL: url, NODE_TLS_REJECT_UNAUTHORIZED: value };
      expect((await run(FIND, { env })).exit).toBe(6);
      const { stderr } = await run([...FIND, '--json'], { env, exit: 6 });
      expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'tls' } });
    }
    expect(keys).toEqual([]);
  });

  it('is not sent to a proxy', async () => {
    const proxy = await httpServer((_, response) => response.writeHead(502).end());
    onTestFinished(proxy.close);
    for (const url of ['https://api.example', 'http://api.example']) {
      const env = {
        HOME: home,
        RESTAURANT_BASE_URL: url,
        HTTPS_PROXY: proxy.origin,
        HTTP_PROXY: proxy.origin,
      };
      await run(FIND, { env });
      await run([...FIND, '--insecure-http'], { env });
    }
    expect(JSON.stringify(proxy.requests)).not.toContain(KEY);
  });

  it.each([
    ['a blank inside', 'sk_service_a b'],
    ['an escape', 'sk_service_\u001b[2J'],
    ['a letter outside ASCII', 'sk_service_é'],
    ['quotes', 'sk_service_"'],
    ['Bearer in front', `Bearer ${KEY}`],
    ['nothing but the prefix', 'sk_service_'],
    ['too few characters', 'sk_service_1234567'],
    ['nothing', ''],
  ])('with %s is rejected at login, and never shown', async (_name, key) => {
    const words = ['login', '--key-stdin', '--base-url', service.url, '--no-verify'];
    const { stdout, stderr } = await run(words, { env: { HOME: home, ...NO_KEY }, stdin: key, exit: 4 });
    if (key.length > 'sk_service_'.length) expect(stdout + stderr).not.toContain(key);
  });

  it('is masked in a large response in time, with 1,000 saved profiles', async () => {
    const profiles = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [
        `p${index}`,
        { key: `sk_service_other_key_${index}_0123` },
      ]),
    );
    const folder = join(home, '.config/restaurant');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
    service.answer(
      restaurants({ service_id: 'r-1', name: 'Nopa', note: 'lorem % \\u00e9 ipsum '.repeat(200_000) }),
    );
    const env = inHome();
    const { ms } = await run([...FIND, '--json'], { env, exit: 0 });
    expect(ms).toBeLessThan(10_000);
  });

  it.each([8_200, 15_000])('in a header of %i characters is masked', async (length) => {
    const secret = 'pWVtqXzkv'.repeat(length).slice(0, length);
    const text = `${secret} ${secret.replaceAll('p', '\\u0070')}`;
    service.answer((_, response) => response.writeHead(500).end(text));
    const env = inHome();
    for (const more of [[], ['--json'], ['--verbose']]) {
      const { stdout, stderr } = await run([...FIND, '-H', `X-Auth-Token: ${secret}`, ...more], {
        env,
        exit: 7,
      });
      expect(stdout + stderr).not.toContain(secret.slice(0, 40));
    }
  });

  it.each(['/dev/zero', '/proc/self/mem', '/'])('file that is %s is rejected', async (path) => {
    const words = ['login', '--key-file', path, '--base-url', service.url, '--no-verify'];
    const { exit } = await run(words, { env: { HOME: home, ...NO_KEY } });
    expect([2, 9]).toContain(exit);
  });

  it.each([
    ['X-A: b\r\nX-B: c'],
    ['Authorization: Bearer x'],
    ['Host: evil.example'],
    ['__proto__: y'],
    ['constructor: y'],
  ])('is sent unchanged with the header %j', async (header) => {
    await run(['raw', 'x', '-H', header], { env: inHome() });
    for (const { headers } of service.asked) {
      expect(headers.authorization).toBe(`Bearer ${KEY}`);
      expect(headers.host).toBe(new URL(service.url).host);
      expect(headers).not.toHaveProperty('x-b');
    }
  });

  it('in a file that an argument names is masked in the output', async () => {
    writeFileSync(join(home, 'note'), `the key is ${KEY}`);
    const words = ['call', 'x', 'note=@note', '--dry-run'];
    await run(words, { env: inHome(), cwd: home });
  });

  it('in a config file that is a folder is rejected without blocking', async () => {
    mkdirSync(join(home, '.config/restaurant/config.json'), { recursive: true, mode: 0o700 });
    const env = inHome();
    await run(FIND, { env });
    await run(['config', 'set', 'city', 'SF'], { env });
  });
});

it('in a saved header is not printed, and config get says where it is', async () => {
  const env = { HOME: home, RESTAURANT_BASE_URL: undefined, ...NO_KEY };
  await runCli(['config', 'set', 'base-url', 'https://api.example'], { env });
  await runCli(['config', 'set', 'header.X-Token', KEY], { env });
  const { exit, stdout, stderr } = await runCli(['config', 'get', 'header.X-Token'], { env });
  expect([exit, stdout]).toEqual([0, '…\n']);
  expect(stderr).toMatch(/^warning: header\.X-Token is secret: its value is in \S+config\.json\n$/);
});

it('in a file for the sandbox is not quoted in an error', async () => {
  writeFileSync(join(home, 'data.json'), KEY);
  const { exit, stderr } = await runCli(['sandbox', '--data', 'data.json'], {
    env: { HOME: home },
    cwd: home,
  });
  expect([exit, stderr]).toEqual([2, expect.stringContaining('data.json: the data is not JSON')]);
  expect(stderr).not.toContain(KEY.slice(0, 5));
});

describe('a password in a URL', () => {
  const FOR = { RESTAURANT_BASE_URL: 'http://127.0.0.1:9', RESTAURANT_RETRIES: '0', RESTAURANT_API_KEY: KEY };
  const USERS = [
    'user:s3cr3t@127.0.0.1:9',
    'user:pa/s3cr3t@127.0.0.1:9',
    'user:p@s3cr3t@127.0.0.1:9',
    's3cr3t@127.0.0.1:9',
  ];
  const urls = (...schemes: readonly string[]) =>
    schemes.flatMap((scheme) => [
      ...USERS.map((user) => `${scheme}${user}`),
      `${scheme}127.0.0.1:9?password=s3cr3t`,
    ]);
  const commands = (url: string): readonly (readonly string[])[] => [
    [...FIND, '--base-url', url],
    [...FIND, `--endpoint=${url}`, '--sort', 'foo'],
    ['lookup', 'r-1', '--base-url', url, '--json'],
    ['login', '--base-url', url, '--key-stdin'],
    ['status', '--base-url', url],
    ['config', 'set', 'base-url', url],
    ['config', 'set', 'endpoint', url, '--json'],
    ['config', 'profiles'],
  ];
  const storeCommands = (url: string): readonly (readonly string[])[] => [
    [...FIND, '--shared-state', url, '--max-wait', '0'],
    ['enrich', 'missing.csv', '--city', 'SF', '--shared-state', url],
    ['config', 'set', 'shared-state', url],
    ['config', 'list'],
    ['config', 'get', 'shared-state', '--json'],
  ];

  it.each([
    ...urls('', 'http://', 'https:').map((url) => [url, commands] as const),
    ...urls('', 'redis://', 'rediss://').map((url) => [url, storeCommands] as const),
  ])('is not printed: %s', async (url, commandsWith) => {
    for (const words of commandsWith(url)) {
      const { stdout, stderr } = await runCli(words, { env: { HOME: home, ...FOR }, stdin: KEY });
      expect(stdout + stderr).not.toContain('s3cr3t');
    }
    const env = { HOME: home, ...FOR, RESTAURANT_SHARED_STATE: url };
    for (const words of [FIND, ['status'], ['config', 'list', '--json']]) {
      const { stdout, stderr } = await runCli([...words, '--verbose'], { env });
      expect(stdout + stderr).not.toContain('s3cr3t');
    }
  });
});

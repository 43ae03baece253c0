import { describe, expect, it } from 'vitest';
import { found, useScriptedService } from '../helpers/answers.ts';
import { KEY, useProgram } from './support.ts';

const service = useScriptedService(found({ service_id: 'r-1', name: 'Nopa' }));
const { run, home } = useProgram(() => service.url, false);
const FIND = ['find', 'Nopa', '--city', 'SF'];
const CONFIG = '.config/restaurant/config.json';
type Env = Record<string, string | undefined>;
const WITHOUT_KEY = { RESTAURANT_API_KEY: undefined };
/** Neither a key nor a service. */
const BARE = { ...WITHOUT_KEY, RESTAURANT_BASE_URL: undefined };

// `run` checks that the key is never printed.
describe('a key', () => {
  it('that is saved is sent neither over plain HTTP nor to a host that resembles another', async () => {
    const login = ['login', '--key-stdin', '--no-verify', '--base-url', 'https://api.example'];
    await run(login, { env: BARE, stdin: KEY, exit: 0 });
    for (const host of [
      'api.example',
      '127.0.0.1.evil.example',
      'localhost.:9',
      '0.0.0.0:9',
      '[::ffff:127.0.0.2]:9',
      '127.0.0.1@evil.example',
      '127.0.0.1\\@evil.example',
      '127.0.0.1%00.evil.example',
    ]) {
      const { exit } = await run([...FIND, '--base-url', `http://${host}`], { env: BARE });
      expect([host, [2, 4].includes(exit ?? 0)]).toEqual([host, true]);
    }
  });

  it('of a key command is bound to the first service that accepts it, until the command changes', async () => {
    await run(['config', 'set', 'key-command', `printf ${KEY}`], { env: BARE, exit: 0 });
    await run([...FIND, '--base-url', service.url], { env: BARE, exit: 0 });
    const { stderr } = await run([...FIND, '--endpoint', 'https://evil.example'], { env: BARE, exit: 4 });
    expect(stderr).toContain(`belongs to ${service.url}`);
    await run([...FIND, '--base-url', service.url], { env: BARE, exit: 0 });
    await run(['config', 'set', 'key-command', `printf  ${KEY}`], { env: BARE, exit: 0 });
    const config = JSON.parse(home.read(CONFIG));
    expect(config.profiles.default).not.toHaveProperty('key_origin');
  });

  it('counts when its command ends, even if a process that it started holds stdout open', async () => {
    const env = WITHOUT_KEY;
    const command = `sh -c "sleep 30 & echo ${KEY}"`;
    await run(['config', 'set', 'key-command', command], { env, exit: 0 });
    expect((await run(FIND, { env, exit: 0 })).ms).toBeLessThan(20_000);
  });

  it.each(['sk_service_\u001b[2J', 'sk_service_1234567'])(
    'with a control character or too few characters is rejected at login: %j',
    async (key) => {
      const words = ['login', '--key-stdin', '--base-url', service.url, '--no-verify'];
      const { stdout, stderr } = await run(words, { env: BARE, stdin: key, exit: 4 });
      expect(stdout + stderr).not.toContain(key);
    },
  );

  it('is masked in a large response in time, with 1,000 saved profiles', async () => {
    const profiles = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => [`p${index}`, { key: `sk_service_other_key_${index}` }]),
    );
    home.write(CONFIG, JSON.stringify({ profiles }));
    const note = 'lorem % \\u00e9 ipsum '.repeat(200_000);
    service.answer(found({ service_id: 'r-1', name: 'Nopa', note }));
    expect((await run([...FIND, '--json'], { exit: 0 })).ms).toBeLessThan(10_000);
  });

  it.each([8_200, 15_000])('in a header of %i characters is masked', async (length) => {
    const secret = 'pWVtqXzkv'.repeat(length).slice(0, length);
    const text = `${secret} ${secret.replaceAll('p', '\\u0070')}`;
    service.answer((_, response) => response.writeHead(500).end(text));
    const words = [...FIND, '-H', `X-Auth-Token: ${secret}`];
    for (const more of [[], ['--json'], ['--verbose']]) {
      const { stdout, stderr } = await run([...words, ...more], { exit: 7 });
      expect(stdout + stderr).not.toContain(secret.slice(0, 40));
    }
  });

  it.each(['/dev/zero', '/proc/self/mem', '/'])('file that is %s is rejected', async (path) => {
    const words = ['login', '--key-file', path, '--base-url', service.url, '--no-verify'];
    expect([2, 9]).toContain((await run(words, { env: BARE })).exit);
  });

  it.each([
    'X-A: b\r\nX-B: c',
    'Authorization: Bearer x',
    'Host: evil.example',
    '__proto__: y',
    'constructor: y',
  ])('is sent unchanged with the header %j', async (header) => {
    await run(['raw', 'x', '-H', header]);
    for (const { headers } of service.asked) {
      expect(headers.authorization).toBe(`Bearer ${KEY}`);
      expect(headers.host).toBe(new URL(service.url).host);
      expect(headers).not.toHaveProperty('x-b');
    }
  });

  it('in a file that an argument names is masked in the output', async () => {
    home.write('note', `the key is ${KEY}`);
    await run(['call', 'x', 'note=@note', '--dry-run']);
  });

  it('in a saved header is not printed, and config get says where it is', async () => {
    const env = { ...WITHOUT_KEY, RESTAURANT_BASE_URL: 'https://api.example' };
    await run(['config', 'set', 'base-url', 'https://api.example'], { env });
    await run(['config', 'set', 'header.X-Token', KEY], { env });
    const { exit, stdout, stderr } = await run(['config', 'get', 'header.X-Token'], { env });
    expect([exit, stdout]).toEqual([0, '…\n']);
    expect(stderr).toMatch(/^warning: header\.X-Token is secret: its value is in \S+config\.json\n$/);
  });

  it('in a file for the sandbox is not quoted in an error', async () => {
    home.write('data.json', KEY);
    const { stderr } = await run(['sandbox', '--data', 'data.json'], { env: BARE, exit: 2 });
    expect(stderr).toContain('data.json: the data is not JSON');
    expect(stderr).not.toContain(KEY.slice(0, 5));
  });
});

describe('a password in a URL', () => {
  const urls = (...schemes: readonly string[]) =>
    schemes.flatMap((scheme) =>
      ['user:s3cr3t@', 'user:pa/s3cr3t@', 'user:p@s3cr3t@', 's3cr3t@', '']
        .map((user) => `${scheme}${user}127.0.0.1:9`)
        .map((url) => (url.includes('@') ? url : `${url}?password=s3cr3t`)),
    );
  const commands = (url: string) => [
    [...FIND, '--base-url', url],
    [...FIND, `--endpoint=${url}`, '--sort', 'foo'],
    ['lookup', 'r-1', '--base-url', url, '--json'],
    ['login', '--base-url', url, '--key-stdin'],
    ['status', '--base-url', url],
    ['config', 'set', 'base-url', url],
    ['config', 'set', 'endpoint', url, '--json'],
    ['config', 'profiles'],
  ];
  const storeCommands = (url: string) => [
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
    const env = { RESTAURANT_BASE_URL: 'http://127.0.0.1:9' };
    const expectHidden = async (words: readonly string[], more: Env = {}) => {
      const { stdout, stderr } = await run(words, { env: { ...env, ...more }, stdin: KEY });
      expect(stdout + stderr).not.toContain('s3cr3t');
    };
    for (const words of commandsWith(url)) await expectHidden(words);
    for (const words of [FIND, ['status'], ['config', 'list', '--json']])
      await expectHidden([...words, '--verbose'], { RESTAURANT_SHARED_STATE: url });
  });
});

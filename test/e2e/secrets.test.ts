import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Reply, toolText, useScriptedService } from '../helpers/answers.ts';
import { fewOrAll } from '../helpers/full.ts';
import { filesOf, filesWith, shows } from '../helpers/leaks.ts';
import { startRestaurant, until } from '../helpers/process.ts';
import type { Transcript } from '../helpers/program.ts';
import { FAILURES, RESULTS } from '../helpers/repeats.ts';
import { RUNS, resetFolder, useCommandRuns } from '../helpers/runs.ts';
import { output, status } from '../helpers/script.ts';
import { PAID } from '../helpers/service.ts';

const PREFIX = 'sk_service_';
const SECRET = 'm4rkedKeyOfNobody_x9z2';
const KEY = PREFIX + SECRET;
const NOTHING_FOUND = toolText('{"status":"ok","results":[],"total_matches":0}');
const FIND = ['find', 'x', '--city', 'y'];
const service = useScriptedService();
const stranger = useScriptedService();
const { home, again } = useCommandRuns();

/** Generates keys: the prefix, then visible ASCII. */
const secrets = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 16,
  maxLength: 40,
});

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
const each = (text: string, write: (character: string) => string) => [...text].map(write).join('');

/** Encodings in which a service may repeat the key. */
const WRITINGS: Readonly<Record<string, (key: string) => string>> = {
  plain: (key) => key,
  'as Bearer': (key) => `Bearer ${key}`,
  'in a URL': (key) => `https://h.example/?key=${encodeURIComponent(key)}&a=b`,
  'percent-encoded': (key) => each(key, (character) => `%${hex(character)}`),
  'percent-encoded twice': (key) => encodeURIComponent(encodeURIComponent(key)),
  'as the user of a URL': (key) => `https://${encodeURIComponent(key)}:password@h.example/`,
  'with JSON escapes': (key) => each(key, (character) => `\\u00${hex(character).toUpperCase()}`),
  'with the first letter escaped': (key) => `\\u0073${JSON.stringify(key).slice(2, -1)}`,
  'as base64': (key) => Buffer.from(`x${key}`).toString('base64'),
  'in lower case': (key) => key.toLowerCase(),
};

/** Responses that may contain the key. */
const PLACES = { ...FAILURES, ...RESULTS };

const COMMANDS: readonly (readonly string[])[] = [
  [...FIND, '--format', 'table'],
  [...FIND, '--json'],
  [...FIND, '--format', 'csv', '--max-age', '1h'],
  ['lookup', 'r-1', '--verbose'],
  ['lookup', 'r-1', 's-1', '--json'],
  ['call', 'find_restaurant', 'name=x', 'city=y', '--json', '--max-age', '1h'],
  ['call', 'find_restaurant', 'name=x', 'city=y', '--format', 'table'],
  ['tools', '--format', 'ndjson'],
  ['raw', 'tools/call', '{}', '-i', '--verbose'],
  ['raw', 'tools/call', '{}', '--unwrap'],
  ['enrich', '-', '--input-format', 'csv', '--fields', 'basic', '--progress', 'json'],
  ['status', '--check', '--json'],
  ['mcp'],
];
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}';

/** Checks that neither stream shows more of the secret than its end. */
const expectHidden = (where: unknown, { stdout, stderr }: Transcript, secret = SECRET) =>
  expect([where, shows(stdout, secret), shows(stderr, secret)]).toEqual([where, false, false]);

describe('the key', () => {
  const any = <T>(record: Readonly<Record<string, T>>) => fc.constantFrom(...Object.entries(record));
  const WITHOUT_WAIT = { RESTAURANT_MAX_WAIT: '0' };
  const stdinOf = (words: readonly string[]) => (words[0] === 'mcp' ? `${CALL}\n` : 'name,city\nx,y\n');

  it('is never printed or stored, wherever and however the service repeats it', async () => {
    await fc.assert(
      fc.asyncProperty(
        secrets,
        any(WRITINGS),
        any(PLACES),
        fc.constantFrom(...COMMANDS),
        fc.boolean(),
        async (secret, [writing, write], [place, repeat], words, debug) => {
          const key = PREFIX + secret;
          service.answer(repeat(write(key)));
          const env = { ...WITHOUT_WAIT, RESTAURANT_API_KEY: key, RESTAURANT_DEBUG: debug ? '1' : '' };
          const where = [writing, place, words.join(' ')];
          expectHidden(where, await service.run(words, { env, stdin: stdinOf(words) }), secret);
          const files = filesOf(service.home).map((path) => readFileSync(path, 'latin1'));
          expect([...where, shows(files.join('\n'), secret)]).toEqual([...where, false]);
        },
      ),
      { numRuns: fewOrAll(20, 80) },
    );
  });

  it.each(Object.entries(PLACES))('is masked in %s, for every command', async (_place, repeat) => {
    service.answer(repeat(`Bearer ${KEY}`));
    const env = { ...WITHOUT_WAIT, RESTAURANT_API_KEY: KEY };
    let printed = '';
    for (const words of [...COMMANDS, ['login', '--key-stdin']]) {
      const stdin = words[0] === 'login' ? KEY : stdinOf(words);
      const run = await service.run([...words, '--verbose'], { env, stdin });
      expectHidden(words, run);
      if (words[0] !== 'login') expect([words, filesWith(SECRET, service.home)]).toEqual([words, []]);
      printed += run.stdout + run.stderr;
    }
    const received = printed.split('\n').filter((line) => !line.startsWith('> '));
    expect(received.join('\n')).toMatch(/Bearer( |%20)(sk_service_)?…|sk_service_…x9z2/);
    await service.run(['logout'], { env });
  });

  it('of the login is not printed or stored when the service repeats it in a run with another key', async () => {
    service.answer(NOTHING_FOUND);
    const login = await service.run(['login', '--key-stdin', '--base-url', service.url], {
      stdin: KEY,
      env: { RESTAURANT_API_KEY: '' },
    });
    expect(login.exit).toBe(0);
    const config = filesWith(SECRET, service.home);
    service.answer(RESULTS['a field in the data']?.(KEY) ?? NOTHING_FOUND);
    const env = { RESTAURANT_API_KEY: `${PREFIX}another_key_0123456789` };
    for (const words of COMMANDS) {
      const run = await service.run(words, { env, stdin: stdinOf(words) });
      expectHidden(words, run);
    }
    expect([config.length, filesWith(SECRET, service.home)]).toEqual([1, config]);
    await service.run(['logout'], { env: { RESTAURANT_API_KEY: '' } });
  });

  it('is masked without breaking JSON', async () => {
    await fc.assert(
      fc.asyncProperty(secrets, async (secret) => {
        const key = PREFIX + secret;
        service.answer(RESULTS['a field in the data']?.(`a ${key} b`) ?? NOTHING_FOUND);
        const { exit, stdout } = await service.run([...FIND, '--json'], { env: { RESTAURANT_API_KEY: key } });
        expect(exit).toBe(0);
        expect(JSON.parse(stdout).results[0].name).toMatch(/^a sk_service_…[\w.~-]{0,4} b$/);
      }),
      { numRuns: 10 },
    );
  });

  it('is not shown in part by truncation, nor by a bug in the program', async () => {
    for (const before of [380, 385, 390, 395, 398, 3990]) {
      const fault = new Error(`${'a'.repeat(before)}${KEY}`, { cause: new Error(`for ${KEY}`) });
      for (const more of [[], ['--json'], ['--verbose']]) {
        const run = await service.run([...FIND, ...more], {
          env: { RESTAURANT_API_KEY: KEY },
          now: () => {
            throw fault;
          },
        });
        expect(run.exit).toBe(1);
        expectHidden([before, more], run);
        expect(run.stderr).not.toContain('m4rk');
      }
    }
  });

  it.each([
    [['login', KEY]],
    [['login', '--key', KEY]],
    [['login', `--key=${KEY}`]],
    [[KEY]],
    [['find', KEY, KEY]],
    [['find', KEY, '--city', `in ${KEY}`]],
    [['config', 'set', KEY, 'x']],
    [['config', 'set', 'key', KEY]],
    [[...FIND, '--profile', KEY]],
    [['config', 'set', 'timeout', KEY]],
    [[...FIND, '--base-url', `https://${KEY}@example.com`]],
    [[...FIND, '--base-url', `https://example.com/?key=${KEY}`]],
    [['raw', 'x', '-H', `Authorization: Bearer ${KEY}`]],
    [['call', 'x', KEY]],
    [['call', 'x', '--api_key', KEY]],
    [['call', 'x', `--accessToken=${KEY}`]],
    [['lookup', `${KEY}?`]],
  ])('is rejected where it does not belong, and not sent, printed or stored: %j', async (words) => {
    for (const more of [[], ['--json'], ['--verbose'], ['--dry-run'], ['--curl']]) {
      for (const env of [{ RESTAURANT_API_KEY: '' }, { RESTAURANT_API_KEY: KEY }]) {
        const run = await service.run([...words, ...more], { env, tty: { stdout: true, stderr: true } });
        expectHidden(more, run);
        expect([more, run.exit]).not.toEqual([more, 0]);
      }
    }
    expect(filesWith(SECRET, service.home)).toEqual([]);
  });

  it('is saved in the config file only, until logout deletes it', async () => {
    resetFolder(home);
    const env = { RESTAURANT_API_KEY: '' };
    const run = async (words: readonly string[], stdin?: string) => {
      const plan = { words: [...words, '--verbose'], ...(stdin === undefined ? {} : { stdin }) };
      const { exit, stdout } = await again(plan, { env });
      expect([words, exit]).toEqual([words, 0]);
      return stdout;
    };
    const saved = () => filesWith(PAID, home).filter((name) => name !== 'key.txt');
    await run(['login', '--key-stdin'], `${PAID}\n`);
    for (const [name, { words, stdin }] of Object.entries(RUNS)) {
      if (!['login', 'logout'].includes(name)) await run(words, stdin);
    }
    await run(['login', '--key-stdin', '--profile', 'second'], PAID);
    expect(saved()).toEqual(['.config/restaurant/config.json']);
    await run(['logout', '--profile', 'second']);
    expect(saved()).toEqual(['.config/restaurant/config.json']);
    expect(await run(['logout'])).toBe('Deleted the saved key of profile default.\n');
    expect(saved()).toEqual([]);
    expect((await again({ words: FIND }, { env })).exit).toBe(4);
  });

  it('is neither in the arguments of a process, nor left behind by a login that is interrupted', async () => {
    service.answer(() => {});
    resetFolder(home);
    const env = { HOME: home, RESTAURANT_BASE_URL: service.url };
    const login = startRestaurant(['login', '--key-stdin'], { env, stdin: KEY });
    await until(() => service.asked.length > 0, login);
    const args = execFileSync('ps', ['-o', 'args=', '-p', `${login.process.pid}`], { encoding: 'utf8' });
    expect([args.includes('login'), args.includes(SECRET)]).toEqual([true, false]);
    login.process.kill('SIGINT');
    const ended = await login.ended;
    expect([shows(ended.stdout + ended.stderr, SECRET), filesWith(SECRET, home)]).toEqual([false, []]);
  });
});

describe('an invalid key', () => {
  const fine: readonly string[] = [`${KEY}\n`, `${KEY}\r\n`, `  ${KEY}\t`, `\uFEFF${KEY}`];
  const wrong: readonly string[] = [
    `${KEY.slice(0, 20)}\n${KEY.slice(20)}`,
    `${KEY}\0`,
    `${KEY.slice(0, 20)}\u00a0${KEY.slice(20)}`,
    `${KEY.slice(0, 20)}\u200b${KEY.slice(20)}`,
    `${KEY}🍜`,
    `${KEY}é`,
    `"${KEY}"`,
    `'${KEY}'`,
    `“${KEY}”`,
    `Bearer ${KEY}`,
    `bearer\t${KEY}`,
    `${KEY} ${KEY}`,
    `sk_live_${SECRET}`,
    PREFIX,
    '',
    ' \n',
  ];

  it('from any source is reported without repeating it, and never sent or saved', async () => {
    const file = join(service.home, 'key.txt');
    for (const text of wrong) {
      writeFileSync(file, text, { mode: 0o600 });
      const env = { RESTAURANT_API_KEY: text };
      const runs = [
        await service.run(['login', '--key-stdin'], { stdin: text }),
        await service.run(['login', '--key-file', file]),
        ...(text.trim() === '' ? [] : [await service.run(FIND, { env })]),
      ];
      const shown = await service.run(['status', '--json'], { env });
      expectHidden(text, shown);
      expect([text, shown.exit]).toEqual([text, 0]);
      for (const run of runs) {
        expectHidden(text, run);
        expect([text, run.exit, run.stdout]).toEqual([text, 4, '']);
        expect(run.stderr).toContain('\nhint: ');
      }
    }
    expect(filesWith(SECRET, service.home)).toEqual([]);
  });

  it('is not caused by white space around a valid key', async () => {
    service.answer(NOTHING_FOUND);
    for (const text of fine) {
      const env = { RESTAURANT_API_KEY: text };
      expect([text, (await service.run(FIND, { env })).exit]).toEqual([text, 0]);
      expect(service.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    }
  });

  const MODES = [0o644, 0o640, 0o604, 0o600, 0o400];
  it.each(MODES)('is not a valid key in a file, used with a warning if others read it: %o', async (mode) => {
    service.answer(NOTHING_FOUND);
    const file = join(service.home, `${mode}.txt`);
    writeFileSync(file, KEY, { mode });
    const tty = { stderr: true, columns: 400 };
    const { exit, stderr } = await service.run(['login', '--key-file', file], { tty });
    const warns = stderr.includes(`${file} can be read by other users`);
    expect([exit, warns]).toEqual([0, (mode & 0o077) !== 0]);
    await service.run(['logout']);
  });
});

describe('the key on the network', () => {
  it('is not sent to any URL in a response', async () => {
    const redirects = [301, 302, 303, 307, 308].map((code) =>
      status(code, { Location: `${stranger.url}/api/mcp` }),
    );
    const { url } = stranger;
    const row = { service_id: 'r', name: 'x', website: url, image: `${url}/a.png` };
    const others: readonly Reply[] = [
      status(401, {
        'WWW-Authenticate': `Bearer error="invalid_token", resource_metadata="${url}/.well-known/x"`,
      }),
      status(200, { Refresh: `0;url=${url}`, Link: `<${url}>` }),
      status(
        200,
        { 'Content-Type': 'text/event-stream', 'Content-Location': url },
        `event: endpoint\ndata: ${url}/messages\n\n`,
      ),
      output({ status: 'ok', results: [row], total_matches: 1, next: url }),
    ];
    for (const answer of [...redirects, ...others]) {
      service.answer(answer);
      for (const words of [FIND, ['lookup', 'r'], ['tools'], ['raw', 'x'], ['call', 'x', 'a=b']]) {
        await service.run(words, { env: { RESTAURANT_API_KEY: KEY } });
      }
    }
    expect(stranger.connections).toBe(0);
  });

  it('is not sent to another service when it is saved', async () => {
    const env = { RESTAURANT_API_KEY: '' };
    const login = ['login', '--key-stdin', '--base-url', 'https://api.example.com', '--no-verify'];
    expect((await service.run(login, { env, stdin: KEY })).exit).toBe(0);
    for (const words of [FIND, ['lookup', 'r'], ['tools'], ['raw', 'x'], ['status', '--check']]) {
      for (const place of ['--base-url', '--endpoint']) {
        const { exit, stderr } = await service.run([...words, place, stranger.url], { env });
        const isRefused = stderr.includes('belongs to https://api.example.com');
        expect([words, exit, isRefused]).toEqual([words, 4, true]);
      }
    }
    expect(stranger.connections).toBe(0);
    await service.run(['logout'], { env });
  });

  it('is not sent over plain HTTP, also through a proxy', async () => {
    const env = {
      RESTAURANT_API_KEY: KEY,
      RESTAURANT_BASE_URL: 'http://api.example.com',
      HTTP_PROXY: stranger.url,
    };
    for (const words of [FIND, ['tools'], ['raw', 'x'], ['login', '--key-stdin'], ['status', '--check']]) {
      const run = await service.run(words, { env, stdin: KEY });
      expect([words, run.exit, run.stderr.includes('over plain HTTP')]).toEqual([words, 2, true]);
    }
    expect(stranger.connections).toBe(0);
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults.ts';
import { readRestaurants } from '../../../src/sandbox/restaurants.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/server.ts';
import { PROGRAM, restaurant } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { inTerminal, restaurantInTerminal, screen } from '../../helpers/terminal.ts';

const ESC = '\u001b';
const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;
const KEY = 'sk_service_demo_paid';
const FIND = ['find', 'Nopa', '--city', 'SF'];

const WIDE = [
  '寿司の名店 すきやばし次郎 本店',
  '🍜 Noodle 🍜 Yard 🍜',
  '👨‍👩‍👧‍👦 Family Table',
  'مطعم البحر الأبيض',
  'Plain',
].map((name, index) => ({
  service_id: `wide-${index}`,
  name,
  city: 'Tokyo',
  address: `東京都中央区銀座 ${index} 塚本総業ビル地下一階, ${'x'.repeat(120)}`,
  neighborhood: '銀座',
  cuisine_tags: ['寿司', 'sushi'],
  grade: 'A+',
  coverage_level: 'full',
  coordinates: { lat: 35.67, lng: 139.76 },
}));

let plain: Sandbox;
let slow: Sandbox;
let wide: Sandbox;
beforeAll(async () => {
  const options = { perMinute: 0, perDay: 0 };
  plain = await startSandbox(options);
  slow = await startSandbox({ ...options, latencyMs: 400 });
  wide = await startSandbox({ ...options, restaurants: readRestaurants(JSON.stringify(WIDE), 'json') });
});
afterAll(() => Promise.all([plain, slow, wide].map((sandbox) => sandbox.close())));

const home = tempFolder();
type Env = Readonly<Record<string, string | undefined>>;
const envFor = (sandbox: Sandbox, more: Env = {}): Env => ({
  HOME: home,
  RESTAURANT_API_KEY: KEY,
  RESTAURANT_BASE_URL: sandbox.baseUrl,
  RESTAURANT_MAX_AGE: '0',
  ...more,
});
const at = (sandbox: Sandbox, words: readonly string[], more: Env = {}, columns = 80) =>
  restaurantInTerminal(words, { env: envFor(sandbox, more), columns }).ended;

// On Windows, the pseudo-terminals of node-pty do not support Ctrl-C and stty as these tests expect.
describe.skipIf(process.platform === 'win32').concurrent('at a terminal', () => {
  it('color depends on the flag, then NO_COLOR, then FORCE_COLOR, then the terminal', async () => {
    const isColored = async (words: readonly string[], env: Env = {}) => {
      const { exit, output } = await at(plain, words, env);
      expect(exit).toBe(0);
      return output.includes(ESC);
    };
    expect(
      await Promise.all([
        isColored(FIND),
        isColored(FIND, { NO_COLOR: '' }),
        isColored(FIND, { NO_COLOR: '1', FORCE_COLOR: '1' }),
        isColored([...FIND, '--no-color'], { FORCE_COLOR: '3' }),
        isColored(FIND, { TERM: 'dumb' }),
        isColored([...FIND, '--json'], { FORCE_COLOR: '3' }),
      ]),
    ).toEqual([true, true, false, false, false, false]);
  });

  it('color appears in a pipe only when forced', async () => {
    const isColored = async (env: Env, ...more: string[]) => {
      const words = [...FIND, '--format', 'table', ...more];
      return (await restaurant(words, { env: envFor(plain, env) })).stdout.includes(ESC);
    };
    expect(
      await Promise.all([
        isColored({}),
        isColored({ FORCE_COLOR: '1' }),
        isColored({ CLICOLOR_FORCE: '1' }),
        isColored({ FORCE_COLOR: '1' }, '--no-color'),
      ]),
    ).toEqual([false, true, true, false]);
  });

  it('each stream is checked separately', async () => {
    const into = (redirect: string) =>
      inTerminal('sh', ['-c', `"$0" "$@" ${redirect}`, ...PROGRAM, ...FIND], {
        env: envFor(plain),
        cwd: home,
      });
    const onScreen = await into('> out.txt').ended;
    expect(screen(stripVTControlCharacters(onScreen.output)).join('')).toBe('');
    expect(readFileSync(join(home, 'out.txt'), 'utf8')).toMatch(/^[^\u001b]+\tNopa\t[^\u001b]+$/);
    const errors = await into('2> err.txt').ended;
    expect(errors.output).toContain(ESC);
    expect(readFileSync(join(home, 'err.txt'), 'utf8')).toBe('');
  });

  it.each([40, 80, 200])('no line of a table is wider than %i columns in any script', async (columns) => {
    const commands = [
      ['find', '寿司', '--city', 'Tokyo'],
      ['find', 'Noodle', '--city', 'Tokyo'],
      ['lookup', 'wide-0', '--fields', 'premium'],
    ];
    const runs = commands.map(async (words) => ({
      words,
      ...(await at(wide, [...words, '--no-color', '--quiet'], {}, columns)),
    }));
    for (const { words, exit, output } of await Promise.all(runs)) {
      expect([words, exit]).toEqual([words, 0]);
      for (const line of screen(output)) {
        // A URL is not broken, so that it can be copied.
        if (line.includes('://')) continue;
        expect([words, line, stringWidth(line) <= columns]).toEqual([words, line, true]);
      }
    }
  });

  it('a slow command shows a spinner and erases it', async () => {
    const { exit, output } = await at(slow, FIND, { NO_COLOR: '1' });
    expect(exit).toBe(0);
    expect(output).toMatch(SPINNER);
    expect(output).toContain('searching Nopa in SF');
    expect(output).not.toContain(ESC);
    const lines = screen(output);
    expect(lines[0]).toMatch(/^# +NAME/);
    expect(lines.join('\n')).not.toMatch(SPINNER);
    expect(lines.join('\n')).not.toContain('searching');
  });

  it('no spinner appears without a terminal or when it is disabled', async () => {
    const still = [
      at(slow, FIND, { CI: 'true' }),
      at(slow, [...FIND, '--quiet']),
      at(slow, [...FIND, '--json']),
      at(slow, FIND, { TERM: 'dumb' }),
    ];
    for (const { exit, output } of await Promise.all(still)) {
      expect([exit, SPINNER.test(output)]).toEqual([0, false]);
    }
    const piped = await restaurant(FIND, { env: envFor(slow) });
    expect([piped.exit, piped.stderr]).toEqual([0, '']);
  });

  it('a message during the wait is printed on a separate line', async () => {
    const flaky = await startSandbox({ latencyMs: 250, faults: [parseFault('503:1x')] });
    const { exit, output } = await at(flaky, FIND, { NO_COLOR: '1' });
    await flaky.close();
    expect(exit).toBe(0);
    const lines = screen(output);
    expect(lines[0]).toMatch(/^warning: .*503.*retrying in 1 s$/);
    expect(lines[1]).toMatch(/^# +NAME/);
  });

  it('login prompts for the key and does not show it', async () => {
    const own = tempFolder();
    const env = { HOME: own, RESTAURANT_BASE_URL: plain.baseUrl, NO_COLOR: '1' };
    const line = 'stty -a > before; "$0" "$@" > out.txt; echo "exit $?"; stty -a > after';
    const login = inTerminal('sh', ['-c', line, ...PROGRAM, 'login'], { env, cwd: own });
    await login.shown(/API key for 127\.0\.0\.1:\d+.*: $/);
    login.type(`${KEY}x\u007f\r`);
    const { output } = await login.ended;
    expect(output).toContain('exit 0');
    expect(output).not.toContain('sk_service');
    expect(output).not.toContain('*');
    expect(output).not.toContain(ESC);
    expect(readFileSync(join(own, 'out.txt'), 'utf8')).toMatch(
      /^Logged in to 127\.0\.0\.1:\d+\nSaved key …paid in/,
    );
    expect(readFileSync(join(own, 'after'), 'utf8')).toBe(readFileSync(join(own, 'before'), 'utf8'));
    const saved = JSON.parse(readFileSync(join(own, '.config/restaurant/config.json'), 'utf8'));
    expect(saved.profiles.default.key).toBe(KEY);
  });

  it('login prompts for a missing address, too', async () => {
    const own = tempFolder();
    const login = restaurantInTerminal(['login', '--no-color'], { env: { HOME: own } });
    await login.shown('https://api.example.com: ');
    login.type(`${plain.baseUrl}\r`);
    await login.shown('API key for 127.0.0.1');
    login.type(`${KEY}\r`);
    const { exit, output } = await login.ended;
    expect([exit, output.includes('sk_service')]).toEqual([0, false]);
    expect(output).toContain('Logged in to 127.0.0.1');
  });

  it.each(['\u0003', 'sk_serv\u0003'])(
    'Ctrl-C at a prompt exits with 130 and restores the terminal: %j',
    async (typed) => {
      const own = tempFolder();
      const env = { HOME: own, RESTAURANT_BASE_URL: plain.baseUrl };
      const line = 'stty -a > before; "$0" "$@"; echo "exit $?"; stty -a > after';
      const login = inTerminal('sh', ['-c', `trap : INT; ${line}`, ...PROGRAM, 'login'], {
        env,
        cwd: own,
      });
      await login.shown(/API key for .*: $/);
      login.type(typed);
      const { output } = await login.ended;
      expect(stripVTControlCharacters(output)).toMatch(
        /error: interrupted at the prompt\r\nhint: .+\r\nexit 130/,
      );
      expect(output).not.toContain(`${ESC}[?25l`);
      expect(readFileSync(join(own, 'after'), 'utf8')).toBe(readFileSync(join(own, 'before'), 'utf8'));
    },
  );

  it('Ctrl-C ends a request and erases the spinner', async () => {
    const hanging = await startSandbox({ faults: [parseFault('hang')] });
    const find = restaurantInTerminal(FIND, { env: envFor(hanging, { NO_COLOR: '1' }) });
    await find.shown(SPINNER);
    const began = performance.now();
    find.type('\u0003');
    const { exit, output } = await find.ended;
    expect(performance.now() - began).toBeLessThan(10_000);
    await hanging.close();
    expect(exit).toBe(130);
    expect(screen(output).join('\n')).toMatch(/error: interrupted by SIGINT\nhint: run the command again\n$/);
    expect(screen(output).join('\n')).not.toMatch(SPINNER);
  });

  it('a key for --key-stdin is hidden, too, when stdin is the keyboard', async () => {
    const env = { HOME: tempFolder(), RESTAURANT_BASE_URL: plain.baseUrl };
    const login = restaurantInTerminal(['login', '--key-stdin'], { env });
    await login.shown('API key for');
    login.type(`${KEY}\r`);
    const { exit, output } = await login.ended;
    expect([exit, output.includes('sk_service')]).toEqual([0, false]);
  });

  it('Ctrl-C and Ctrl-D at the prompt for the address end the line first', async () => {
    for (const [typed, exit] of [
      ['\u0003', 130],
      ['\u0004', 2],
    ] as const) {
      const login = restaurantInTerminal(['login', '--no-color'], { env: { HOME: tempFolder() } });
      await login.shown('https://api.example.com: ');
      login.type(typed);
      const ended = await login.ended;
      expect(ended.exit).toBe(exit);
      expect(ended.output).toMatch(/\r\nerror: .+\r\nhint: .+\r\n$/);
    }
  });

  it.each([['--no-input'], ['CI']])('no prompt appears with %s', async (how) => {
    const env = {
      HOME: tempFolder(),
      RESTAURANT_BASE_URL: plain.baseUrl,
      ...(how === 'CI' ? { CI: 'true' } : {}),
    };
    const { exit, output } = await restaurantInTerminal(['login', ...(how === 'CI' ? [] : [how])], { env })
      .ended;
    expect(exit).toBe(2);
    expect(output).toContain('--key-stdin < key.txt');
  });

  it('a command that reads from the keyboard prints a note', async () => {
    for (const [words, what] of [
      [['lookup', '-'], 'reading ids, one per line'],
      [['raw', 'tools/call', '-'], 'reading params'],
      [['call', 'find_restaurant', '--args', '-'], 'reading --args'],
    ] as const) {
      const run = restaurantInTerminal(words, { env: envFor(plain, { NO_COLOR: '1' }) });
      await run.shown(`${what} from the keyboard; Ctrl-D ends it`);
      run.type('\u0003');
      expect((await run.ended).exit).toBe(130);
    }
    const typed = restaurantInTerminal(['lookup', '-', '--json'], { env: envFor(plain) });
    await new Promise((resolve) => setTimeout(resolve, 300));
    typed.type('a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53\r\u0004');
    const { exit, output } = await typed.ended;
    expect(exit).toBe(0);
    expect(output).toContain('"restaurant_id": "a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53"');
  });

  it('hostile names print no control characters', async () => {
    const name = `Evil\u001b]0;owned\u0007\u001b[2J\r\nName\u009b31m\u202e`;
    const evil = await startSandbox({
      restaurants: readRestaurants(
        JSON.stringify([{ service_id: 'evil-1', name, city: 'SF', grade: 'A' }]),
        'json',
      ),
    });
    for (const words of [
      ['find', 'Evil', '--city', 'SF'],
      ['lookup', 'evil-1', '--fields', 'premium'],
      ['find', 'Evil', '--city', 'SF', '--verbose'],
      ['lookup', `evil\u001b[2J`],
    ]) {
      const { output } = await at(evil, [...words, '--no-color']);
      expect([words, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]/.test(output)]).toEqual([
        words,
        false,
      ]);
    }
    await evil.close();
  });

  it('the sandbox prints a working command with a key', async () => {
    const run = restaurantInTerminal(['sandbox', '--port', '0'], {
      env: { HOME: tempFolder(), NO_COLOR: '1' },
      columns: 200,
    });
    await run.shown(/try it: .*\r\n/);
    const [, line = ''] = /try it: (.*)\r\n/.exec(run.output()) ?? [];
    const [assignment = '', ...words] = line.split(' ').filter((word) => word !== 'restaurant');
    const [variable = '', key = ''] = assignment.split('=');
    const tried = await restaurant(words, { env: { HOME: tempFolder(), [variable]: key } });
    expect(tried).toMatchObject({ exit: 0, stderr: '' });
    await run.shown('200 tools/call find_restaurant (paid');
    run.type('\u0003');
    expect((await run.ended).exit).toBe(130);
    writeFileSync(join(home, 'seen.txt'), run.output());
    expect(run.output()).not.toContain('error:');
  });
});

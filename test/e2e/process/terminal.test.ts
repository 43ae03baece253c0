import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../../src/sandbox/faults.ts';
import { PROGRAM, restaurant } from '../../helpers/process.ts';
import { ID } from '../../helpers/runs.ts';
import { PAID, useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { inTerminal, restaurantInTerminal, screen } from '../../helpers/terminal.ts';

const ESC = '\u001b';
const CTRL_C = '\u0003';
const SPINNER = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/;
const FIND = ['find', 'Nopa', '--city', 'SF'];

const plain = useService();
const slow = useService({ latencyMs: 400 });
const flaky = useService({ latencyMs: 250, faults: [parseFault('503:1x')] });
const hanging = useService({ faults: [parseFault('hang')] });
type Service = typeof plain;
type Env = Readonly<Record<string, string | undefined>>;
const at = ({ env }: Service, words: readonly string[], more: Env = {}, columns = 80) =>
  restaurantInTerminal(words, { env: { ...env, ...more }, columns }).ended;

/** Starts `login` in a new home, with stdout in out.txt. @returns the prompt, the folder, and how to send a signal */
async function promptOfLogin() {
  const cwd = tempFolder();
  // The inner shell becomes the program, so its process ID is the program's.
  const login = `sh -c 'echo $$ > pid; exec "$0" "$@"' "$0" "$@" > out.txt`;
  const line = `trap : INT; stty -a > before; ${login}; echo "exit $?"; stty -a > after`;
  const env = { HOME: cwd, RESTAURANT_BASE_URL: plain.sandbox.baseUrl, NO_COLOR: '1' };
  const terminal = inTerminal('sh', ['-c', line, ...PROGRAM, 'login'], { env, cwd });
  await terminal.shown(/API key for 127\.0\.0\.1:\d+.*: $/);
  const read = (name: string) => readFileSync(join(cwd, name), 'utf8');
  const kill = (signal: NodeJS.Signals) => process.kill(Number(read('pid')), signal);
  const output = async () => {
    const text = stripVTControlCharacters((await terminal.ended).output).replaceAll('\r\n', '\n');
    expect(read('after')).toBe(read('before'));
    return text;
  };
  return { terminal, read, kill, output };
}

// On Windows, the pseudo-terminals of node-pty do not support Ctrl-C and stty as these tests expect.
describe.skipIf(process.platform === 'win32').concurrent('at a terminal', () => {
  it.each<[string[], Env, boolean]>([
    [[], {}, true],
    [[], { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    [[], { TERM: 'dumb' }, false],
    [['--no-color'], { FORCE_COLOR: '3' }, false],
    [['--json'], { FORCE_COLOR: '3' }, false],
  ])('color depends on the options %j and the variables %j', async (more, env, isColored) => {
    const { exit, output } = await at(plain, [...FIND, ...more], env);
    expect([exit, output.includes(ESC)]).toEqual([0, isColored]);
  });

  it.each(['', '1'])('color appears in a pipe only when forced: FORCE_COLOR=%j', async (FORCE_COLOR) => {
    const env = { ...plain.env, FORCE_COLOR };
    const { stdout } = await restaurant([...FIND, '--format', 'table'], { env });
    expect(stdout.includes(ESC)).toBe(FORCE_COLOR === '1');
  });

  it('each stream is checked separately', async () => {
    const { home: cwd, env } = plain;
    const into = (redirect: string) =>
      inTerminal('sh', ['-c', `"$0" "$@" ${redirect}`, ...PROGRAM, ...FIND], { env, cwd }).ended;
    const onScreen = await into('> out.txt');
    expect(screen(stripVTControlCharacters(onScreen.output)).join('')).toBe('');
    expect(readFileSync(join(cwd, 'out.txt'), 'utf8')).toMatch(/^[^\u001b]+\tNopa\t[^\u001b]+$/);
    const errors = await into('2> err.txt');
    expect(errors.output).toContain(ESC);
    expect(readFileSync(join(cwd, 'err.txt'), 'utf8')).toBe('');
  });

  it.each([40, 80, 200])('no line is wider than %i columns', async (columns) => {
    for (const words of [FIND, ['lookup', ID, '--fields', 'premium']]) {
      const { exit, output } = await at(plain, [...words, '--no-color', '--quiet'], {}, columns);
      expect([words, exit]).toEqual([words, 0]);
      // A URL is not broken, so that it can be copied.
      const lines = screen(output).filter((line) => !line.includes('://'));
      expect(lines.filter((line) => stringWidth(line) > columns)).toEqual([]);
    }
  });

  it('a slow command shows a spinner and erases it', async () => {
    const { exit, output } = await at(slow, FIND, { NO_COLOR: '1' });
    expect(exit).toBe(0);
    expect(output).toMatch(SPINNER);
    expect(output).toContain('searching Nopa in SF');
    expect(output).not.toContain(ESC);
    const lines = screen(output).join('\n');
    expect(lines).toMatch(/^# +NAME/);
    expect(lines).not.toMatch(SPINNER);
    expect(lines).not.toContain('searching');
  });

  it('no spinner appears without a terminal or when it is disabled', async () => {
    for (const run of [
      at(slow, FIND, { CI: 'true' }),
      at(slow, [...FIND, '--quiet']),
      at(slow, [...FIND, '--json']),
      at(slow, FIND, { TERM: 'dumb' }),
    ])
      expect(await run).toMatchObject({ exit: 0, output: expect.not.stringMatching(SPINNER) });
    const piped = await restaurant(FIND, { env: slow.env });
    expect([piped.exit, piped.stderr]).toEqual([0, '']);
  });

  it('a message during the wait is printed on a separate line', async () => {
    const { exit, output } = await at(flaky, FIND, { NO_COLOR: '1' });
    expect(exit).toBe(0);
    const lines = screen(output);
    expect(lines[0]).toMatch(/^warning: .*503.*retrying in 1 s$/);
    expect(lines[1]).toMatch(/^# +NAME/);
  });

  it('Ctrl-C ends a request and erases the spinner', async () => {
    const find = restaurantInTerminal(FIND, { env: { ...hanging.env, NO_COLOR: '1' } });
    await find.shown(SPINNER);
    const began = performance.now();
    find.type(CTRL_C);
    const { exit, output } = await find.ended;
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(exit).toBe(130);
    expect(screen(output).join('\n')).toMatch(/error: interrupted by SIGINT\nhint: run the command again\n$/);
    expect(screen(output).join('\n')).not.toMatch(SPINNER);
  });

  it('Ctrl-C is left to the pager', async () => {
    // As less: it survives Ctrl-C and reads commands from the terminal.
    const pager =
      "trap 'echo caught' INT; cat > /dev/null; echo ready; until read key < /dev/tty; do :; done; echo got $key";
    const env = { ...plain.env, RESTAURANT_PAGER: pager };
    const terminal = restaurantInTerminal([...FIND, '--json'], { env });
    await terminal.shown('ready');
    for (const times of [1, 2]) {
      terminal.type(CTRL_C);
      await terminal.shown(new RegExp(`(caught[^]*){${times}}`));
    }
    terminal.type('q\n');
    expect(await terminal.ended).toMatchObject({ exit: 0, output: expect.stringContaining('got q') });
  });

  it('login prompts for the key and does not show it', async () => {
    const { terminal, read, output } = await promptOfLogin();
    terminal.type(`${PAID}x\u007f\r`);
    const text = await output();
    expect(text).toContain('exit 0');
    expect((await terminal.ended).output).not.toMatch(/sk_service|\*|\u001b/);
    expect(read('out.txt')).toMatch(/^Logged in to 127\.0\.0\.1:\d+\nSaved key …paid in/);
    expect(JSON.parse(read('.config/restaurant/config.json')).profiles.default.key).toBe(PAID);
  });

  type Prompt = Awaited<ReturnType<typeof promptOfLogin>>;
  const typing = (text: string) => (prompt: Prompt) => prompt.terminal.type(text);
  const sending = (signal: NodeJS.Signals) => (prompt: Prompt) => prompt.kill(signal);

  it.each<[string, (prompt: Prompt) => unknown, RegExp]>([
    ['Ctrl-C', typing(CTRL_C), /error: interrupted at the prompt\nhint: .+\nexit 130/],
    [
      'Ctrl-C after some letters',
      typing(`sk_serv${CTRL_C}`),
      /interrupted at the prompt\nhint: .+\nexit 130/,
    ],
    ['SIGINT', sending('SIGINT'), /\nerror: interrupted by SIGINT\nhint: .+\nexit 130/],
    ['SIGTERM', sending('SIGTERM'), /\nerror: interrupted by SIGTERM\nhint: .+\nexit 143/],
    ['SIGHUP', sending('SIGHUP'), /\nerror: interrupted by SIGHUP\nhint: .+\nexit 129/],
    ['SIGQUIT', sending('SIGQUIT'), /exit 1\d\d/],
    ['SIGUSR2', sending('SIGUSR2'), /exit 1\d\d/],
  ])('%s at the prompt ends login and restores the terminal', async (_name, end, printed) => {
    const prompt = await promptOfLogin();
    end(prompt);
    expect(await prompt.output()).toMatch(printed);
    // It shows the cursor again, or never hid it.
    expect((await prompt.terminal.ended).output).not.toContain(`${ESC}[?25l`);
  });

  const ADDRESS = 'https://api.example.com: ';

  it('login prompts for a missing address, too, and hides the key also with --key-stdin', async () => {
    for (const words of [['login'], ['login', '--key-stdin', '--base-url', plain.sandbox.baseUrl]]) {
      const login = restaurantInTerminal([...words, '--no-color'], { env: { HOME: tempFolder() } });
      if (words.length === 1) {
        await login.shown(ADDRESS);
        login.type(`${plain.sandbox.baseUrl}\r`);
      }
      await login.shown('API key for 127.0.0.1');
      login.type(`${PAID}\r`);
      const { exit, output } = await login.ended;
      expect([exit, output.includes('sk_service')]).toEqual([0, false]);
      expect(output).toContain('Logged in to 127.0.0.1');
    }
  });

  it.each([
    [CTRL_C, 130],
    ['\u0004', 2],
  ])('%j at the prompt for the address ends the line first', async (typed, exit) => {
    const login = restaurantInTerminal(['login', '--no-color'], { env: { HOME: tempFolder() } });
    await login.shown(ADDRESS);
    login.type(typed);
    const ended = await login.ended;
    expect(ended.exit).toBe(exit);
    expect(ended.output).toMatch(/\r\nerror: .+\r\nhint: .+\r\n$/);
  });

  it('a command that reads from the keyboard prints a note', async () => {
    for (const [words, what] of Object.entries({
      'lookup -': 'reading ids, one per line',
      'raw tools/call -': 'reading params',
      'call find_restaurant --args -': 'reading --args',
    })) {
      const run = restaurantInTerminal(words.split(' '), { env: { ...plain.env, NO_COLOR: '1' } });
      await run.shown(`${what} from the keyboard; Ctrl-D ends it`);
      run.type(CTRL_C);
      expect((await run.ended).exit).toBe(130);
    }
    const typed = restaurantInTerminal(['lookup', '-', '--json'], { env: plain.env });
    await new Promise((resolve) => setTimeout(resolve, 300));
    typed.type(`${ID}\r\u0004`);
    const { exit, output } = await typed.ended;
    expect([exit, output]).toEqual([0, expect.stringContaining(`"restaurant_id": "${ID}"`)]);
  });

  it('the sandbox prints a working command with a key', async () => {
    const env = { HOME: tempFolder(), NO_COLOR: '1' };
    const run = restaurantInTerminal(['sandbox', '--port', '0'], { env, columns: 200 });
    await run.shown(/try it: .*\r\n/);
    const [, line = ''] = /try it: (.*)\r\n/.exec(run.output()) ?? [];
    const [assignment = '', ...words] = line.split(' ').filter((word) => word !== 'restaurant');
    const [variable = '', key = ''] = assignment.split('=');
    const tried = await restaurant(words, { env: { HOME: tempFolder(), [variable]: key } });
    expect(tried).toMatchObject({ exit: 0, stderr: '' });
    await run.shown('200 tools/call find_restaurant (paid');
    run.type(CTRL_C);
    expect((await run.ended).exit).toBe(130);
    expect(run.output()).not.toContain('error:');
  });
});

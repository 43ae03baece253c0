import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { width } from '../../../src/util/text.ts';
import { PROGRAM } from '../../helpers/process.ts';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { inTerminal, restaurantInTerminal } from '../../helpers/terminal.ts';

const service = useService();
let requests = 0;
/** Answers the first request only. */
const hanging = useService({
  faults: [{ kind: 'hang', rate: 0.5 }],
  random: () => (requests++ === 0 ? 1 : 0),
});
const DOWN = '\u001b[B';
const CTRL_C = '\u0003';
const NOPA = 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53';
const CORNER = 'bed5a53b-5aa0-42bc-9347-360b3e9abf31';
const TIDE = 'bda10ced-f13c-43d2-8ecf-09bd6747d48e';
const ROSA = '94604fdc-74bf-4a86-8e45-5bf6bd961329';

interface Task {
  readonly title: string;
  readonly words: string;
  readonly keys: readonly string[];
  /** The same by lines, each of which Enter ends. */
  readonly lines?: readonly string[];
  /** The ID that it prints, and something on the screen. */
  readonly id: string;
  readonly shows: string | RegExp;
  readonly requests: number;
}

const FIND = 'Nopa --city SF';
const TASKS: readonly Task[] = [
  { title: 'show a result', words: FIND, keys: ['1', 'q'], id: NOPA, shows: 'californian', requests: 1 },
  {
    title: 'show another result',
    words: FIND,
    keys: ['2', 'q'],
    id: CORNER,
    shows: '701 Divisadero',
    requests: 1,
  },
  { title: 'save', words: FIND, keys: ['1', 's', 'q'], id: NOPA, shows: 'Nopa is saved', requests: 1 },
  {
    title: 'copy the address',
    words: FIND,
    keys: ['1', 'c', 'q'],
    id: NOPA,
    shows: /\n560 Divisadero St, San Francisco/,
    requests: 1,
  },
  {
    title: 'read more',
    words: FIND,
    keys: ['1', 'm', 'q'],
    id: NOPA,
    shows: 'Quietly excellent',
    requests: 2,
  },
  { title: 'open the page', words: FIND, keys: ['1', 'o', 'q'], id: NOPA, shows: '.html', requests: 1 },
  { title: 'compare two', words: FIND, keys: ['1', 'b', '2', 'q'], id: CORNER, shows: 'brunch', requests: 1 },
  {
    ...{ title: 'filter by cuisine', words: 'a --city London', id: ROSA, shows: 'Rosa', requests: 1 },
    ...{ keys: [...'thai', '1', 'q'], lines: ['/thai', '1', 'q'] },
  },
  {
    ...{ title: 'search in the picker', words: '--city London', id: TIDE, shows: 'Maltby', requests: 1 },
    ...{ keys: [...'tide', '\r', '1', 'q'], lines: ['tide', '1', 'q'] },
  },
  {
    ...{ title: 'move the mark', words: FIND, id: CORNER, shows: 'brunch', requests: 1 },
    ...{ keys: [DOWN, DOWN, '\r', 'q'], lines: ['2', 'q'] },
  },
];

/** Waits until the program waits: at the end of the menu, or after the keys of a card. */
const waiting = (from: number) =>
  new RegExp(`^.{${from + 1},}(?:\\n> [^\\n]*|quit\\r\\n|leave: |quit: )$`, 's');

const LOOKING_UP = /looking up/;

/** Types each of the texts when the program waits, or shows the expression before it, with stdout in out.txt. */
async function pick(
  words: string,
  typed: readonly (string | RegExp)[],
  env: Record<string, string>,
  columns: number,
) {
  const cwd = tempFolder();
  const all = { ...service.env, HOME: cwd, NO_COLOR: '1', ...env };
  const line = 'trap : INT; stty -a > before; "$0" "$@" > out.txt; echo "exit $?"; stty -a > after';
  const program = [...PROGRAM, 'pick', ...words.split(' ')];
  const terminal = inTerminal('sh', ['-c', line, ...program], { env: all, cwd, columns });
  let until = waiting(0);
  for (const text of typed) {
    if (text instanceof RegExp) until = text;
    else {
      await terminal.shown(until);
      until = waiting(terminal.output().length);
      terminal.type(text);
    }
  }
  const { output } = await terminal.ended;
  const read = (name: string) => readFileSync(join(cwd, name), 'utf8');
  expect(read('after')).toBe(read('before'));
  return { output, out: read('out.txt'), sent: service.sent() };
}

// On Windows, the pseudo-terminals of node-pty do not support stty as these tests expect.
describe.skipIf(process.platform === 'win32')('pick in a terminal', () => {
  it.each(TASKS)('$title: at most 12 keys and 2 requests', async ({ words, keys, id, shows, requests }) => {
    const { output, out, sent } = await pick(words, keys, {}, 40);
    expect([keys.length <= 12, requests <= 2]).toEqual([true, true]);
    expect([out, sent]).toEqual([`${id}\n`, requests]);
    expect(output).toMatch(shows);
    expect(output).toContain('exit 0');
  });

  it.each(TASKS.flatMap((task) => [80, 40].map((columns) => ({ ...task, columns }))))(
    '$title: by lines of $columns columns, without repainting',
    async ({ words, keys, lines = keys, id, shows, requests, columns }) => {
      const typed = lines.map((each) => `${each}\r`);
      const { output, out, sent } = await pick(words, typed, { RESTAURANT_SPINNER: 'off' }, columns);
      expect(typed.join('').length).toBeLessThanOrEqual(12);
      expect([out, sent]).toEqual([`${id}\n`, requests]);
      expect(output).toMatch(shows);
      expect(output).not.toContain('\u001b');
      const questions = output.match(/^.*(?:leave|quit): /gm) ?? [];
      for (const question of questions) expect(width(question)).toBeLessThanOrEqual(columns);
    },
  );

  it.each([
    ['in the menu', [CTRL_C], {}],
    ['at a card', ['1', CTRL_C], {}],
    ['at a question', ['1\r', CTRL_C], { RESTAURANT_SPINNER: 'off' }],
  ])('leaves the terminal as it was after Ctrl-C %s', async (_, typed, env) => {
    const { output, out } = await pick(FIND, typed, env, 80);
    expect(out).toBe('');
    expect(output).toMatch(/error: interrupted.*exit 130/s);
    service.sent();
  });

  it('asks for the city of find, with the one that the words may contain as the default', async () => {
    const cwd = tempFolder();
    const env = { ...service.env, HOME: cwd, RESTAURANT_MAX_AGE: '10m' };
    await service.run('find Nopa --city SF'.split(' '), { env });
    const terminal = restaurantInTerminal('find nopalina near SF --columns name'.split(' '), { env, cwd });
    await terminal.shown('City [SF]: ');
    terminal.type('\r');
    await terminal.shown('Save SF as the default city?');
    terminal.type('\r');
    const { exit, output } = await terminal.ended;
    expect([exit, output]).toEqual([0, expect.stringContaining('Nopalina Kitchen')]);
    expect(service.sent()).toBe(2);
  });

  it('ends a lookup that takes long with Ctrl-C', async () => {
    const env = { LANG: 'C.UTF-8', RESTAURANT_BASE_URL: hanging.sandbox.baseUrl };
    const { output, out } = await pick(FIND, ['1', 'm', LOOKING_UP, CTRL_C], env, 80);
    expect(out).toBe('');
    expect(output).toMatch(/error: interrupted.*exit 130/s);
  });
});

import { expect, it } from 'vitest';
import { PROGRAM } from '../helpers/process.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { inTerminal, restaurantInTerminal } from '../helpers/terminal.ts';

const CTRL_C = '\u0003';

it('leaves Ctrl-C to the pager', async () => {
  // As less: it survives Ctrl-C and reads commands from the terminal.
  const pager =
    "trap 'echo caught' INT; cat > /dev/null; echo ready; until read key < /dev/tty; do :; done; echo got $key";
  const env = { HOME: tempFolder(), RESTAURANT_PAGER: pager };
  const terminal = restaurantInTerminal(['find', 'a', '--city', 'SF', '--demo', '--json'], { env });
  await terminal.shown('ready');
  for (const times of [1, 2]) {
    terminal.type(CTRL_C);
    await terminal.shown(new RegExp(`(caught[^]*){${times}}`));
  }
  terminal.type('q\n');
  expect(await terminal.ended).toMatchObject({ exit: 0, output: expect.stringContaining('got q') });
});

it.each(['INT', 'TERM', 'QUIT', 'USR2'])('restores echo when SIG%s ends the key prompt', async (signal) => {
  const login = [...PROGRAM, 'login', '--base-url', 'http://127.0.0.1:9']
    .map((word) => `'${word}'`)
    .join(' ');
  const script = `(sh -c 'echo pid=$$. && exec "$@"' - ${login}); stty -a`;
  const terminal = inTerminal('sh', ['-c', script], { env: { HOME: tempFolder() } });
  await terminal.shown('(not shown)');
  process.kill(Number(/pid=(\d+)\./.exec(terminal.output())?.[1]), `SIG${signal}`);
  expect((await terminal.ended).output).toMatch(/ echo /);
});

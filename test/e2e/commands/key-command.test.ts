import { describe, expect, it } from 'vitest';
import { runKeyCommand } from '../../../src/app/key-command.ts';
import { splitWords } from '../../../src/util/shell.ts';

describe.skipIf(process.platform === 'win32')('runKeyCommand', () => {
  const env = { ...process.env, RESTAURANT_API_KEY: 'saved' };
  const run = (
    words: readonly [string, ...string[]],
    timeoutMs?: number,
    signal = new AbortController().signal,
  ) => runKeyCommand({ context: { env, platform: process.platform, signal } }, words, timeoutMs);

  it('runs the command without a shell and without the key of the environment', async () => {
    const script = 'printenv RESTAURANT_API_KEY; echo "$1"';
    expect(await run(['sh', '-c', script, 'sh', '$(x) y'])).toBe('$(x) y');
  });

  it('stops a command that does not end', async () => {
    await expect(run(['sleep', '60'], 100)).rejects.toMatchObject({
      code: 'no_key',
      message: expect.stringContaining('within 100ms'),
    });
  });

  it('stops its command when the run is aborted', async () => {
    const abort = new AbortController();
    const running = run(['sleep', '60'], undefined, abort.signal);
    setTimeout(() => abort.abort(new Error('stopped')), 50);
    await expect(running).rejects.toThrow('stopped');
  });
});

it.each([
  ['op read op://vault/key', ['op', 'read', 'op://vault/key']],
  [`  a 'b c' "d \\" e" f\\ g $HOME `, ['a', 'b c', 'd " e', 'f g', '$HOME']],
  [`''`, ['']],
  ['', []],
  ['a "b', undefined],
])('splitWords splits %j', (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

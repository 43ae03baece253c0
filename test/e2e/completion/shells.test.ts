import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMAND, start } from '../../helpers/process.ts';
import { runCli } from '../../helpers/program.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { inTerminal } from '../../helpers/terminal.ts';

/** Those that can be installed from Debian. */
const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** A folder with files to complete, and `restaurant` on the PATH. */
const home = tempFolder();
const cwd = join(home, 'work');
const bin = join(home, 'bin');
for (const folder of [bin, join(cwd, 'some dir')]) mkdirSync(folder, { recursive: true });
writeFileSync(join(bin, 'restaurant'), `#!/bin/sh\nexec ${COMMAND} "$@"\n`);
chmodSync(join(bin, 'restaurant'), 0o755);
const HOSTILE = ['evil$(touch ran).csv', 'x;touch ran;#.json', 'quo"te\'s`touch ran`.json'];
for (const file of ['my file.csv', 'some dir/a b.json', ...HOSTILE]) writeFileSync(join(cwd, file), '');
const env = { HOME: home, PATH: `${bin}${delimiter}${process.env.PATH}` };
for (const shell of SHELLS) {
  writeFileSync(join(home, `c.${shell}`), (await runCli(['completion', shell])).stdout);
}

function has(shell: Shell): boolean {
  try {
    execFileSync(shell, ['-c', 'exit 0'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns whether to skip the tests of a shell that is not installed. They fail if all shells are required. */
const missing = (shell: Shell): boolean => process.env.RESTAURANT_REQUIRE_SHELLS !== '1' && !has(shell);

/** Runs lines in a shell that has loaded its completion script. */
async function inShell(shell: Shell, options: readonly string[], lines: readonly string[]): Promise<string> {
  const script = [`source '${join(home, `c.${shell}`)}'`, ...lines].join('\n');
  const { exit, stdout, stderr } = await start(shell, [...options, '-c', script], { env, cwd }).ended;
  expect([exit, stderr]).toEqual([0, '']);
  return stdout;
}

describe.skipIf(missing('bash')).concurrent('in bash', () => {
  it('fills COMPREPLY', async () => {
    const replies = [
      ['restaurant fi', 'fi', 'find|'],
      ['restaurant find x --format=j', 'j', 'json|'],
      ['restaurant find x --fo rest', '', '|'],
      ['restaurant call x a=@my', '@my', '@my\\ file.csv|'],
      ['restaurant call x a=@so', '@so', '@some\\ dir/|'],
      ['restaurant find x -oev', '-oev', '-oevil\\$\\(touch\\ ran\\).csv|'],
      ['restaurant call x a=@x', '@x', '@x\\;touch\\ ran\\;#.json|'],
      ['restaurant call x "a=@quo', 'a=@quo', 'a=@quo\\"te\'s\\`touch ran\\`.json|'],
      ["restaurant call x 'a=@quo", 'a=@quo', `a=@quo"te'\\''s\`touch ran\`.json|`],
      ['restaurant enrich x -o ', '', '|'],
      ['restaurant find "$(touch ran)" `touch ran` --ci', '--ci', '--city|'],
    ] as const;
    // Calls it as readline does: with the line up to the cursor, and the part of the word to replace.
    const asked = replies.map(
      ([line, word]) =>
        `COMP_LINE=${quoted(line)} COMP_POINT=${line.length} COMP_TYPE=9; _restaurant restaurant ${quoted(word)}; printf '%s|' "\${COMPREPLY[@]}"; echo`,
    );
    const words = `unset COMP_LINE; COMP_WORDS=(restaurant config se); COMP_CWORD=2; _restaurant; echo "\${COMPREPLY[@]}"`;
    const script = ['compopt() { :; }', ...asked, words, 'complete -p restaurant'];
    expect((await inShell('bash', ['--norc'], script)).split('\n')).toEqual([
      ...replies.map(([, , reply]) => reply),
      'set',
      'complete -o nosort -F _restaurant restaurant',
      '',
    ]);
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });
});

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

describe.skipIf(missing('fish'))('in fish', () => {
  it('complete -C lists the candidates', async () => {
    const replies = {
      'restaurant fi': 'find\tSearch restaurants by name and city\n',
      'restaurant --json fi': 'find\tSearch restaurants by name and city\n',
      'restaurant find x --format=js': '--format=json\n',
      'restaurant call x "a=@my': 'a=@my file.csv\n',
    };
    const lines = Object.keys(replies).map((line) => `complete -C${quoted(line)}; echo ==`);
    const text = await inShell('fish', ['--no-config'], lines);
    expect(text.split('==\n')).toEqual([...Object.values(replies), '']);
  });
});

/** Starts an interactive shell, and waits until it has run a line. */
async function interactive(shell: Shell, options: readonly string[], load: string) {
  const terminal = inTerminal(shell, options, {
    env: { ...env, PS1: 'ready> ', TERM: 'xterm' },
    cwd,
    columns: 120,
  });
  // Its output shows that the shell is ready. The quotes distinguish it from the echo of the command line.
  terminal.type(`${load}; echo "lo""aded"\r`);
  await terminal.shown('loaded');
  return terminal;
}

/** Types each line and a TAB, and waits for the expected text on the screen. */
async function tab(
  shell: Shell,
  options: readonly string[],
  load: string,
  cases: readonly (readonly [string, string])[],
): Promise<void> {
  const terminal = await interactive(shell, options, load);
  for (const [line, shown] of cases) {
    terminal.type(`${line}\t`);
    await terminal.shown(shown);
    terminal.type('\u0005\u0015');
  }
  terminal.type('exit\r');
  await terminal.ended;
}

describe.concurrent('the TAB key', () => {
  const BASH = ['--norc', '--noprofile', '-i'];

  it.skipIf(missing('bash'))('in bash', async () => {
    await tab('bash', BASH, `source '${home}/c.bash'`, [
      ['restaurant fi', 'restaurant find '],
      ['restaurant enrich my', 'my\\ file.csv '],
    ]);
  });

  it.skipIf(missing('bash'))('in bash does not run a command in a file name', async () => {
    const load = `source '${home}/c.bash'; restaurant() { echo "argument: $*"; }`;
    const terminal = await interactive('bash', BASH, load);
    for (const [line, completed] of [
      ['restaurant find a -oev', 'find a -oevil$(touch ran).csv'],
      ['restaurant call t key=@x', 'call t key=@x;touch ran;#.json'],
      ['restaurant call t "key=@quo', 'call t key=@quo"te\'s`touch ran`.json'],
    ] as const) {
      terminal.type(`${line}\t`);
      await terminal.shown('touch');
      terminal.type('\r');
      await terminal.shown(`argument: ${completed}`);
    }
    terminal.type('exit\r');
    await terminal.ended;
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });

  it.skipIf(missing('zsh'))('in zsh, with descriptions', async () => {
    await tab('zsh', ['-f', '-i'], `autoload -U compinit; compinit -D; source '${home}/c.zsh'`, [
      ['restaurant co', 'Read and change settings'],
      ['restaurant find x --format=js', '=json'],
      ['restaurant find "a b" -o "my', '"my file.csv"'],
    ]);
  });

  it.skipIf(missing('fish'))('in fish, with descriptions', async () => {
    await tab('fish', ['--no-config', '-i'], `source '${home}/c.fish'`, [
      ['restaurant co', 'Read and change settings'],
      ['restaurant enrich my', 'my\\ file.csv'],
    ]);
  });
});

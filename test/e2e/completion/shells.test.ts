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

describe.each(SHELLS)('%s', (shell) => {
  it.skipIf(missing(shell))('accepts the script', async () => {
    const { exit, stderr } = await start(shell, ['-n', join(home, `c.${shell}`)], { env }).ended;
    expect([exit, stderr]).toEqual([0, '']);
  });
});

describe.skipIf(missing('bash')).concurrent('in bash', () => {
  it('fills COMPREPLY', async () => {
    // Calls it as readline does: with the line up to the cursor, and the part of the word to replace.
    const ask = (line: string, word: string) =>
      `COMP_LINE=${quoted(line)} COMP_POINT=${line.length} COMP_TYPE=9; _restaurant restaurant ${quoted(word)}; printf '%s|' "\${COMPREPLY[@]}"; echo`;
    const harness = 'compopt() { :; }';
    const words = `unset COMP_LINE; COMP_WORDS=(restaurant config se); COMP_CWORD=2; _restaurant; echo "\${COMPREPLY[@]}"`;
    const text = await inShell(
      'bash',
      ['--norc'],
      [
        harness,
        ask('restaurant fi', 'fi'),
        ask('restaurant find x --format=j', 'j'),
        ask('restaurant find x --fo rest', ''),
        ask('restaurant call x a=@my', '@my'),
        ask('restaurant call x a=@so', '@so'),
        ask('restaurant find x -oev', '-oev'),
        ask('restaurant call x a=@x', '@x'),
        ask('restaurant call x "a=@quo', 'a=@quo'),
        ask("restaurant call x 'a=@quo", 'a=@quo'),
        ask('restaurant enrich x -o ', ''),
        ask('restaurant find "$(touch ran)" `touch ran` --ci', '--ci'),
        words,
        'complete -p restaurant',
      ],
    );
    expect(text.split('\n')).toEqual([
      'find|',
      'json|',
      '|',
      '@my\\ file.csv|',
      '@some\\ dir/|',
      '-oevil\\$\\(touch\\ ran\\).csv|',
      '@x\\;touch\\ ran\\;#.json|',
      'a=@quo\\"te\'s\\`touch ran\\`.json|',
      `a=@quo"te'\\''s\`touch ran\`.json|`,
      '|',
      '--city|',
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
    const lines = [
      'restaurant fi',
      'restaurant --json fi',
      'restaurant find x --format=js',
      'restaurant call x "a=@my',
    ];
    const text = await inShell(
      'fish',
      ['--no-config'],
      lines.map((line) => `complete -C${quoted(line)}; echo ==`),
    );
    expect(text.split('==\n')).toEqual([
      'find\tSearch restaurants by name and city\n',
      'find\tSearch restaurants by name and city\n',
      '--format=json\n',
      'a=@my file.csv\n',
      '',
    ]);
  });
});

/** Types each line and a TAB into an interactive shell, and waits for the expected text on the screen. */
async function tab(
  shell: Shell,
  options: readonly string[],
  load: string,
  cases: readonly (readonly [string, string])[],
): Promise<void> {
  const terminal = inTerminal(shell, options, {
    env: { ...env, PS1: 'ready> ', TERM: 'xterm' },
    cwd,
    columns: 120,
  });
  // The output of a command shows that the shell is ready. The quotes distinguish it from the echo of the command line.
  const run = async (line: string, mark: string) => {
    terminal.type(`${line}; echo "${mark.slice(0, 2)}""${mark.slice(2)}"\r`);
    await terminal.shown(mark);
  };
  await run(load, 'loaded');
  for (const [line, shown] of cases) {
    terminal.type(`${line}\t`);
    await terminal.shown(shown);
    terminal.type('\u0005\u0015');
  }
  terminal.type('exit\r');
  await terminal.ended;
}

describe.concurrent('the TAB key', () => {
  it.skipIf(missing('bash'))('in bash', async () => {
    await tab('bash', ['--norc', '--noprofile', '-i'], `source '${home}/c.bash'`, [
      ['restaurant fi', 'restaurant find '],
      ['restaurant enrich my', 'my\\ file.csv '],
    ]);
  });

  it.skipIf(missing('bash'))('in bash does not run a command in a file name', async () => {
    const terminal = inTerminal('bash', ['--norc', '--noprofile', '-i'], {
      env: { ...env, PS1: 'ready> ', TERM: 'xterm' },
      cwd,
      columns: 120,
    });
    terminal.type(`source '${home}/c.bash'; restaurant() { echo "argument: $*"; }; echo loa""ded\r`);
    await terminal.shown('loaded');
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

import { describe, expect, it } from 'vitest';
import { SHELLS } from '../../../src/commands/completion.ts';
import { MCP_CLIENTS } from '../../../src/mcp/client-config/clients.ts';
import { FAULT_KINDS } from '../../../src/sandbox/faults.ts';
import { SETTING_NAMES } from '../../../src/settings/catalog.ts';
import { powerShellWord } from '../../../src/util/shell.ts';
import { TestFolder } from '../../helpers/files.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { useService } from '../../helpers/service.ts';
import { everyCommand, isGroup, optionsOf, readTree, wordsOf } from '../../helpers/tree.ts';

const tree = await readTree();
const { env, home } = newHome();
const service = useService({ mode: 'mcp' });

type Env = Readonly<Record<string, string>>;
const asked = async (shell: string, words: readonly string[], own: Env = env): Promise<string> => {
  const { exit, stdout, stderr } = await runCli(['completion', '--complete', shell, '--', ...words], {
    env: own,
  });
  expect([words, exit, stderr]).toEqual([words, 0, '']);
  return stdout;
};
/** Returns words as the script for PowerShell sends them. */
const typed = (...words: string[]): string => Buffer.from(JSON.stringify(words)).toString('base64');
/** Returns the candidates for the last word, with their descriptions. */
async function offered(words: readonly string[], own?: Env): Promise<Record<string, string>> {
  const lines = (await asked('fish', words, own)).split('\n').filter((line) => line !== '');
  return Object.fromEntries(lines.filter((line) => !line.startsWith('\t')).map((line) => line.split('\t')));
}
const names = async (...words: string[]): Promise<string[]> => Object.keys(await offered(words));
/** Returns the candidates that replace the current word of bash. */
const bash = async (line: string, word: string, type = '9'): Promise<string[]> =>
  (await asked('bash', [line, word, type])).split('\n').slice(0, -1);

const write = (path: string, text: string) => new TestFolder(home).write(path, text);

const CONFIG = '.config/restaurant/config.json';
const SAVED = '.local/share/restaurant/saved-api.example.com.answers.ndjson';

/** Stores the results of a search. */
function remember(rows: readonly (readonly [string, string])[]): void {
  const query = { name: 'x', city: 'SF' };
  const found = rows.map(([id, name]) => ({ service_id: id, name }));
  const search = { endpoint: 'demo', at: 1, query, rows: found };
  write('.local/state/restaurant/last-find.json', JSON.stringify(search));
}

it.each(SHELLS)('a completion script for %s is printed without other output', async (shell) => {
  const { exit, stdout, stderr } = await runCli(['completion', shell], { env });
  expect([exit, stderr]).toEqual([0, '']);
  expect(stdout).toContain(`restaurant completion --complete ${shell} --`);
});

describe('completion in PowerShell', () => {
  const replies = async (typed: string): Promise<unknown[]> => {
    const stdout = await asked('powershell', [typed]);
    expect(stdout).toMatch(/^[\n\x20-\x7e]*$/);
    return stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };
  it('replies with ASCII JSON, quoted where PowerShell needs it', async () => {
    expect(await replies(typed('mcp', 'config', 'claude-d'))).toEqual([
      { text: 'claude-desktop', name: 'claude-desktop', description: 'claude-desktop' },
    ]);
    remember([['id-1', "Chez “L'Été” $x"]]);
    expect((await replies(typed('lookup', '--demo', '')))[0]).toMatchObject({
      description: expect.stringContaining('Été'),
    });
    expect(powerShellWord("it's $x")).toBe("'it''s $x'");
  });

  it('names the path so far, and the characters before it', async () => {
    expect(await replies(typed('find', 'x', '--output=é/a b'))).toEqual([
      { before: '--output=', path: 'é/a b' },
    ]);
  });

  it('ignores what is not an array of words', async () => {
    for (const text of ['', 'x', typed().slice(1), Buffer.from('{"a":1}').toString('base64')])
      expect(await replies(text)).toEqual([]);
  });
});

describe('completion', () => {
  it('lists every command with its summary', async () => {
    const top = await offered(['']);
    for (const { name, summary } of tree.commands) expect(top[name]).toBe(summary);
    for (const group of everyCommand(tree.commands)) {
      for (const child of group.commands ?? []) {
        expect(await offered([...wordsOf(group), ''])).toMatchObject({
          [wordsOf(child).at(-1) ?? '']: child.summary,
        });
      }
    }
  });

  it('lists every option, long and short, where it is allowed, and its values', async () => {
    for (const command of everyCommand(tree.commands)) {
      const words = wordsOf(command);
      const options = await optionsOf(tree, command);
      const wanted = options.flatMap(({ name, short, description, choices }) => {
        const text = choices === undefined ? description : expect.stringContaining(description);
        return [name, short].flatMap((flag) => (flag === null ? [] : [[flag, text]]));
      });
      const help = { '--help': 'Show this help', '-h': 'Show this help' };
      if (!isGroup(command))
        expect(await offered([...words, '-'])).toEqual({ ...Object.fromEntries(wanted), ...help });
      for (const { name, short, choices } of options) {
        if (choices === undefined) continue;
        expect(await names(...words, name, '')).toEqual(choices);
        expect(await names(...words, `${name}=`)).toEqual(choices.map((each) => `${name}=${each}`));
        if (short !== null) expect(await names(...words, short, '')).toEqual(choices);
      }
    }
    expect(await names('-')).toEqual(expect.arrayContaining(['--json', '-j', '--version', '-V', '--help']));
  });

  it('lists the values of arguments', async () => {
    expect(await names('mcp', 'config', '')).toEqual(MCP_CLIENTS.map(({ name }) => name));
    expect(await names('completion', '')).toEqual(SHELLS);
    expect(await names('sandbox', '--fault', '')).toEqual(FAULT_KINDS);
    for (const verb of ['get', 'set', 'unset'])
      expect(await names('config', verb, '')).toEqual(SETTING_NAMES);
    expect(await names('config', 'set', 'format', '')).toContain('geojson');
    expect(await names('call', 'x', '--format', '')).not.toContain('html');
    expect(await names('config', 'set', 'city', '')).toEqual([]);
  });

  it('lists commands after help and schema, and nothing for free text', async () => {
    expect(await names('help', '')).toEqual(expect.arrayContaining(['find', 'exit-codes', 'formats']));
    expect(await names('help', 'config', '')).toEqual(['get', 'set', 'unset', 'list', 'profiles', 'path']);
    expect(await names('schema', '')).not.toContain('exit-codes');
    expect(await names('find', '')).toEqual([]);
    expect(await names('find', 'Nopa', '--city', '')).toEqual([]);
    expect(await names('--json', '')).toContain('find');
    expect(await names('--format', 'json', '-q', 'mcp', '')).toEqual(['config']);
    expect(await names('find', '--', '-')).toEqual([]);
    expect(await names('no-such-command', '')).not.toContain('find');
    // After the last argument, only options that were not given are listed.
    const left = await names('find', 'Nopa', '--city', 'SF', '');
    expect(left).toContain('--limit');
    expect(left).not.toContain('--city');
    expect(await names('raw', 'x', '-f', 'a=b', '-')).toContain('--field');
  });

  it('completes files where one is expected', async () => {
    for (const [words, head, path] of [
      [['enrich', 'a'], '', 'a'],
      [['find', 'x', '-o', 'out'], '', 'out'],
      [['find', 'x', '-oout'], '-o', 'out'],
      [['find', 'x', '--output=some\\ dir/'], '--output=', 'some dir/'],
      [['login', '--key-file', ''], '', ''],
      [['sandbox', '--data', ''], '', ''],
      [['raw', 'x', '@p'], '@', 'p'],
      [['call', 'x', '--args', '@p'], '@', 'p'],
      [['call', 'x', '"text=@my f'], 'text=@', 'my f'],
    ] as const) {
      expect([words, await asked('fish', words)]).toEqual([words, `\tfiles\t${head}\t${path}\n`]);
    }
    expect(await asked('zsh', ['find', 'x', '--output=o'])).toBe('\tfiles\t9\n');
    expect(await asked('zsh', ['raw', 'x', 'p'])).toBe('');
    expect(await asked('zsh', ['call', 'x', 'a=b'])).toBe('');
  });
});

describe('completion from local files', () => {
  it('lists the rows of the last find by number, and by id when a prefix is typed', async () => {
    remember([
      ['place:1', 'Nopa'],
      ['b2', 'Blue "Door"'],
      ['c3', 'C:\\x'],
    ]);
    expect(await offered(['lookup', '--demo', ''])).toEqual({ 1: 'Nopa', 2: 'Blue "Door"', 3: 'C:\\x' });
    expect(await offered(['lookup', '--demo', 'p'])).toMatchObject({ 'place:1': 'Nopa', 2: 'Blue "Door"' });
    expect(await asked('zsh', ['lookup', '--demo', 'p'])).toMatch(/^3:C:\\\\x\nplace\\:1:Nopa$/m);
    // The search used the demo: its rows do not exist in another service.
    expect(await offered(['lookup', '--endpoint', 'https://mcp.example.com', ''])).toEqual({});
    expect(await bash('restaurant lookup --demo ', '', '63')).toEqual([
      '1  (Nopa)',
      '2  (Blue "Door")',
      '3  (C:\\x)',
    ]);
    expect(await bash('restaurant lookup --demo ', '')).toEqual(['1', '2', '3']);
  });

  it('lists saved restaurants by id', async () => {
    const saved = {
      id: '1',
      at: '2026-11-01T12:00:00Z',
      save: { id: 'b2' },
      restaurant: { name: 'Blue "Door"' },
    };
    const header = { restaurant: 'answers', version: 1, service: 'api.example.com' };
    write(SAVED, `${JSON.stringify(header)}\n${JSON.stringify(saved)}\n`);
    for (const command of ['unsave', 'changes'])
      expect(await offered([command, ''])).toMatchObject({ b2: 'Blue "Door"' });
    write(SAVED, '{');
    expect(await offered(['unsave', ''])).toEqual({});
  });

  it('describes rows with equal names differently, so that zsh keeps their order', async () => {
    remember([
      ['a7c1e5d2-3f84', 'Golden Crane'],
      ['b1000000-0000', 'Nopa'],
      ['c2000000-0000', 'Golden Crane'],
    ]);
    expect(await offered(['lookup', '--demo', ''])).toEqual({
      1: 'Golden Crane (a7c1e5d2)',
      2: 'Nopa',
      3: 'Golden Crane (c2000000)',
    });
  });

  it('lists only harmless text', async () => {
    remember([
      ['$(touch x)', 'a'],
      ['a\nb', 'c'],
      ['ok', '\u001b]0;x\u0007bad\tname\nfiles\u202e'],
      ['x\u001b[2J', 'd'],
    ]);
    const ofShell: Record<string, string[]> = {
      bash: ['restaurant lookup --demo o', 'o', '9'],
      powershell: [typed('lookup', '--demo', 'o')],
    };
    for (const shell of SHELLS) {
      const text = await asked(shell, ofShell[shell] ?? ['lookup', '--demo', 'o']);
      expect(text).toContain('ok');
      expect(text).not.toMatch(/[^\n\t\P{C}]|touch|^\tfiles/mu);
    }
    expect((await offered(['lookup', '--demo', 'o'])).ok).toBe('^[]0;x^Gbad name files');
    expect(await bash('restaurant lookup --demo o', 'o')).toEqual(['ok']);
  });

  it('lists the profiles of the config file', async () => {
    write(CONFIG, '{"profiles":{"work":{},"x\\u001by":{},"home":{}}}');
    expect(await names('find', '--profile', '')).toEqual(['work', 'home']);
    expect(await names('config', 'set', 'profile', '')).toEqual(['work', 'home']);
    write(CONFIG, '{"profiles":');
    const words = ['completion', '--complete', 'zsh', '--', '--profile', ''];
    expect(await runCli(words, { env })).toEqual({ exit: 1, stdout: '', stderr: '' });
  });

  it('lists the cached tools, else the documented ones, without a request', async () => {
    const documented = ['find_restaurant', 'lookup_restaurant'];
    const ask = async (...words: string[]) => Object.keys(await offered(words, service.env));
    expect(await ask('call', '')).toEqual(documented);
    service.sent();
    await service.run(['tools']);
    expect(service.sent()).toBeGreaterThan(0);
    expect(await ask('call', '')).toEqual(expect.arrayContaining([...documented, 'explore_area']));
    expect(await ask('tools', '')).toContain('explore_area');
    expect(service.sent()).toBe(0);
  });
});

describe('a bash line', () => {
  it.each([
    ['restaurant fi', 'fi', ['find']],
    ['restaurant --json fi', 'fi', ['find']],
    ['restaurant find x --format=j', 'j', ['json']],
    ['restaurant find x --format=j', '--format=j', ['--format=json']],
    ['restaurant find x --format "j', 'j', ['json']],
    ["restaurant find 'a b' --ci", '--ci', ['--city']],
    ['restaurant find a\\ b --ci', '--ci', ['--city']],
    ['restaurant find "a \\" b" --ci', '--ci', ['--city']],
    ['restaurant find x > o', 'o', ['\tfiles\t0\t\to']],
    ['restaurant find x 2> err --ci', '--ci', ['--city']],
    ['restaurant find x --output=o', 'o', ['\tfiles\t0\t\to']],
    ['restaurant call x a=@o', '@o', ['\tfiles\t1\t\to']],
    ['restaurant call x "a=@o', 'a=@o', ['\tfiles\t3\t"\to']],
    ['restaurant find x --nothing-like-it', '--nothing-like-it', []],
  ])('%s', async (line, word, wanted) => {
    expect(await bash(line, word)).toEqual(wanted);
  });

  it('keeps the quoting of the typed word', async () => {
    remember([['place:1', 'x']]);
    expect(await bash('restaurant lookup --demo place:', '')).toEqual(['1']);
    write(CONFIG, '{"profiles":{"my work":{}}}');
    expect(await bash('restaurant find --profile my', 'my')).toEqual(['my\\ work']);
    expect(await bash('restaurant find --profile my\\ w', 'my\\ w')).toEqual(['my\\ work']);
    expect(await bash('restaurant find --profile "my w', 'my w')).toEqual(['my work']);
  });
});

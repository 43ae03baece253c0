import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { windowsWord } from '../../src/util/shell.ts';
import { TestFolder } from '../helpers/files.ts';
import { restaurant } from '../helpers/process.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { cmd, envWith, installCommand } from './installed.ts';

const FIND = 'restaurant find Nopa --city SF --demo';

describe('in cmd.exe', () => {
  it('a pipe passes results from find to lookup', async () => {
    const options = { env: envWith(installCommand()), cwd: tempFolder() };
    const { exit, stdout, stderr } = await cmd(`${FIND} | restaurant lookup - --demo --json`, options);
    expect([exit, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toHaveLength(3);
  });

  it('find stores its rows in %LOCALAPPDATA% for lookup', async () => {
    const { XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME, HOME, ...env } = envWith(installCommand());
    const options = { env, cwd: tempFolder() };
    expect((await cmd(FIND, options)).exit).toBe(0);
    expect(readdirSync(join(env.LOCALAPPDATA ?? '', 'restaurant'))).toEqual(['cache', 'state']);
    expect((await cmd('restaurant lookup 1 --demo', options)).exit).toBe(0);
    expect((await cmd('restaurant config set city Bern', options)).exit).toBe(0);
    expect(existsSync(join(env.APPDATA ?? '', 'restaurant', 'config.json'))).toBe(true);
  });

  it('a quoted word arrives as it is, through a launcher of npm, too', async () => {
    const print = 'process.stdout.write(JSON.stringify(process.argv.slice(2)))';
    const script = new TestFolder().write('print.js', print);
    const options = { env: envWith(installCommand('print', script)), cwd: tempFolder() };
    const words = [
      'a b',
      "it's",
      'a"b',
      'a&b',
      'a|b<c>d',
      '(x)',
      'C:\\a b\\',
      '\\\\server\\share\\',
      '^',
      'é',
    ];
    const line = words.map((word) => windowsWord(word)).join(' ');
    for (const program of [`"${process.execPath}" ${windowsWord(script)}`, 'print'])
      expect(JSON.parse((await cmd(`${program} ${line}`, options)).stdout)).toEqual(words);
  });
});

describe('key-command', () => {
  const login = (command: string, env: Record<string, string>) =>
    restaurant(['config', 'set', 'key-command', command], { env });
  const whoami = (env: Record<string, string>, cwd?: string) => {
    const words = ['status', '--check', '--json', '--base-url', 'http://127.0.0.1:9', '--retries', '0'];
    return restaurant(words, { env, ...(cwd === undefined ? {} : { cwd }) });
  };

  it.each(['an .exe', 'a .cmd with its path', 'a .cmd on the PATH'])('runs %s', async (kind) => {
    const files = new TestFolder();
    const script = files.write(
      'key.js',
      `require('fs').writeFileSync(__dirname + '/seen', JSON.stringify(process.argv.slice(2)));
       console.log('sk_service_demo_paid');`,
    );
    const folder = installCommand('vault', script);
    const env = envWith(folder);
    const program = {
      'an .exe': `'${process.execPath}' '${script}'`,
      'a .cmd with its path': `'${join(folder, 'vault.cmd')}'`,
      'a .cmd on the PATH': 'vault',
    }[kind];
    const saved = await login(`${program} read 'a b&c'`, env);
    expect([saved.exit, saved.stderr]).toEqual([0, '']);
    const { stdout, stderr } = await whoami(env);
    expect(`${stdout}${stderr}`).not.toContain('key-command:');
    expect(JSON.parse(files.read('seen'))).toEqual(['read', 'a b&c']);
  });

  it('runs no program of the current folder, which may be a cloned repository', async () => {
    const repository = new TestFolder();
    for (const name of ['vault.cmd', 'vault.bat', 'cmd.exe'])
      repository.write(name, '@ECHO off\r\nECHO. > ran\r\nECHO sk_service_demo_paid\r\n');
    const env = envWith(tempFolder());
    expect((await login('vault', env)).exit).toBe(0);
    const { stdout, stderr } = await whoami(env, repository.path);
    expect(`${stdout}${stderr}`).toContain('key-command: vault was not found');
    expect(repository.list()).not.toContain('ran');
  });
});

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseToml } from '@decimalturn/toml-patch';
import { parse as parseJsonc } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { openProtocolMemory } from '../../../src/app/address.ts';
import { clientPaths } from '../../../src/mcp/client-config/client-file.ts';
import { MCP_CLIENTS, type McpClient } from '../../../src/mcp/client-config/clients.ts';
import { newHome, type RunOptions, runCli } from '../../helpers/program.ts';
import { playSessions } from '../../helpers/session.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const KEY = 'sk_service_literal_secret_1234';
const NAMES = MCP_CLIENTS.map(({ name }) => name);

interface Entries {
  readonly client: string;
  readonly file: string;
  readonly http?: object;
  readonly stdio: object;
}

/** The files that each client expects, written out: users rely on them. */
const ENTRIES: readonly Entries[] = readFileSync(join(import.meta.dirname, 'entries.ndjson'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

const parsed = (client: string, text: string): unknown =>
  JSON.parse(JSON.stringify(client === 'codex' ? parseToml(text) : parseJsonc(text)));

/** A home with a project in it, and a configured service that is never called. */
function openHome(own: Record<string, string> = {}) {
  const { home, env } = newHome();
  const at = (path: string): string => join(home, path);
  function put(path: string, text: string): void {
    mkdirSync(dirname(at(path)), { recursive: true, mode: 0o700 });
    writeFileSync(at(path), text, { mode: 0o600 });
  }
  mkdirSync(at('proj'));
  // A command on the PATH, because the program warns when there is none.
  put('path/restaurant', '#!/bin/sh\n');
  put('.config/restaurant/config.json', '{"profiles":{"default":{"base_url":"https://api.example.com"}}}');
  return {
    at,
    put,
    read: (path: string) => readFileSync(at(path), 'utf8'),
    run: (...words: string[]) =>
      runCli(['mcp', 'config', ...words], { cwd: at('proj'), env: { ...env, PATH: at('path'), ...own } }),
  };
}

playSessions(join(import.meta.dirname, 'config.session'), {
  commands: {
    show: (home, path = '') => {
      const value = parsed(path.endsWith('.toml') ? 'codex' : '', readFileSync(join(home, path), 'utf8'));
      return `${JSON.stringify(value)}\n`;
    },
    detected: (home, era = '') => {
      const folder = join(home, '../.local/state/restaurant');
      openProtocolMemory(folder, 'https://api.example.com/api/mcp').write({ era });
      return '';
    },
  },
});

it('supports twelve clients', () => {
  expect(NAMES).toEqual(ENTRIES.map(({ client }) => client));
  expect(NAMES).toHaveLength(12);
});

describe.each(ENTRIES)('$client', (shape) => {
  const { client: name } = shape;
  const wanted = shape.stdio;

  it('prints the entry, writes it with --write, and changes nothing the second time', async () => {
    const { run, at, read } = openHome();
    const { exit, stdout, stderr } = await run(name);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    const [document = ''] = stdout.split('\n\n');
    expect(parsed(name, document)).toEqual(wanted);
    expect(existsSync(at(shape.file))).toBe(false);
    const first = await run(name, '--write', '--json');
    expect(first).toMatchObject({ exit: 0, stderr: '' });
    const [{ restaurant: entry }] = Object.values(wanted) as [{ restaurant: object }];
    const summary = { client: name, via: 'stdio', file: at(shape.file), entry, written: true };
    expect(JSON.parse(first.stdout)).toMatchObject(summary);
    expect(JSON.parse(first.stdout)).not.toHaveProperty('backup');
    const text = read(shape.file);
    expect(parsed(name, text)).toEqual(wanted);
    const again = await run(name, '--write', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ written: false });
    expect(read(shape.file)).toBe(text);
  });

  it('prints an http entry with the variable of the key, and never writes it', async () => {
    const { run, at } = openHome();
    const { exit, stdout, stderr } = await run(name, '--via', 'http');
    if (shape.http === undefined) {
      expect([exit, stderr]).toEqual([2, expect.stringContaining(`restaurant mcp config ${name}`)]);
      return;
    }
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(parsed(name, stdout)).toEqual(shape.http);
    const refused = await run(name, '--via', 'http', '--write');
    expect([refused.exit, refused.stderr]).toEqual([
      2,
      expect.stringContaining(`hint: restaurant mcp config ${name} --write`),
    ]);
    expect(existsSync(at(shape.file))).toBe(false);
  });

  it('takes the entry back with --remove, and changes nothing else', async () => {
    const { run, put, read } = openHome();
    const [servers = ''] = Object.keys(wanted);
    const isToml = name === 'codex';
    const before = isToml
      ? '# mine\n[mcp_servers.other]\ncommand = "x"\n'
      : `{\n  // mine\n  "${servers}": { /* first */\n    "other": { "command": "x" }, // about it\n  }\n}\n`;
    put(shape.file, before);
    const nothing = await run(name, '--remove', '--json');
    expect(JSON.parse(nothing.stdout)).toMatchObject({ client: name, written: false });
    await run(name, '--write');
    const { exit, stdout } = await run(name, '--remove');
    expect(exit).toBe(0);
    expect(stdout).toContain('removed restaurant from ');
    expect(read(shape.file)).toBe(before);
  });

  it('never contains the key', async () => {
    const { run, read } = openHome({ RESTAURANT_API_KEY: KEY });
    const outputs = await Promise.all([run(name), run(name, '--json'), run(name, '--via', 'http')]);
    await run(name, '--write');
    expect(JSON.stringify([outputs, read(shape.file)])).not.toContain(KEY);
  });
});

it('prints the entry that most clients read for one that it does not know, and a command for it', async () => {
  const { run } = openHome();
  const { exit, stdout } = await run('goose', '--json');
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    client: 'goose',
    via: 'stdio',
    entry: { command: 'restaurant', args: ['mcp'] },
    command: "npx add-mcp 'restaurant mcp'",
    written: false,
  });
  const refused = await run('goose', '--write');
  expect([refused.exit, refused.stderr]).toEqual([
    2,
    expect.stringContaining('restaurant mcp config goose\n'),
  ]);
});

describe('an entry of another program', () => {
  const FOREIGN = { command: 'npx', args: ['other'], env: { TOKEN: 'secret' } };
  const file = '.cursor/mcp.json';
  const put = (home: ReturnType<typeof openHome>) =>
    home.put(file, JSON.stringify({ mcpServers: { restaurant: FOREIGN } }));

  it('is replaced, and kept in the backup by --remove and by later writes', async () => {
    const home = openHome();
    put(home);
    const { stderr } = await home.run('cursor', '--write');
    expect(stderr).toContain('replaced an entry of another program');
    expect(JSON.parse(home.read(file)).mcpServers.restaurant).toEqual({
      command: 'restaurant',
      args: ['mcp'],
    });
    await home.run('cursor', '--write', '--profile', 'default');
    await home.run('cursor', '--remove');
    expect(JSON.parse(home.read(file))).toEqual({});
    expect(JSON.parse(home.read(`${file}.bak`)).mcpServers.restaurant).toEqual(FOREIGN);
  });
});

describe('a command that the client may not find', () => {
  const env = (path: string) => ({ HOME: '/Users/u', PATH: path });
  const entry = async (name: string, options: RunOptions) => {
    const { stdout, exit, stderr } = await runCli(
      ['mcp', 'config', name, '--demo', '--json', '--scope', 'user'],
      {
        cwd: tempFolder(),
        ...options,
      },
    );
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    return JSON.parse(stdout).entry;
  };

  it('has its path for programs with windows on macOS, with the folder of Node.js', async () => {
    const bin = tempFolder();
    writeFileSync(join(bin, 'restaurant'), '#!/bin/sh\n');
    const mac = { platform: 'darwin', env: env(bin) } as const;
    const args = ['mcp', '--demo'];
    const PATH = `${bin}:/usr/bin:/bin:/usr/sbin:/sbin`;
    for (const name of ['claude-desktop', 'cursor', 'windsurf']) {
      expect(await entry(name, mac)).toEqual({ command: join(bin, 'restaurant'), args, env: { PATH } });
    }
    expect(await entry('gemini', mac)).toEqual({ command: 'restaurant', args });
    const executable = { ...mac, executable: '/opt/restaurant' };
    expect(await entry('cursor', executable)).toEqual({ command: join(bin, 'restaurant'), args });
  });

  it.each([
    ['linux', '/opt/restaurant/restaurant'],
    ['win32', 'C:\\Tools\\restaurant.exe'],
  ] as const)('is the executable if it is not on the PATH: %s', async (platform, executable) => {
    const options = { platform, executable, env: env('/nowhere'), homedir: () => 'C:\\Users\\u' };
    expect(await entry('cursor', options)).toEqual({ command: executable, args: ['mcp', '--demo'] });
  });
});

describe('the files of Claude Desktop on Windows', () => {
  const context = {
    platform: 'win32',
    env: { APPDATA: 'C:\\R', LOCALAPPDATA: 'C:\\L' },
    homedir: () => 'C:\\U',
    cwd: () => 'C:\\U',
  } as const;
  const client = MCP_CLIENTS.find(({ name }) => name === 'claude-desktop') as McpClient;
  const old = 'C:\\R\\Claude\\claude_desktop_config.json';
  const store = 'C:\\L\\Packages\\Claude_pzs8\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json';

  it.each([
    ['without either', [], false, [old]],
    ['with the program alone', ['Other_1'], true, [old]],
    ['with the package of the Store', ['Other_1', 'Claude_pzs8'], false, [store]],
    ['with both', ['Claude_pzs8'], true, [old, store]],
  ])('%s', (_name, packages, isInstalled, files) => {
    const disk = {
      list: (folder: string) => (folder === 'C:\\L\\Packages' ? packages : []),
      exists: (path: string) => isInstalled && path === 'C:\\R\\Claude',
    };
    expect(clientPaths(client, 'user', context, disk)).toEqual(files);
  });
});

it.each([
  ['cursor', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
  ['codex', `a = ${'['.repeat(200_000)}${']'.repeat(200_000)}`],
])('rejects a file of %s that is nested 200,000 levels deep', async (name, text) => {
  const { run, put } = openHome();
  put(ENTRIES.find(({ client }) => client === name)?.file ?? '', text);
  const { exit, stderr } = await run(name, '--write', '--json');
  expect(exit).toBe(2);
  expect(JSON.parse(stderr).error.code).toBe('bad_config');
});

describe('the path of the file', () => {
  const place = async (name: string, options: RunOptions) => {
    const { stdout } = await runCli(
      ['mcp', 'config', name, '--via', 'stdio', '--json', '--scope', 'user'],
      // Some of the homes do not exist.
      { cwd: tempFolder(), ...options },
    );
    return JSON.parse(stdout).file;
  };
  const mac = { platform: 'darwin', env: { HOME: '/Users/u' } } as const;
  const windows = {
    platform: 'win32',
    env: { APPDATA: 'C:\\Users\\u\\AppData\\Roaming' },
    homedir: (): string => 'C:\\Users\\u',
  } as const;

  it.each([
    ['claude-desktop', mac, '/Users/u/Library/Application Support/Claude/claude_desktop_config.json'],
    ['claude-desktop', windows, 'C:\\Users\\u\\AppData\\Roaming\\Claude\\claude_desktop_config.json'],
    ['vscode', mac, '/Users/u/Library/Application Support/Code/User/mcp.json'],
    ['vscode', windows, 'C:\\Users\\u\\AppData\\Roaming\\Code\\User\\mcp.json'],
    ['vscode', { env: { HOME: '/home/u' } }, '/home/u/.config/Code/User/mcp.json'],
    ['zed', mac, '/Users/u/.config/zed/settings.json'],
    ['zed', windows, 'C:\\Users\\u\\AppData\\Roaming\\Zed\\settings.json'],
    ['zed', { env: { HOME: '/home/u', XDG_CONFIG_HOME: '/conf' } }, '/conf/zed/settings.json'],
    ['zed', { env: { HOME: '/home/u', APPDATA: '/wine/AppData' } }, '/home/u/.config/zed/settings.json'],
    ['codex', { env: { HOME: '/home/u', CODEX_HOME: '/codex' } }, '/codex/config.toml'],
    ['codex', { env: { HOME: '/home/u', CODEX_HOME: 'relative' } }, '/home/u/.codex/config.toml'],
    ['claude-code', { env: { HOME: '/home/u' } }, '/home/u/.claude.json'],
    ['copilot-cli', windows, 'C:\\Users\\u\\.copilot\\mcp-config.json'],
    ['opencode', { env: { HOME: '/home/u' } }, '/home/u/.config/opencode/opencode.jsonc'],
    ['gemini', { env: {}, homedir: (): string => '/home/passwd' }, '/home/passwd/.gemini/settings.json'],
  ])('%s', async (name, options, path) => {
    expect(await place(name, options)).toBe(path);
  });

  const env = { NoDefaultCurrentDirectoryInExePath: '1' };
  it.each([
    ['claude-code', { type: 'stdio', command: 'cmd', args: ['/c', 'restaurant', 'mcp', '--demo'], env }],
    ['claude-desktop', { command: 'cmd', args: ['/c', 'restaurant', 'mcp', '--demo'], env }],
    [
      'opencode',
      {
        type: 'local',
        enabled: true,
        command: ['cmd', '/c', 'restaurant', 'mcp', '--demo'],
        environment: env,
      },
    ],
  ])('starts the command of npm on Windows, not one of the current folder: %s', async (name, entry) => {
    const words = ['mcp', 'config', name, '--via', 'stdio', '--demo', '--json', '--scope', 'user'];
    const { stdout } = await runCli(words, { cwd: tempFolder(), ...windows });
    expect(JSON.parse(stdout).entry).toEqual(entry);
  });

  it('names no address that cmd.exe would change', async () => {
    const words = ['mcp', 'config', 'cursor', '--via', 'stdio', '--base-url', 'http://127.0.0.1/a&b'];
    const { exit, stderr } = await runCli(words, { cwd: tempFolder(), ...windows });
    expect([exit, stderr]).toEqual([2, expect.stringContaining('cmd.exe')]);
    expect(stderr).toContain('restaurant mcp config cursor --via stdio --profile <name>');
  });

  it('is an error without a home folder', async () => {
    const nowhere = {
      env: {},
      homedir: (): string => {
        throw new Error('no home');
      },
    };
    expect(await runCli(['mcp', 'config', 'claude-desktop', '--write'], nowhere)).toMatchObject({ exit: 2 });
  });
});

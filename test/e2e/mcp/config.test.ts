import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseToml } from '@decimalturn/toml-patch';
import { parse as parseJsonc } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { MCP_CLIENTS } from '../../../src/mcp/client-config/clients.ts';
import { openProtocolStore } from '../../../src/storage/state.ts';
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
      openProtocolStore(folder, 'https://api.example.com/api/mcp').write({ era });
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
  const wanted = (name === 'cline' ? undefined : shape.http) ?? shape.stdio;

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
    const via = wanted === shape.http ? 'http' : 'stdio';
    const summary = { client: name, via, file: at(shape.file), entry, written: true };
    expect(JSON.parse(first.stdout)).toMatchObject(summary);
    expect(JSON.parse(first.stdout)).not.toHaveProperty('backup');
    const text = read(shape.file);
    expect(parsed(name, text)).toEqual(wanted);
    const again = await run(name, '--write', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ written: false });
    expect(read(shape.file)).toBe(text);
  });

  it('writes a stdio entry, and switches to http and back', async () => {
    const { run, read } = openHome();
    expect(await run(name, '--via', 'stdio', '--write')).toMatchObject({ exit: 0 });
    expect(parsed(name, read(shape.file))).toEqual(shape.stdio);
    if (shape.http === undefined) return;
    await run(name, '--via', 'http', '--write');
    expect(parsed(name, read(shape.file))).toEqual(shape.http);
    await run(name, '--via', 'stdio', '--write');
    expect(parsed(name, read(shape.file))).toMatchObject(shape.stdio);
  });

  it('takes the entry back with --remove, and changes nothing else', async () => {
    const { run, put, read } = openHome();
    const [servers = ''] = Object.keys(wanted);
    const isToml = name === 'codex';
    const before = isToml
      ? '# mine\n[mcp_servers.other]\ncommand = "x"\n'
      : `{\n  // mine\n  "${servers}": {\n    "other": { "command": "x" }\n  }\n}\n`;
    put(shape.file, before);
    const nothing = await run(name, '--remove', '--json');
    expect(JSON.parse(nothing.stdout)).toMatchObject({ client: name, written: false });
    await run(name, '--write');
    const { exit, stdout } = await run(name, '--remove');
    expect(exit).toBe(0);
    expect(stdout).toContain('removed restaurant from ');
    expect(parsed(name, read(shape.file))).toEqual({
      ...(parsed(name, before) as object),
      ...(name === 'vscode' ? { inputs: [] } : {}),
    });
    expect(read(shape.file)).toContain('mine');
  });

  it('never contains the key unless requested', async () => {
    const { run, read } = openHome({ RESTAURANT_API_KEY: KEY });
    const outputs = await Promise.all([run(name), run(name, '--json'), run(name, '--via', 'stdio')]);
    await run(name, '--write');
    expect(JSON.stringify([outputs, read(shape.file)])).not.toContain(KEY);
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

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parse as parseToml } from '@decimalturn/toml-patch';
import { parse as parseJsonc } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { MCP_CLIENTS } from '../../../src/mcp/client-config/clients.ts';
import { openProtocolStore } from '../../../src/storage/state.ts';
import { newHome, type RunOptions, runCli } from '../../helpers/program.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const URL = 'https://api.example.com/api/mcp';
const KEY = 'sk_service_literal_secret_1234';
const NAMES = MCP_CLIENTS.map(({ name }) => name);

const reference = (text: string) => ({ Authorization: `Bearer ${text}` });

/** The structure that each client expects, written out: users rely on it. */
const SHAPES: Readonly<Record<string, { file: string; http?: object; stdio: object; inputs?: object[] }>> = {
  'claude-code': {
    file: 'proj/.mcp.json',
    http: {
      mcpServers: { restaurant: { type: 'http', url: URL, headers: reference(`\${RESTAURANT_API_KEY}`) } },
    },
    stdio: { mcpServers: { restaurant: { type: 'stdio', command: 'restaurant', args: ['mcp'] } } },
  },
  'claude-desktop': {
    file: '.config/Claude/claude_desktop_config.json',
    stdio: { mcpServers: { restaurant: { command: 'restaurant', args: ['mcp'] } } },
  },
  cursor: {
    file: '.cursor/mcp.json',
    http: { mcpServers: { restaurant: { url: URL, headers: reference(`\${env:RESTAURANT_API_KEY}`) } } },
    stdio: { mcpServers: { restaurant: { command: 'restaurant', args: ['mcp'] } } },
  },
  vscode: {
    file: 'proj/.vscode/mcp.json',
    http: {
      servers: { restaurant: { type: 'http', url: URL, headers: reference(`\${input:restaurant-key}`) } },
      inputs: [
        {
          type: 'promptString',
          id: 'restaurant-key',
          description: 'API key of the restaurant service',
          password: true,
        },
      ],
    },
    stdio: { servers: { restaurant: { type: 'stdio', command: 'restaurant', args: ['mcp'] } } },
  },
  windsurf: {
    file: '.codeium/windsurf/mcp_config.json',
    http: {
      mcpServers: { restaurant: { serverUrl: URL, headers: reference(`\${env:RESTAURANT_API_KEY}`) } },
    },
    stdio: { mcpServers: { restaurant: { command: 'restaurant', args: ['mcp'] } } },
  },
  codex: {
    file: '.codex/config.toml',
    http: { mcp_servers: { restaurant: { url: URL, bearer_token_env_var: 'RESTAURANT_API_KEY' } } },
    stdio: { mcp_servers: { restaurant: { command: 'restaurant', args: ['mcp'] } } },
  },
  gemini: {
    file: '.gemini/settings.json',
    http: {
      mcpServers: { restaurant: { url: URL, type: 'http', headers: reference('$RESTAURANT_API_KEY') } },
    },
    stdio: { mcpServers: { restaurant: { command: 'restaurant', args: ['mcp'] } } },
  },
  zed: {
    file: '.config/zed/settings.json',
    stdio: { context_servers: { restaurant: { command: 'restaurant', args: ['mcp'] } } },
  },
  'copilot-cli': {
    file: '.copilot/mcp-config.json',
    http: {
      mcpServers: {
        restaurant: { type: 'http', url: URL, headers: reference(`\${RESTAURANT_API_KEY}`), tools: ['*'] },
      },
    },
    stdio: {
      mcpServers: { restaurant: { type: 'local', command: 'restaurant', args: ['mcp'], tools: ['*'] } },
    },
  },
  opencode: {
    file: '.config/opencode/opencode.jsonc',
    http: {
      mcp: {
        restaurant: {
          type: 'remote',
          url: URL,
          enabled: true,
          oauth: false,
          headers: reference('{env:RESTAURANT_API_KEY}'),
        },
      },
    },
    stdio: { mcp: { restaurant: { type: 'local', command: ['restaurant', 'mcp'], enabled: true } } },
  },
  cline: {
    file: '.cline/data/settings/cline_mcp_settings.json',
    http: {
      mcpServers: {
        restaurant: {
          url: URL,
          type: 'streamableHttp',
          headers: reference(`\${env:RESTAURANT_API_KEY}`),
          disabled: false,
        },
      },
    },
    stdio: { mcpServers: { restaurant: { command: 'restaurant', args: ['mcp'], disabled: false } } },
  },
  roo: {
    file: 'proj/.roo/mcp.json',
    http: {
      mcpServers: {
        restaurant: { type: 'streamable-http', url: URL, headers: reference(`\${env:RESTAURANT_API_KEY}`) },
      },
    },
    stdio: { mcpServers: { restaurant: { command: 'restaurant', args: ['mcp'] } } },
  },
};

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const parsed = (client: string, text: string): unknown =>
  plain(client === 'codex' ? parseToml(text) : parseJsonc(text));

/** A home with a project in it, and a configured service that is never called. */
function openHome(own: Record<string, string> = {}) {
  const { home, env } = newHome();
  const cwd = join(home, 'proj');
  mkdirSync(cwd);
  // A command on the PATH, because the program warns when there is none.
  const bin = join(home, 'path');
  mkdirSync(bin);
  writeFileSync(join(bin, 'restaurant'), '#!/bin/sh\n');
  const all = { ...env, PATH: bin, ...own };
  mkdirSync(join(home, '.config/restaurant'), { recursive: true, mode: 0o700 });
  writeFileSync(
    join(home, '.config/restaurant/config.json'),
    JSON.stringify({ profiles: { default: { base_url: 'https://api.example.com' } } }),
    { mode: 0o600 },
  );
  return {
    home,
    cwd,
    at: (path: string) => join(home, path),
    read: (path: string) => readFileSync(join(home, path), 'utf8'),
    put(path: string, text: string, mode = 0o644) {
      const file = join(home, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      chmodSync(file, mode);
      return file;
    },
    run: (argv: readonly string[], options: RunOptions = {}) =>
      runCli(['mcp', 'config', ...argv], { cwd, env: all, ...options }),
  };
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

it('supports twelve clients', () => {
  expect(NAMES).toEqual(Object.keys(SHAPES));
  expect(NAMES).toHaveLength(12);
});

describe.each(NAMES)('%s', (name) => {
  const shape = SHAPES[name] ?? { file: '', stdio: {} };
  const wanted = (name === 'cline' ? undefined : shape.http) ?? shape.stdio;

  it('prints the entry and writes nothing', async () => {
    const { run, at } = openHome();
    const { exit, stdout, stderr } = await run([name]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    const [document = ''] = stdout.split('\n\n');
    expect(parsed(name, document)).toEqual(wanted);
    expect(existsSync(at(shape.file))).toBe(false);
  });

  it('writes the entry, and changes nothing the second time', async () => {
    const { run, at, read } = openHome();
    const first = await run([name, '--write', '--json']);
    expect(first).toMatchObject({ exit: 0, stderr: '' });
    const [servers = ''] = Object.keys(wanted);
    const { restaurant } = (wanted as Record<string, { restaurant: object }>)[servers] ?? {};
    expect(JSON.parse(first.stdout)).toMatchObject({
      client: name,
      via: wanted === shape.http ? 'http' : 'stdio',
      file: at(shape.file),
      entry: restaurant,
      written: true,
    });
    expect(JSON.parse(first.stdout)).not.toHaveProperty('backup');
    const text = read(shape.file);
    expect(parsed(name, text)).toEqual(wanted);
    const again = await run([name, '--write', '--json']);
    expect(JSON.parse(again.stdout)).toMatchObject({ written: false });
    expect(read(shape.file)).toBe(text);
  });

  it('writes a stdio entry', async () => {
    const { run, read } = openHome();
    expect(await run([name, '--via', 'stdio', '--write'])).toMatchObject({ exit: 0 });
    expect(parsed(name, read(shape.file))).toEqual(shape.stdio);
  });

  it.runIf(shape.http !== undefined)('switches between http and stdio', async () => {
    const { run, read } = openHome();
    await run([name, '--via', 'stdio', '--write']);
    await run([name, '--via', 'http', '--write']);
    expect(parsed(name, read(shape.file))).toEqual(shape.http);
    await run([name, '--via', 'stdio', '--write']);
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
    const nothing = await run([name, '--remove', '--json']);
    expect(JSON.parse(nothing.stdout)).toMatchObject({ client: name, written: false });
    await run([name, '--write']);
    const { exit, stdout } = await run([name, '--remove']);
    expect(exit).toBe(0);
    expect(stdout).toContain('removed restaurant from ');
    expect(parsed(name, read(shape.file))).toEqual({
      ...(parsed(name, before) as object),
      ...(name === 'vscode' ? { inputs: [] } : {}),
    });
    expect(read(shape.file)).toContain('mine');
    expect((await run([name, '--remove', '--write'])).exit).toBe(2);
  });

  it('never contains the key unless requested', async () => {
    const { run, read } = openHome({ RESTAURANT_API_KEY: KEY });
    const outputs = await Promise.all([run([name]), run([name, '--json']), run([name, '--via', 'stdio'])]);
    await run([name, '--write']);
    expect(JSON.stringify([outputs, read(shape.file)])).not.toContain(KEY);
  });

  it('rejects an invalid file and leaves it unchanged', async () => {
    const { run, put, read, at } = openHome();
    const text = '{"mcpServers": {';
    put(shape.file, text);
    const { exit, stdout, stderr } = await run([name, '--write', '--json']);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'bad_config',
      message: expect.stringContaining(`cannot edit ${at(shape.file)}: `),
    });
    expect(read(shape.file)).toBe(text);
    expect(existsSync(at(`${shape.file}.bak`))).toBe(false);
  });
});

describe('--write', () => {
  it('keeps comments and other entries, writes a backup and shows the entry', async () => {
    const { run, put, read } = openHome();
    const before = '{\n  // mine\n  "mcpServers": {\n    "other": { "command": "x" } // keep\n  }\n}\n';
    const file = put('.cursor/mcp.json', before, 0o640);
    const { exit, stdout, stderr } = await run(['cursor', '--write']);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    const after = read('.cursor/mcp.json');
    for (const kept of ['// mine', '"other": { "command": "x" }', '// keep']) expect(after).toContain(kept);
    expect(read('.cursor/mcp.json.bak')).toBe(before);
    expect([modeOf(file), modeOf(`${file}.bak`)]).toEqual([0o640, 0o640]);
    const [first = '', ...entry] = stdout.split('\n');
    expect(first).toBe(`wrote ${file}; the previous version is in ${file}.bak:`);
    expect(parsed('cursor', entry.join('\n'))).toEqual(SHAPES.cursor?.http);
  });

  it('keeps the previous version as the only backup', async () => {
    const { run, put, read, at } = openHome();
    const file = put('.cursor/mcp.json', '{"version":0}');
    for (const version of [1, 2]) {
      const { stdout } = await run(['cursor', '--write', '--json']);
      expect(JSON.parse(stdout).backup).toBe(`${file}.bak`);
      put('.cursor/mcp.json', `{"version":${version}}`);
    }
    expect(read('.cursor/mcp.json.bak')).toBe('{"version":1}');
    expect(existsSync(at('.cursor/mcp.json.bak.2'))).toBe(false);
  });

  it('replaces a link that has the name of the backup, and writes nothing through it', async () => {
    const { run, put, read, at } = openHome();
    put('.cursor/mcp.json', '{"a":1}');
    symlinkSync(at('.profile'), at('.cursor/mcp.json.bak'));
    expect(await run(['cursor', '--write'])).toMatchObject({ exit: 0 });
    expect(existsSync(at('.profile'))).toBe(false);
    expect(read('.cursor/mcp.json.bak')).toBe('{"a":1}');
  });

  it('shows nothing of other entries', async () => {
    const { run, put } = openHome();
    put('.cursor/mcp.json', '{"mcpServers":{"github":{"env":{"GITHUB_TOKEN":"ghp_secret"}}}}');
    const { exit, stdout } = await run(['cursor', '--write']);
    expect(exit).toBe(0);
    expect(stdout).not.toContain('ghp_secret');
    put('.cursor/mcp.json', '{"mcpServers":{"restaurant":{"command":"x","env":{"T":"ghp_secret"}}}}');
    const over = await run(['cursor', '--write']);
    expect(over.stdout).toContain(`"url": "${URL}"`);
    expect(over.stdout).not.toContain('ghp_secret');
  });

  it('prints the entry as it is in the file, without the secrets in it', async () => {
    const { run, put, read } = openHome();
    const old = {
      command: 'x',
      cwd: '/c',
      env: { T: 'ghp_secret', NODE_OPTIONS: '-r x' },
      autoApprove: ['a'],
      apiKey: 'ghp_secret',
      options: { token: 'ghp_secret', retries: 2 },
    };
    put('.cursor/mcp.json', JSON.stringify({ mcpServers: { restaurant: old } }));
    const own = { command: 'restaurant', args: ['mcp'] };
    const words = ['cursor', '--via', 'stdio', '--write'];
    const { stdout } = await run(words);
    const masked = {
      ...{ ...old, ...own, env: { T: '…', NODE_OPTIONS: '…' }, apiKey: '…' },
      options: { token: '…', retries: 2 },
    };
    expect(JSON.parse(stdout.slice(stdout.indexOf('{'))).mcpServers.restaurant).toEqual(masked);
    expect(JSON.parse((await run([...words, '--json'])).stdout)).toMatchObject({
      written: false,
      entry: masked,
    });
    expect(JSON.parse(read('.cursor/mcp.json')).mcpServers.restaurant).toEqual({ ...old, ...own });
  });

  it.each([
    ['cursor', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
    ['codex', `a = ${'['.repeat(200_000)}${']'.repeat(200_000)}`],
  ])('rejects a file of %s that is nested 200,000 levels deep', async (name, text) => {
    const { run, put } = openHome();
    put(SHAPES[name]?.file ?? '', text);
    const { exit, stderr } = await run([name, '--write', '--json']);
    expect(exit).toBe(2);
    expect(JSON.parse(stderr).error.code).toBe('bad_config');
  });

  it('creates user files with mode 0600 and project files with mode 0644', async () => {
    const { run, at } = openHome();
    await run(['cursor', '--write']);
    await run(['vscode', '--write']);
    expect(modeOf(at('.cursor/mcp.json'))).toBe(0o600);
    expect(modeOf(at('proj/.vscode/mcp.json')) & 0o600).toBe(0o600);
  });

  it('follows a link of the user in a user file', async () => {
    const { run, put, at, read } = openHome();
    const real = put('dotfiles/mcp.json', '{}');
    mkdirSync(at('.cursor'));
    symlinkSync(real, at('.cursor/mcp.json'));
    await run(['cursor', '--write']);
    expect(read('dotfiles/mcp.json')).toContain('restaurant');
  });

  it('names the folder that it cannot write to', async () => {
    const { run, put } = openHome();
    put('.cursor', 'a file where a folder should be');
    const { exit, stderr } = await run(['cursor', '--write']);
    expect(exit).toBe(9);
    expect(stderr).toContain('.cursor');
  });
});

describe('a project file', () => {
  it.each([
    ['.mcp.json', 'target.json'],
    ['.mcp.json.bak', '.bash_profile'],
  ])('is not written when %s is a link', async (link, target) => {
    const { run, at, put, read } = openHome();
    put('target.json', '{"secret":1}');
    if (link !== '.mcp.json') put('proj/.mcp.json', '{}');
    symlinkSync(at(target), at(`proj/${link}`));
    const { exit, stdout, stderr } = await run(['claude-code', '--write', '--via', 'stdio']);
    expect({ exit, stdout }).toEqual({ exit: 9, stdout: '' });
    expect(stderr).toContain(`${link} is a symbolic link`);
    expect(stderr).not.toContain('rm ');
    expect(read('target.json')).toBe('{"secret":1}');
    expect(existsSync(at('.bash_profile'))).toBe(false);
  });

  it('is not written when its folder is a link', async () => {
    const { run, at } = openHome();
    mkdirSync(at('elsewhere'));
    symlinkSync(at('elsewhere'), at('proj/.vscode'));
    expect(await run(['vscode', '--write', '--via', 'stdio'])).toMatchObject({ exit: 9, stdout: '' });
    expect(existsSync(at('elsewhere/mcp.json'))).toBe(false);
  });

  it('that was written on Windows is replaced', async () => {
    const { run, put, read } = openHome();
    const env = { NoDefaultCurrentDirectoryInExePath: '1' };
    const restaurant = { type: 'stdio', command: 'cmd', args: ['/c', 'restaurant', 'mcp'], env };
    put('proj/.mcp.json', JSON.stringify({ mcpServers: { restaurant } }));
    expect(await run(['claude-code', '--via', 'stdio', '--write'])).toMatchObject({ exit: 0 });
    expect(parsed('claude-code', read('proj/.mcp.json'))).toEqual(SHAPES['claude-code']?.stdio);
  });

  it.each([
    ['opencode', 'proj/opencode.jsonc', SHAPES.opencode?.stdio],
    ['codex', 'proj/.codex/config.toml', SHAPES.codex?.stdio],
    // Claude Code reads the same file, and rejects other types and `tools`.
    ['copilot-cli', 'proj/.mcp.json', SHAPES['claude-code']?.stdio],
    ['zed', 'proj/.zed/settings.json', SHAPES.zed?.stdio],
  ])('is supported for %s', async (name, file, shape) => {
    const { run, read } = openHome();
    expect(await run([name, '--scope', 'project', '--via', 'stdio', '--write'])).toMatchObject({ exit: 0 });
    expect(parsed(name, read(file))).toEqual(shape);
  });

  it.each(['http', 'stdio'] as const)('of Copilot CLI is valid for Claude Code: %s', async (via) => {
    const { run, put, read } = openHome();
    const words = ['--scope', 'project', '--via', via, '--write'];
    const shape = SHAPES['claude-code']?.[via];
    for (const name of ['copilot-cli', 'claude-code']) {
      put('proj/.mcp.json', '{"mcpServers":{"restaurant":{"type":"local","command":"x","tools":["*"]}}}');
      await run([name, ...words]);
      expect(JSON.parse(read('proj/.mcp.json'))).toEqual(shape);
    }
    const { stderr } = await run(['copilot-cli', ...words], { tty: { stderr: true } });
    expect(stderr).toContain('trusted folders');
  });

  it('of OpenCode is the one that exists', async () => {
    const { run, put, read } = openHome();
    put('proj/opencode.json', '{}');
    await run(['opencode', '--scope', 'project', '--via', 'stdio', '--write']);
    expect(parsed('opencode', read('proj/opencode.json'))).toEqual(SHAPES.opencode?.stdio);
  });
});

describe('an entry that somebody else wrote', () => {
  const list = (servers: string, entry: object) => JSON.stringify({ [servers]: { restaurant: entry } });

  it.each([
    [
      'gemini',
      'stdio',
      list('mcpServers', { url: 'http://old', type: 'http', headers: { a: 'b' }, trust: true }),
      { command: 'restaurant', args: ['mcp'], trust: true },
    ],
    [
      'cline',
      'stdio',
      list('mcpServers', { transport: { type: 'streamableHttp', url: 'http://old' }, autoApprove: ['a'] }),
      { command: 'restaurant', args: ['mcp'], disabled: false, autoApprove: ['a'] },
    ],
    [
      'roo',
      'http',
      list('mcpServers', { command: 'x', args: [], env: { A: '1' }, timeout: 60 }),
      { type: 'streamable-http', url: URL, headers: reference(`\${env:RESTAURANT_API_KEY}`), timeout: 60 },
    ],
    [
      'windsurf',
      'http',
      list('mcpServers', { url: 'http://old/', disabledTools: ['a'] }),
      { serverUrl: URL, headers: reference(`\${env:RESTAURANT_API_KEY}`), disabledTools: ['a'] },
    ],
    [
      'cursor',
      'stdio',
      list('mcpServers', { type: 'http', url: 'http://old/', headers: { Authorization: 'Bearer x' } }),
      { command: 'restaurant', args: ['mcp'] },
    ],
    [
      'copilot-cli',
      'stdio',
      list('mcpServers', { type: 'local', command: 'x', env: { A: '1' }, cwd: '/c', tools: ['a'] }),
      { type: 'local', command: 'restaurant', args: ['mcp'], tools: ['a'], env: { A: '1' }, cwd: '/c' },
    ],
    [
      'codex',
      'http',
      '[mcp_servers.restaurant]\ncommand = "x"\ncwd = "/c"\nenv_vars = ["A"]\nstartup_timeout_sec = 9\n[mcp_servers.restaurant.env]\nA = "1"\n',
      { url: URL, bearer_token_env_var: 'RESTAURANT_API_KEY', startup_timeout_sec: 9 },
    ],
    [
      'codex',
      'stdio',
      '[mcp_servers.restaurant]\nurl = "http://old"\nscopes = ["a"]\n[mcp_servers.restaurant.env_http_headers]\nA = "B"\n',
      { command: 'restaurant', args: ['mcp'] },
    ],
  ])('of %s loses every key of another transport when %s is written', async (name, via, text, entry) => {
    const { run, put, read } = openHome();
    const { file = '' } = SHAPES[name] ?? {};
    put(file, text);
    expect(await run([name, '--via', via, '--write'])).toMatchObject({ exit: 0 });
    const [servers] = Object.values(parsed(name, read(file)) as Record<string, { restaurant: object }>);
    expect(servers?.restaurant).toEqual(entry);
  });

  it('keeps the environment of a stdio entry', async () => {
    const { run, put, read } = openHome();
    put('.cursor/mcp.json', list('mcpServers', { command: 'old', env: { HTTPS_PROXY: 'http://p' } }));
    await run(['cursor', '--via', 'stdio', '--write']);
    expect(JSON.parse(read('.cursor/mcp.json')).mcpServers.restaurant).toEqual({
      command: 'restaurant',
      args: ['mcp'],
      env: { HTTPS_PROXY: 'http://p' },
    });
  });

  it('that is disabled is reported', async () => {
    const { run, put } = openHome();
    put('.codex/config.toml', '[mcp_servers.restaurant]\nurl = "http://a"\nenabled = false\n');
    const { stderr } = await run(['codex', '--write'], { tty: { stderr: true } });
    expect(stderr).toContain('the entry is disabled');
  });
});

describe('the default transport', () => {
  const detected = (era: string) => {
    const { home, run, ...rest } = openHome();
    const folder = join(home, '.local/state/restaurant');
    openProtocolStore(folder, URL).write({ era });
    return { run, ...rest };
  };

  it('is stdio when the service was detected to support only plain requests', async () => {
    const { run } = detected('bare');
    expect(JSON.parse((await run(['cursor', '--json'])).stdout).via).toBe('stdio');
    expect(JSON.parse((await run(['cursor', '--via', 'http', '--json'])).stdout).via).toBe('http');
    const { stderr } = await run(['cursor', '--via', 'http', '--write']);
    expect(stderr.replace(/\s+/g, ' ')).toContain('restaurant mcp config cursor --write --via stdio');
    expect(JSON.parse((await run(['cursor', '--protocol', '2025-11-25', '--json'])).stdout).via).toBe('http');
  });

  it('is http when it was detected to support MCP, or was never used', async () => {
    expect(JSON.parse((await detected('legacy').run(['cursor', '--json'])).stdout).via).toBe('http');
    expect(JSON.parse((await openHome().run(['cursor', '--json'])).stdout).via).toBe('http');
  });

  it('is stdio for --protocol bare', async () => {
    const { stdout } = await openHome().run(['cursor', '--protocol', 'bare', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      via: 'stdio',
      entry: { args: ['mcp', '--protocol', 'bare'] },
    });
  });
});

describe('the config folder', () => {
  it.each([
    ['cursor', { XDG_CONFIG_HOME: '/x' }, { env: { RESTAURANT_CONFIG_DIR: '/x/restaurant' } }],
    ['cursor', { RESTAURANT_CONFIG_DIR: '/conf' }, { env: { RESTAURANT_CONFIG_DIR: '/conf' } }],
    ['opencode', { RESTAURANT_CONFIG_DIR: '/conf' }, { environment: { RESTAURANT_CONFIG_DIR: '/conf' } }],
  ])('of %s with %j is part of a stdio entry', async (name, own, entry) => {
    const { stdout } = await openHome(own).run([name, '--via', 'stdio', '--json']);
    expect(JSON.parse(stdout).entry).toMatchObject(entry);
  });

  it('of an earlier run is replaced, and removed with its variable', async () => {
    const { home, run, read } = openHome({ RESTAURANT_CONFIG_DIR: '/old' });
    const env = () => JSON.parse(read('.cursor/mcp.json')).mcpServers.restaurant.env;
    await run(['cursor', '--via', 'stdio', '--write']);
    expect(env()).toEqual({ RESTAURANT_CONFIG_DIR: '/old' });
    const words = ['cursor', '--via', 'stdio', '--write'];
    await run(words, { env: { HOME: home, RESTAURANT_CONFIG_DIR: '/new' } });
    expect(env()).toEqual({ RESTAURANT_CONFIG_DIR: '/new' });
    await run(words, { env: { HOME: home } });
    expect(env()).toBeUndefined();
  });

  it('is not part of a project file, nor when it is relative or default', async () => {
    const project = await openHome({ RESTAURANT_CONFIG_DIR: '/conf' }).run([
      'roo',
      '--via',
      'stdio',
      '--json',
    ]);
    expect(JSON.parse(project.stdout).entry).not.toHaveProperty('env');
    const relative = await openHome({ XDG_CONFIG_HOME: 'conf' }).run(['cursor', '--via', 'stdio', '--json']);
    expect(JSON.parse(relative.stdout).entry).not.toHaveProperty('env');
  });
});

describe('the variables that the bridge needs', () => {
  const PROXY = 'http://proxy.example:3128';
  const SECRET_PROXY = 'http://u:hunter2@proxy.example:3128';
  async function write(name: string, own: Record<string, string>, ...words: string[]) {
    const opened = openHome(own);
    const headers = { 'x-gate': `\${GATE}` };
    const profiles = { default: { base_url: 'https://api.example.com', headers } };
    opened.put('.config/restaurant/config.json', JSON.stringify({ profiles }), 0o600);
    const argv = [name, '--via', 'stdio', ...words];
    const { stderr } = await opened.run([...argv, '--write']);
    const { entry } = JSON.parse((await opened.run([...argv, '--json'])).stdout);
    return { entry, stderr };
  }

  it('are named for codex, which reads them when it starts the bridge', async () => {
    const { entry, stderr } = await write('codex', {
      GATE: 'open',
      HTTPS_PROXY: SECRET_PROXY,
      no_proxy: 'a',
    });
    expect(entry.env_vars).toEqual(['HTTPS_PROXY', 'no_proxy', 'GATE']);
    expect(stderr).toBe('');
  });

  it('include the key, if it is in a variable', async () => {
    const { entry } = await write('codex', { RESTAURANT_API_KEY: KEY });
    expect(entry.env_vars).toEqual(['RESTAURANT_API_KEY']);
    expect(JSON.stringify(entry)).not.toContain(KEY);
  });

  it.each(['claude-desktop', 'gemini'])('are reported when %s does not pass them on', async (name) => {
    const own = { GATE_TOKEN: 'x', GATE: 'open', NODE_EXTRA_CA_CERTS: '/ca.pem', ALL_PROXY: SECRET_PROXY };
    const { entry, stderr } = await write(name, own);
    expect(entry.env).toEqual({ NODE_EXTRA_CA_CERTS: '/ca.pem' });
    const missing = 'claude-desktop does not pass ALL_PROXY and GATE to the bridge';
    expect(stderr.includes(missing)).toBe(name === 'claude-desktop');
    expect(JSON.stringify([entry, stderr])).not.toContain('hunter2');
  });

  it.each(['claude-desktop', 'gemini', 'roo'])(
    'include the key for %s, unless one is saved',
    async (name) => {
      const { run, put } = openHome({ RESTAURANT_API_KEY: KEY });
      const words = [name, '--via', 'stdio', '--scope', 'user', '--write'];
      const { stderr } = await run(words);
      expect(stderr).toBe(
        `warning: ${name} does not pass RESTAURANT_API_KEY to the bridge; save the key: restaurant login\n`,
      );
      const profiles = { default: { base_url: 'https://api.example.com', key: KEY } };
      put('.config/restaurant/config.json', JSON.stringify({ profiles }), 0o600);
      expect((await run(words)).stderr).toBe('');
    },
  );

  it('are written as proxy addresses without a password, never into a project file', async () => {
    const user = await write('roo', { HTTPS_PROXY: PROXY, NO_PROXY: 'localhost' }, '--scope', 'user');
    expect(user).toEqual({
      entry: { command: 'restaurant', args: ['mcp'], env: { HTTPS_PROXY: PROXY, NO_PROXY: 'localhost' } },
      stderr: '',
    });
    const project = await write('roo', { HTTPS_PROXY: PROXY });
    expect(project.entry).not.toHaveProperty('env');
    expect(project.stderr).toContain('roo does not pass HTTPS_PROXY to the bridge');
  });

  it('are left alone for clients that pass all of them on', async () => {
    const { entry } = await write('cursor', { GATE: 'open', HTTPS_PROXY: PROXY });
    expect(entry).toEqual({ command: 'restaurant', args: ['mcp'] });
  });
});

describe('the restaurant on the PATH', () => {
  const warned = async (files: Record<string, string>) => {
    const { put, run, at } = openHome();
    for (const [path, text] of Object.entries(files)) put(path, text, 0o755);
    const { stderr } = await run(['cursor', '--via', 'stdio'], {
      env: { HOME: at(''), PATH: at('bin') },
      tty: { stderr: true },
    });
    return stderr.replaceAll(at(''), '');
  };

  it('is reported when it is missing', async () => {
    const text = await warned({});
    expect(text).toContain('restaurant is not on the PATH');
    expect(text).not.toMatch(/npm install.* restaurant-/);
  });

  it('is reported when it belongs to another package', async () => {
    const files = {
      'bin/restaurant': '#!/bin/sh\n',
      'package.json': '{"name":"x","bin":{"restaurant":"y"}}',
    };
    expect((await warned(files)).replace(/\s+/g, ' ')).toContain('bin/restaurant is another program');
  });

  it('is accepted when it is this program, or of an unknown package', async () => {
    const own = { 'bin/restaurant': '#!/bin/sh\n', 'package.json': '{"name":"restaurant-data-cli"}' };
    expect(await warned(own)).not.toContain('warning');
    expect(await warned({ 'bin/restaurant': '#!/bin/sh\n' })).not.toContain('warning');
  });
});

describe('additional headers', () => {
  /** A home whose profile has these headers. */
  function withHeaders(headers: Record<string, string>, own: Record<string, string> = {}) {
    const opened = openHome(own);
    const profiles = { default: { base_url: 'https://api.example.com', headers } };
    opened.put('.config/restaurant/config.json', JSON.stringify({ profiles }), 0o600);
    return opened;
  }
  const SAVED = { 'X-Api-Key': `\${ACCESS_KEY}`, 'Accept-Language': 'en' };
  const entryOf = async (run: ReturnType<typeof openHome>['run'], ...words: string[]) => {
    const { exit, stdout, stderr } = await run([...words, '--via', 'http', '--json']);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    return JSON.parse(stdout).entry;
  };

  it('refer to variables in the syntax of the client', async () => {
    const { run } = withHeaders(SAVED);
    expect(await entryOf(run, 'cursor')).toEqual({
      url: URL,
      headers: { 'X-Api-Key': `\${env:ACCESS_KEY}`, 'Accept-Language': 'en' },
    });
    expect((await entryOf(run, 'opencode')).headers['X-Api-Key']).toBe('{env:ACCESS_KEY}');
    expect((await entryOf(run, 'gemini')).headers['X-Api-Key']).toBe('$ACCESS_KEY');
    expect(await entryOf(run, 'codex')).toEqual({
      url: URL,
      http_headers: { 'Accept-Language': 'en' },
      env_http_headers: { 'X-Api-Key': 'ACCESS_KEY' },
    });
  });

  it('are sent beside the key, when there is one', async () => {
    const { run } = withHeaders(SAVED, { RESTAURANT_API_KEY: KEY });
    expect((await entryOf(run, 'cursor')).headers).toEqual({
      ...reference(`\${env:RESTAURANT_API_KEY}`),
      'X-Api-Key': `\${env:ACCESS_KEY}`,
      'Accept-Language': 'en',
    });
    expect(await entryOf(run, 'codex')).toMatchObject({ bearer_token_env_var: 'RESTAURANT_API_KEY' });
  });

  it('are never written with a literal value unless requested', async () => {
    const { run, at } = withHeaders({ 'X-Api-Key': 'secret-value' });
    const { exit, stderr } = await run(['cursor', '--via', 'http', '--write']);
    expect(exit).toBe(2);
    expect(stderr).toContain(`restaurant config set header.X-Api-Key '\${VARIABLE}'`);
    expect(stderr).not.toContain('secret-value');
    expect(existsSync(at('.cursor/mcp.json'))).toBe(false);
    expect(await run(['cursor', '--via', 'stdio'])).toMatchObject({ exit: 0 });
  });

  it('are written with their values by --literal-key, and masked in the output', async () => {
    const { run, read, at } = withHeaders(SAVED, { ACCESS_KEY: 'secret-value' });
    const words = ['zed', '--via', 'http'];
    expect(await run(words.concat('--literal-key', '--json'))).toMatchObject({ exit: 0 });
    const { exit, stdout, stderr } = await run(words.concat('--literal-key', '--write'));
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(read('.config/zed/settings.json')).toContain('"X-Api-Key": "secret-value"');
    expect(modeOf(at('.config/zed/settings.json'))).toBe(0o600);
    expect(stdout).toContain('"Accept-Language": "en"');
    expect(stdout).not.toContain('secret-value');
  });

  it('are rejected for a client that cannot read variables', async () => {
    const { run } = withHeaders({ 'X-Team': `a \${B}` });
    const { exit, stderr } = await run(['codex', '--via', 'http']);
    expect(exit).toBe(2);
    expect(stderr).toContain('codex cannot read the header X-Team from a variable');
  });

  it('of the profile are not written for another service', async () => {
    const { run } = withHeaders(SAVED);
    const entry = await entryOf(run, 'cursor', '--base-url', 'https://other.example');
    expect(entry.headers).not.toHaveProperty('X-Api-Key');
  });
});

describe('--literal-key', () => {
  const withKey = () => openHome({ RESTAURANT_API_KEY: KEY });

  it('writes the key into a file that only the user can read, and never prints it', async () => {
    const { run, put, read } = withKey();
    const file = put('.config/zed/settings.json', '// zed\n{ "theme": "One" }\n', 0o644);
    const printed = await run(['zed', '--literal-key']);
    expect(printed.stdout).toContain('"url"');
    const { exit, stdout, stderr } = await run(['zed', '--literal-key', '--write']);
    expect(exit).toBe(0);
    const json = await run(['zed', '--literal-key', '--write', '--json']);
    expect(read('.config/zed/settings.json')).toContain(`"Bearer ${KEY}"`);
    expect(modeOf(file)).toBe(0o600);
    expect(JSON.stringify([printed, stdout, stderr, json])).not.toContain(KEY);
  });

  it('never prints a key that is replaced', async () => {
    const { run } = withKey();
    await run(['cursor', '--literal-key', '--write']);
    const { stdout } = await run(['cursor', '--write']);
    expect(stdout).toContain(`Bearer \${env:RESTAURANT_API_KEY}`);
    expect(stdout).not.toContain(KEY);
  });

  it('writes the header that codex reads', async () => {
    const { run, read } = withKey();
    await run(['codex', '--literal-key', '--write']);
    expect(parsed('codex', read('.codex/config.toml'))).toEqual({
      mcp_servers: { restaurant: { url: URL, http_headers: { Authorization: `Bearer ${KEY}` } } },
    });
    await run(['codex', '--write']);
    expect(read('.codex/config.toml')).not.toContain(KEY);
  });

  it('uses the user file when the default is a project file', async () => {
    const { run, at, read } = withKey();
    await run(['claude-code', '--literal-key', '--write']);
    expect(read('.claude.json')).toContain(KEY);
    expect(existsSync(at('proj/.mcp.json'))).toBe(false);
  });

  it.each([
    ['claude-code', '--scope', 'project'],
    ['cursor', '--scope', 'project'],
    ['roo', '--scope', 'project'],
  ])('rejects a project file: %s', async (...words) => {
    const { run, cwd } = withKey();
    const { exit, stderr } = await run([...words, '--literal-key', '--write']);
    expect(exit).toBe(2);
    expect(stderr).toContain('project file');
    expect(stderr).toContain('--scope user');
    expect(existsSync(join(cwd, '.mcp.json'))).toBe(false);
  });

  it('fails without a key', async () => {
    const { exit } = await openHome().run(['zed', '--literal-key']);
    expect(exit).toBe(4);
  });
});

describe('an unsupported request', () => {
  it.each([
    [['claude-desktop', '--via', 'http'], 'restaurant mcp config claude-desktop --via stdio'],
    [['zed', '--via', 'http'], 'restaurant mcp config zed --via stdio'],
    [['cursor', '--via', 'http', '--demo'], '--demo --via stdio'],
    [['cursor', '--via', 'stdio', '--literal-key'], '--via http'],
    [['windsurf', '--scope', 'project'], 'restaurant mcp config windsurf --scope user'],
    [['claude-desktop', '--literal-key'], 'leave out --literal-key'],
    [['cursr'], 'did you mean cursor'],
    [['cursor', '--via', 'pigeon'], 'http'],
  ])('names the alternative: %j', async (words, hint) => {
    const { exit, stdout, stderr } = await openHome().run(words, {
      env: {
        ...newHome().env,
        ...(words.includes('--demo') ? {} : { RESTAURANT_BASE_URL: 'https://a.example' }),
      },
    });
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' });
    expect(stderr).toContain(hint);
  });

  it('needs a service for http, but not for stdio', async () => {
    const { env } = newHome();
    expect(await runCli(['mcp', 'config', 'cursor'], { env })).toMatchObject({ exit: 2 });
    expect(await runCli(['mcp', 'config', 'cursor', '--via', 'stdio'], { env })).toMatchObject({ exit: 0 });
    expect(await runCli(['mcp', 'config', 'claude-desktop'], { env })).toMatchObject({ exit: 0 });
  });

  it('rejects plain http to a remote host', async () => {
    const { run } = openHome({ RESTAURANT_BASE_URL: 'http://api.example.com' });
    expect(await run(['cursor'])).toMatchObject({ exit: 2 });
    expect(await run(['cursor', '--insecure-http'])).toMatchObject({ exit: 0 });
  });
});

describe('the entry', () => {
  it('repeats the options of this run', async () => {
    const { env } = newHome();
    const words = ['--profile', 'work', '--base-url', 'https://b.example', '--protocol', 'bare'];
    const { stdout } = await runCli(['mcp', 'config', 'claude-desktop', '--json', ...words], { env });
    expect(JSON.parse(stdout).entry.args).toEqual([
      'mcp',
      '--profile',
      'work',
      '--base-url',
      'https://b.example',
      '--protocol',
      'bare',
    ]);
    const elsewhere = { ...env, RESTAURANT_BASE_URL: 'https://b.example', RESTAURANT_PROFILE: 'work' };
    const demo = await runCli(['mcp', 'config', 'cursor', '--json', '--demo'], { env: elsewhere });
    expect(JSON.parse(demo.stdout)).toMatchObject({ via: 'stdio', entry: { args: ['mcp', '--demo'] } });
  });

  it('repeats the values of environment variables', async () => {
    const { run } = openHome({ RESTAURANT_BASE_URL: 'https://c.example', RESTAURANT_PROFILE: 'work' });
    const { stdout } = await run(['claude-desktop', '--json']);
    expect(JSON.parse(stdout).entry.args).toEqual([
      'mcp',
      '--profile',
      'work',
      '--base-url',
      'https://c.example',
    ]);
  });

  it('comes with the command of Claude Code for it', async () => {
    const { run } = openHome();
    const { stdout, stderr } = await run(['claude-code', '--scope', 'user', '--no-color'], {
      tty: { stdout: true, stderr: true },
    });
    expect(JSON.parse(stdout)).toHaveProperty('mcpServers');
    expect(stderr).toContain(
      `or run: claude mcp add-json --scope user restaurant '{"type":"http","url":"${URL}","headers":{"Authorization":"Bearer \${RESTAURANT_API_KEY}"}}'\n`,
    );
    const stdio = await run(['claude-code', '--via', 'stdio', '--profile', 'work', '--json']);
    expect(JSON.parse(stdio.stdout).command).toBe(
      `claude mcp add-json --scope project restaurant '{"type":"stdio","command":"restaurant","args":["mcp","--profile","work"]}'`,
    );
  });

  it.each([
    ['codex', '--via', 'stdio'],
    ['claude-code', '--via', 'stdio', '--scope', 'user', '--profile', 'team'],
    ['cursor', '--base-url', 'https://b.example'],
  ])('comes with the command that writes exactly this entry: %j', async (...words) => {
    const { run } = openHome();
    const { stderr } = await run([...words], { tty: { stderr: true } });
    const [, command = ''] =
      /or run: restaurant (mcp config .* --write)/.exec(stderr.replace(/\s+/g, ' ')) ?? [];
    expect(command.split(' ').sort()).toEqual(['mcp', 'config', ...words, '--write'].sort());
    const printed = JSON.parse((await run([...words, '--json'])).stdout);
    const written = JSON.parse((await run([...words, '--write', '--json'])).stdout);
    expect([written.entry, written.file]).toEqual([printed.entry, printed.file]);
  });

  it('comes with notes about the file and the key', async () => {
    const { run, at } = openHome();
    const { stderr } = await run(['cursor'], { tty: { stdout: true, stderr: true } });
    expect(stderr).toContain(at('.cursor/mcp.json'));
    expect(stderr).toContain('RESTAURANT_API_KEY');
  });
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

  it('is the existing one of cline', async () => {
    const { run, put } = openHome();
    const old = '.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json';
    const file = put(old, '{"mcpServers":{}}');
    expect(JSON.parse((await run(['cline', '--json'])).stdout).file).toBe(file);
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

import { lchownSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { IS_ROOT, MALLORY, sharedFolder, useProgram } from './support.ts';

const { run, home } = useProgram(() => 'https://api.example.com');
const WRITE = ['mcp', 'config', 'claude-code', '--write', '--via', 'stdio'];

/** Creates a repository, which is the home, too, with an entry for this program. @returns its text */
function createRepository(entry: object): string {
  const text = JSON.stringify({ mcpServers: { restaurant: entry } });
  home.write('.mcp.json', text);
  return text;
}

describe('an entry for this program in a repository', () => {
  const OWN = { type: 'stdio', command: 'restaurant', args: ['mcp'] };

  it.each([
    [{ env: { NODE_OPTIONS: '--require ./e.js' } }, ['NODE_OPTIONS', '--require ./e.js']],
    [{ cwd: '/tmp/e' }, ['/tmp/e']],
    [{ envFile: '.env' }, ['.env']],
    [{ env: { A_TOKEN: 'ghp_secret' } }, ['A_TOKEN']],
  ])('is refused and shown when it has %j', async (more, parts) => {
    const text = createRepository({ ...OWN, ...more });
    const { stdout, stderr } = await run(WRITE, { exit: 2 });
    expect(stdout).toBe('');
    for (const part of parts) expect(stderr.replace(/\s+/g, ' ')).toContain(part);
    expect(stderr).not.toContain('ghp_secret');
    expect(home.read('.mcp.json')).toBe(text);
  });

  it('loses what runs other code when it becomes ours', async () => {
    createRepository({ url: 'https://evil.example', headersHelper: './e', env: { A: 'b' } });
    await run(WRITE, { env: { RESTAURANT_BASE_URL: undefined }, exit: 0 });
    expect(JSON.parse(home.read('.mcp.json'))).toEqual({ mcpServers: { restaurant: OWN } });
  });
});

it('minified JSON of 4 MB is edited in seconds, and a larger file is refused', async () => {
  const FILE = '.cursor/mcp.json';
  const server = { command: 'x'.repeat(350), env: { A: 'b' } };
  const servers = Array.from({ length: 10_000 }, (_, i) => [`s${i}`, server]);
  home.write(FILE, JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  for (const via of ['http', 'stdio']) {
    const { ms } = await run(['mcp', 'config', 'cursor', '--via', via, '--write'], { exit: 0 });
    expect(ms).toBeLessThan(20_000);
  }
  expect(Object.keys(JSON.parse(home.read(FILE)).mcpServers)).toHaveLength(10_001);
  home.write(FILE, `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`);
  await run(['mcp', 'config', 'cursor', '--write'], { exit: 9 });
});

describe.runIf(IS_ROOT)("another user's link", () => {
  it.each([
    ['.claude', ['skill', 'install', 'claude-code']],
    ['.cursor', ['mcp', 'config', 'cursor', '--write']],
  ])('to a folder is refused before anything is created below it: %s', async (name, words) => {
    const target = sharedFolder();
    for (const to of [target, join(target, 'missing')]) {
      const HOME = sharedFolder(MALLORY);
      symlinkSync(to, join(HOME, name));
      lchownSync(join(HOME, name), MALLORY, MALLORY);
      const { stderr } = await run(words, { env: { HOME }, exit: 9 });
      expect(stderr).toContain('symbolic link');
      expect(readdirSync(target)).toEqual([]);
    }
  });
});

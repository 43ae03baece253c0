import { lchownSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TestFolder } from '../helpers/files.ts';
import { IS_ROOT, MALLORY, sharedFolder, useProgram } from './support.ts';

const { run, home } = useProgram(() => 'https://api.example.com');
const WRITE = ['mcp', 'config', 'claude-code', '--write'];

/** Creates a repository, which is the home, too, with an entry for this program. @returns its text */
function createRepository(entry: object): string {
  const text = JSON.stringify({ mcpServers: { restaurant: entry } });
  home.write('.mcp.json', text);
  return text;
}

describe('an entry for this program in a repository', () => {
  const OWN = { type: 'stdio', command: 'restaurant', args: ['mcp'] };

  it.each([
    { ...OWN, env: { NODE_OPTIONS: '--require ./e.js' } },
    { ...OWN, cwd: '/tmp/e' },
    { ...OWN, envFile: '.env' },
    { ...OWN, env: { A_TOKEN: 'ghp_secret' } },
    { url: 'https://evil.example', headersHelper: './e', env: { A: 'b' } },
  ])('loses what runs other code when it becomes ours: %j', async (entry) => {
    const text = createRepository(entry);
    const { stdout } = await run(WRITE, { env: { RESTAURANT_BASE_URL: undefined }, exit: 0 });
    expect(stdout).not.toContain('ghp_secret');
    expect(JSON.parse(home.read('.mcp.json'))).toEqual({ mcpServers: { restaurant: OWN } });
    expect(home.read('.mcp.json.bak')).toBe(text);
  });
});

it('minified JSON of 4 MB is edited in seconds, and a larger file is refused', async () => {
  const FILE = '.cursor/mcp.json';
  const server = { command: 'x'.repeat(350), env: { A: 'b' } };
  const servers = Array.from({ length: 10_000 }, (_, i) => [`s${i}`, server]);
  home.write(FILE, JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  for (const words of [['--write'], ['--write', '--profile', 'default']]) {
    const { ms } = await run(['mcp', 'config', 'cursor', ...words], { exit: 0 });
    expect(ms).toBeLessThan(20_000);
  }
  expect(Object.keys(JSON.parse(home.read(FILE)).mcpServers)).toHaveLength(10_001);
  home.write(FILE, `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`);
  await run(['mcp', 'config', 'cursor', '--write'], { exit: 9 });
});

describe.runIf(IS_ROOT)("root in another user's home", () => {
  const SKILL = readFileSync(new URL('../../src/mcp/skill.md', import.meta.url), 'utf8');
  const ENTRY = JSON.stringify({ mcpServers: { restaurant: { command: 'restaurant', args: ['mcp'] } } });

  it.each([
    ['.claude', ['skill', 'install', 'claude-code']],
    ['.claude', ['skill', 'install', 'claude-code', '--force']],
    ['.claude', ['skill', 'uninstall', 'claude-code']],
    ['.claude', ['skill', 'uninstall', 'claude-code', '--force']],
    ['.cursor', ['mcp', 'config', 'cursor', '--write']],
    ['.cursor', ['mcp', 'config', 'cursor', '--remove']],
  ])('a file behind %s is neither written nor deleted, link or not: %j', async (name, words) => {
    const target = sharedFolder();
    for (const to of [target, join(target, 'missing'), undefined]) {
      const HOME = sharedFolder(MALLORY);
      const below = to === undefined ? new TestFolder(join(HOME, name)) : new TestFolder(target);
      below.write('skills/restaurant/SKILL.md', SKILL, 0o644);
      below.write('mcp.json', ENTRY, 0o644);
      if (to !== undefined) symlinkSync(to, join(HOME, name));
      if (to !== undefined) lchownSync(join(HOME, name), MALLORY, MALLORY);
      const before = below.list();
      const { stderr } = await run(words, { env: { HOME }, exit: 9 });
      expect(stderr).toContain(`${HOME} belongs to user ${MALLORY}`);
      expect(below.list()).toEqual(before);
      expect([below.read('skills/restaurant/SKILL.md'), below.read('mcp.json')]).toEqual([SKILL, ENTRY]);
    }
  });
});

it("a file of the user's own, stored elsewhere with dotfiles, is written there", async () => {
  mkdirSync(home.at('dotfiles'));
  symlinkSync('dotfiles', home.at('.claude'));
  await run(['skill', 'install', 'claude-code'], { exit: 0 });
  expect(home.list('dotfiles/skills/restaurant')).toEqual(['SKILL.md']);
  await run(['skill', 'uninstall', 'claude-code'], { exit: 0 });
  expect(home.list('dotfiles/skills')).toEqual([]);
});

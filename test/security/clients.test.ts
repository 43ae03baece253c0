import { lchownSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { IS_ROOT, MALLORY, sharedFolder, subfolder, useProgram } from './support.ts';

const { run } = useProgram();
const env = (home: string) => ({ HOME: home, RESTAURANT_BASE_URL: 'https://api.example.com' });
const WRITE = ['mcp', 'config', 'claude-code', '--write', '--via', 'stdio'];

/** A repository with an entry for this program. */
function repository(entry: object): { cwd: string; file: string; text: string } {
  const cwd = sharedFolder();
  const file = join(cwd, '.mcp.json');
  const text = JSON.stringify({ mcpServers: { restaurant: entry } });
  writeFileSync(file, text);
  return { cwd, file, text };
}

describe('an entry for this program in a repository', () => {
  const OWN = { type: 'stdio', command: 'restaurant', args: ['mcp'] };

  it.each([
    [{ env: { NODE_OPTIONS: '--require ./e.js' } }, ['NODE_OPTIONS', '--require ./e.js']],
    [{ cwd: '/tmp/e' }, ['/tmp/e']],
    [{ envFile: '.env' }, ['.env']],
    [{ env: { A_TOKEN: 'ghp_secret' } }, ['A_TOKEN']],
  ])('is refused and shown when it has %j', async (more, parts) => {
    const { cwd, file, text } = repository({ ...OWN, ...more });
    const { stdout, stderr } = await run(WRITE, { cwd, env: env(cwd), exit: 2 });
    expect(stdout).toBe('');
    for (const part of parts) expect(stderr.replace(/\s+/g, ' ')).toContain(part);
    expect(stderr).not.toContain('ghp_secret');
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('loses what runs other code when it becomes ours', async () => {
    const { cwd, file } = repository({ url: 'https://evil.example', headersHelper: './e', env: { A: 'b' } });
    await run(WRITE, { cwd, env: { HOME: cwd }, exit: 0 });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ mcpServers: { restaurant: OWN } });
  });
});

it('minified JSON of 4 MB is edited in seconds, and a larger file is refused', async () => {
  const home = sharedFolder();
  const file = join(subfolder(join(home, '.cursor')), 'mcp.json');
  const servers = Array.from({ length: 10_000 }, (_, i) => [
    `s${i}`,
    { command: 'x'.repeat(350), env: { A: 'b' } },
  ]);
  writeFileSync(file, JSON.stringify({ mcpServers: Object.fromEntries(servers) }));
  for (const via of ['http', 'stdio']) {
    const { ms } = await run(['mcp', 'config', 'cursor', '--via', via, '--write'], {
      env: env(home),
      exit: 0,
    });
    expect(ms).toBeLessThan(20_000);
  }
  expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).mcpServers)).toHaveLength(10_001);
  writeFileSync(file, `{"a":"${'x'.repeat(4 * 1024 * 1024)}"}`);
  await run(['mcp', 'config', 'cursor', '--write'], { env: env(home), exit: 9 });
});

describe.runIf(IS_ROOT)("another user's link", () => {
  it.each([
    ['.claude', ['skill', 'install', 'claude-code']],
    ['.cursor', ['mcp', 'config', 'cursor', '--write']],
  ])('to a folder is refused before anything is created below it: %s', async (name, words) => {
    const target = sharedFolder();
    for (const to of [target, join(target, 'missing')]) {
      const home = sharedFolder(MALLORY);
      symlinkSync(to, join(home, name));
      lchownSync(join(home, name), MALLORY, MALLORY);
      const { stderr } = await run(words, { env: env(home), exit: 9 });
      expect(stderr).toContain('symbolic link');
      expect(readdirSync(target)).toEqual([]);
    }
  });
});

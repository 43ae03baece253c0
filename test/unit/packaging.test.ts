import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(path(name), 'utf8');
const json = (name: string) => JSON.parse(read(name));
const manifest = json('package.json');

describe('the package', () => {
  it('has the same version in all manifests', () => {
    const server = json('server.json');
    const plugin = json('plugin/.claude-plugin/plugin.json');
    const versions = [server.version, server.packages[0].version, plugin.version];
    expect(versions).toEqual(versions.map(() => manifest.version));
    expect(server.packages[0].identifier).toBe(manifest.name);
  });

  it('has a plugin that contains only the skill and the entry of the MCP server', () => {
    expect(json('.claude-plugin/marketplace.json').plugins[0].source).toBe('./plugin');
    expect(json('plugin/.mcp.json').mcpServers.restaurant).toEqual({ command: 'restaurant', args: ['mcp'] });
    const files = readdirSync(path('plugin'), { recursive: true, withFileTypes: true });
    expect(files.flatMap((each) => (each.isFile() ? each.name : [])).sort()).toEqual([
      '.mcp.json',
      'SKILL.md',
      'plugin.json',
    ]);
  });

  it('has no install scripts, and neither do the packages that it is built with', () => {
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(manifest.scripts).not.toHaveProperty(name);
    }
    for (const kind of ['dependencies', 'optionalDependencies', 'peerDependencies', 'bundleDependencies'])
      expect(manifest).not.toHaveProperty(kind);
    expect(readdirSync(path(''))).not.toContain('binding.gyp');
    const locked: Record<string, { hasInstallScript?: true; optional?: true }> =
      json('package-lock.json').packages;
    expect(Object.keys(locked).filter((name) => locked[name]?.hasInstallScript === true)).toEqual([]);
  });

  it('has pages that name existing files', () => {
    const names = ['SECURITY.md', 'AGENTS.md', 'CONTRIBUTING.md'].flatMap((page) =>
      [...read(page).matchAll(/`([\w-]+(?:\/[\w.-]+)+\.\w+)`/g)].map(([, name = '']) => name),
    );
    expect(names.length).toBeGreaterThan(50);
    const folders = ['', 'test/', 'src/', 'src/client/', 'src/lists/', 'src/output/'];
    const exists = (name: string) => folders.some((folder) => existsSync(path(folder + name)));
    expect(names.filter((name) => !exists(name))).toEqual([]);
  });

  it('names the same minimum version of Node everywhere', () => {
    const [, oldest = ''] = /^>=(\d+\.\d+)\.0$/.exec(manifest.engines.node) ?? [];
    expect(manifest.devEngines.runtime.version).toBe(manifest.engines.node);
    expect(read('bin/restaurant.js')).toContain(`Node.js ${oldest} or later`);
    expect(read('scripts/bundle.js')).toContain(`'node${oldest}'`);
    expect(read('.github/workflows/ci.yml')).toContain(`'${oldest}'`);
  });
});

import { spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../helpers/temp-folder.ts';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string): string => readFileSync(path(name), 'utf8');
const json = (name: string) => JSON.parse(read(name));
const manifest = json('package.json');
const FILES = ['bin', 'src', 'test', 'scripts', 'bench', 'docs', '.ci'].flatMap((folder) =>
  readdirSync(path(folder), { recursive: true, encoding: 'utf8' }).map(
    (name) => `${folder}/${name.replaceAll('\\', '/')}`,
  ),
);
const SOURCES = FILES.filter((file) => /^src\/.*\.ts$/.test(file));

/** Whether a source has a declaration or a member of that name. */
const declares = (text: string, name: string): boolean =>
  new RegExp(
    `\\b(?:function\\*?|const|class|interface|type) ${name}\\b|^ +(?:async )?\\*?${name}[(<]`,
    'm',
  ).test(text);

describe('the package', () => {
  it('has the same version in all manifests', () => {
    const server = json('server.json');
    const plugin = json('plugin/.claude-plugin/plugin.json');
    const versions = [server.version, server.packages[0].version, plugin.version];
    expect(versions).toEqual(versions.map(() => manifest.version));
    expect(server.packages[0].identifier).toBe(manifest.name);
  });

  it('sets the version in all manifests with npm version', () => {
    expect(manifest.scripts.version).toBe('node scripts/set-version.js && npm run fix');
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
      [...read(page).matchAll(/`((?:[\w-]+\/)*[\w.-]+\.(?:ts|js|session)|(?:[\w-]+\/)+)`/g)].map(
        ([, name = '']) => name,
      ),
    );
    expect(names.length).toBeGreaterThan(100);
    const missing = names.filter((name) => !FILES.some((file) => `/${file}`.includes(`/${name}`)));
    expect(missing).toEqual([]);
  });

  it('has a map whose names are in the files that it says', () => {
    const map = read('AGENTS.md').replace(/\s+/g, ' ');
    const members = [...map.matchAll(/`([A-Za-z.]+)` of `([\w./-]+\.ts)`/g)];
    expect(members.length).toBeGreaterThan(10);
    const wrong = members.filter(([, member = '', name = '']) => {
      const found = SOURCES.filter((file) => `/${file}`.endsWith(`/${name}`)).map(read);
      return !found.some((text) => member.split('.').every((word) => declares(text, word)));
    });
    expect(wrong.map(([text]) => text)).toEqual([]);
    // Other words in camel case are names of the source, too.
    const words = [...map.matchAll(/`([A-Za-z]+[a-z][A-Z]\w*)`/g)].map(([, word = '']) => word);
    const text = SOURCES.map(read).join('\n');
    expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(text))).toEqual([]);
  });

  it('names the same minimum version of Node everywhere', () => {
    const [, oldest = ''] = /^>=(\d+\.\d+)\.0$/.exec(manifest.engines.node) ?? [];
    expect(manifest.devEngines.runtime.version).toBe(manifest.engines.node);
    expect(read('bin/restaurant.js')).toContain(`Node.js ${oldest} or later`);
    expect(read('scripts/bundle.js')).toContain(`'node${oldest}'`);
    expect(read('.github/workflows/ci.yml')).toContain(`'${oldest}'`);
  });
});

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('install.sh', () => {
  // Without `ldd`, as on Windows, where these tests are skipped but this line is not, there is no output.
  const { output } = spawnSync('ldd', ['--version'], { encoding: 'utf8' });
  const libc = /musl/i.test(String(output)) ? '-musl' : '';
  const name = `restaurant-1.2.3-linux-x64${libc}`;

  /** Installs a release whose program is a script. */
  function install(script: string, variables: Record<string, string> = {}) {
    const folder = tempFolder();
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'restaurant'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name, 'restaurant'), 0o755);
    spawnSync('tar', ['-czf', `${name}.tar.gz`, name], { cwd: folder });
    const sum = hash('sha256', readFileSync(join(folder, `${name}.tar.gz`)));
    writeFileSync(join(folder, 'SHA256SUMS'), `${sum}  ${name}.tar.gz\n`);
    const bin = join(folder, 'bin');
    const env = { PATH: process.env.PATH, HOME: folder, FROM: folder, BIN_DIR: bin, ...variables };
    const { status, stdout, stderr } = spawnSync('sh', [path('scripts/install.sh')], {
      env,
      encoding: 'utf8',
    });
    return { status, stdout, stderr, isInstalled: existsSync(join(bin, 'restaurant')) };
  }

  it.each(['', '1.2.3', 'v1.2.3'])('installs the version %j', (VERSION) => {
    const run = install('echo 1.2.3', { VERSION });
    expect(run).toMatchObject({ status: 0, stderr: '', isInstalled: true });
    expect(run.stdout).toContain('bin/restaurant (1.2.3)');
  });

  it.each([
    ['1.2.4', 'no archive'],
    ['1.2.', 'no archive'],
    ['../../../../evil/x/releases/download/v1', 'must look like'],
    ['1/../..', 'must look like'],
    ['1\n2', 'must look like'],
    ['x1', 'must look like'],
  ])('refuses the version %j', (VERSION, reason) => {
    const run = install('echo 1.2.3', { VERSION });
    expect(run).toMatchObject({ status: 1, isInstalled: false });
    expect(run.stderr).toContain(reason);
  });

  it('installs no program that does not start', () => {
    const run = install('exit 127');
    expect(run).toMatchObject({ status: 1, isInstalled: false });
    expect(run.stderr).toContain('does not start on this machine');
  });
});

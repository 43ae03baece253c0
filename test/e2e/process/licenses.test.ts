import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { TestFolder } from '../../helpers/files.ts';
import { restaurant } from '../../helpers/process.ts';
import { newHome, runCli } from '../../helpers/program.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const { env } = newHome();
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const manifest = JSON.parse(read('package.json'));
const notice = read('dist/THIRD-PARTY.txt');

/** The sections of the notice, one per package. */
const parts = notice
  .split(/^-{80}\n(?=.+\n-{80}\n)/m)
  .slice(1)
  .map((part) => {
    const [, name = '', version = '', license = '', text = ''] =
      /^(\S+) (\S+) \((.+)\)\n-{80}\n\n([\s\S]+)$/.exec(part) ?? [];
    return { name, version, license, text };
  });

/** Returns the packages that the sources import, except types. */
function imported(): string[] {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  const code = files.filter((name) => name.endsWith('.ts')).map((name) => read(`src/${name}`));
  const found = code.flatMap((text) => [
    ...text.matchAll(/^import (?!type\b)[^;]*?from '([^'.][^']*)'/gm),
    ...text.matchAll(/await import\('([^'.][^']*)'\)/g),
  ]);
  const names = found.map(([, name = '']) => name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
  return [...new Set(names)].filter((name) => !name.startsWith('node:'));
}

describe('the licenses of bundled packages', () => {
  it('are shipped with the version of each package and the text of a permissive license', () => {
    expect(parts.length).toBeGreaterThan(20);
    const { packages } = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { version: string; license?: string }>;
    };
    const locked = Object.entries(packages).map(
      ([path, { version }]) => `${path.split('node_modules/').at(-1)} ${version}`,
    );
    for (const { name, version, license, text } of parts) {
      expect(locked).toContain(`${name} ${version}`);
      expect([name, PERMISSIVE.includes(license)]).toEqual([name, true]);
      const words = /permi(t|ssion)|redistribution|licensed under/i;
      expect([name, text]).toEqual([name, expect.stringMatching(words)]);
    }
    expect(manifest.files).toContain('dist');
  });

  it('include those of programs that a package compiles to WebAssembly', () => {
    const textOf = (wanted: string) => parts.find(({ name }) => name === wanted)?.text;
    expect(textOf('undici')).toMatch(/Matteo Collina.*llhttp.*Fedor Indutny/s);
    expect(textOf('jq-wasm')).toMatch(/Owen Ou.*Stephen Dolan.*decNumber.*Oniguruma.*musl/s);
  });

  it('are in a page only for the packages that it uses', () => {
    const names = [...read('src/output/html/asset.js').matchAll(/(?<=\\n)[a-z-]+ \d+\.\d+\.\d+(?=\\n)/g)];
    expect(names.map(([line]) => line.split(' ')[0])).toEqual(['kdbush', 'leaflet', 'supercluster']);
  });

  it('are complete for all packages that the sources import', () => {
    const names = parts.map(({ name }) => name);
    const direct = imported();
    expect(direct).toContain('undici');
    expect(direct.filter((name) => !names.includes(name))).toEqual([]);
    // Their dependencies.
    for (const name of ['ajv-formats', 'fast-uri', 'atomically', 'ansi-regex']) expect(names).toContain(name);
  });

  it('are printed by --version --verbose; --version prints only the version', async () => {
    const [plain, long, both] = await Promise.all(
      ['--version', '--version --verbose', '--verbose -V'].map((words) =>
        restaurant(words.split(' '), { env }),
      ),
    );
    expect(plain).toMatchObject({ exit: 0, stdout: `${manifest.version}\n`, stderr: '' });
    expect(long).toMatchObject({ exit: 0, stderr: '' });
    const [version, runtime, title, ...list] = long?.stdout.trimEnd().split('\n') ?? [];
    expect([version, title]).toEqual([manifest.version, 'bundled packages (licenses: THIRD-PARTY.txt):']);
    expect(runtime).toMatch(/^(Node\.js v|Bun )\S+, .+$/);
    expect(list).toEqual(parts.map(({ name, version, license }) => `${name} ${version} (${license})`));
    expect(both?.stdout).toBe(long?.stdout);
    const sources = await runCli(['--version', '--verbose'], { platform: process.platform });
    expect(sources.stdout).toContain('none, since it runs from its sources');
  });

  it('are those of the bill of materials, which follows the schema of CycloneDX', () => {
    const bill = JSON.parse(read('dist/sbom.cdx.json'));
    const listed = bill.components.map(
      (one: { name: string; version: string; licenses: { license: { id: string } }[] }) =>
        `${one.name} ${one.version} ${one.licenses[0]?.license.id}`,
    );
    expect(listed).toEqual(parts.map(({ name, version, license }) => `${name} ${version} ${license}`));
    const schema = (name: string) => ({
      ...JSON.parse(
        read(`node_modules/@cyclonedx/cyclonedx-library/res/schema/${name}.SNAPSHOT.schema.json`),
      ),
      $id: `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`,
    });
    const ajv = addFormats.default(new Ajv({ strict: false }));
    ajv.addFormat('idn-email', true).addFormat('iri-reference', true);
    const validate = ajv.addSchema([schema('spdx'), schema('jsf-0.82')]).compile(schema('bom-1.6'));
    expect(validate(bill) || validate.errors).toBe(true);
    expect(validate({ ...bill, components: [{ type: 'unknown', name: 1 }] })).toBe(false);
  });

  it('are required in every package and must allow bundling', async () => {
    const { packagesOf } = await import(join(ROOT, 'scripts/licenses.js'));
    const inside = (path: string) => join(ROOT, 'node_modules', path);
    const found = await packagesOf([
      join(ROOT, 'src/main.ts'),
      inside('undici/index.js'),
      inside('undici/lib/core/util.js'),
      inside('@colors/colors/safe.js'),
      'rolldown:runtime',
    ]);
    expect(found.map(({ name, license }: { name: string; license: string }) => [name, license])).toEqual([
      ['@colors/colors', 'MIT'],
      ['undici', 'MIT'],
    ]);
    await expect(
      packagesOf([join(ROOT, 'test/e2e/process/no/node_modules/none/index.js')]),
    ).rejects.toThrow();
  });
});

describe('the package', () => {
  it('has a section in the changelog, which becomes the notes of its release', () => {
    const notes = execFileSync(process.execPath, [join(ROOT, 'scripts/release-notes.js')], {
      encoding: 'utf8',
    });
    expect(read('CHANGELOG.md')).toContain(`## ${manifest.version}\n\n${notes.trim()}`);
  });

  it('has no notes for a release while others are unreleased', () => {
    const folder = new TestFolder();
    for (const name of ['scripts/project.js', 'scripts/release-notes.js', 'package.json'])
      folder.write(name, read(name));
    folder.write(
      'CHANGELOG.md',
      `# Changelog\n\n## Unreleased\n\n* New\n\n## ${manifest.version}\n\n* Old\n`,
    );
    const notes = () =>
      execFileSync(process.execPath, [folder.at('scripts/release-notes.js')], { stdio: 'pipe' });
    expect(notes).toThrow("CHANGELOG.md has notes under 'Unreleased'");
  });
});

// Creates what package managers need from the archives in dist/standalone/, for the release that package.json names: .deb and
// .rpm packages (on Linux with dpkg-deb and rpmbuild), the Homebrew formula, the Scoop manifest, the winget manifests
// (https://aka.ms/winget-manifest.version.1.9.0.schema.json), the entry in the MCP registry, and SHA256SUMS of all files.
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { linuxPackages } from './linux-packages.js';
import { fill, manifest, path, read, toJson } from './project.js';

const BUNDLE = 'restaurant.mcpb';
const { version, repository } = manifest;
const home = repository?.url?.replace(/^git\+/, '').replace(/\.git$/, '');
if (home === undefined) {
  throw new Error('package.json names no repository: npm run set-repository -- <owner>/<name>');
}
const [, owner] = new URL(home).pathname.split('/');
const release = `${home}/releases/download/v${version}`;
const file = (name) => path('dist/standalone', name);
const write = (name, text) => writeFileSync(file(name), text);
const hashOf = (name) => hash('sha256', readFileSync(file(name)));

/** @param {string} platform such as linux-x64 */
const archive = (platform) =>
  `restaurant-${version}-${platform}.${platform === 'windows-x64' ? 'zip' : 'tar.gz'}`;

/** Writes the files that name the archives. */
function writeManifests() {
  const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'windows-x64'];
  const hashes = platforms.map((platform) => [`sha256-${platform}`, hashOf(archive(platform))]);
  const values = { ...manifest, home, owner, release, ...Object.fromEntries(hashes) };
  values['SHA256-windows-x64'] = values['sha256-windows-x64'].toUpperCase();
  for (const name of readdirSync(path('scripts/templates/release')))
    write(name.replace('OWNER', owner), fill(`release/${name}`, values));
}

/** Returns the entry in the MCP registry, with the bundle of this release. */
function server() {
  const entry = JSON.parse(read('server.json'));
  const bundle = {
    registryType: 'mcpb',
    identifier: `${release}/${BUNDLE}`,
    fileSha256: hashOf(BUNDLE),
    transport: { type: 'stdio' },
  };
  return { ...entry, packages: [...entry.packages, bundle] };
}

for (const processor of ['x64', 'arm64']) {
  const packed = file(archive(`linux-${processor}`));
  if (existsSync(packed)) linuxPackages(packed, processor);
}
if (existsSync(file(archive('darwin-arm64')))) writeManifests();
if (existsSync(file(BUNDLE))) write('server.json', toJson(server()));
const names = readdirSync(path('dist/standalone')).filter((name) => name !== 'SHA256SUMS');
write('SHA256SUMS', names.map((name) => `${hashOf(name)}  ${name}\n`).join(''));
process.stdout.write(`${names.join('\n')}\n`);

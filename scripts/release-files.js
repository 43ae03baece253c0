// Creates what a release has beside the archives in dist/standalone/: .deb and .rpm packages (on Linux with dpkg-deb and rpmbuild), the
// entry in the MCP registry, and SHA256SUMS of all files.
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { linuxPackages } from './linux-packages.js';
import { manifest, path, read, toJson } from './project.js';

const BUNDLE = 'restaurant.mcpb';
const { version, repository } = manifest;
const home = repository?.url?.replace(/^git\+/, '').replace(/\.git$/, '');
if (home === undefined) {
  throw new Error('package.json names no repository: npm run set-repository -- <owner>/<name>');
}
const release = `${home}/releases/download/v${version}`;
const file = (name) => path('dist/standalone', name);
const write = (name, text) => writeFileSync(file(name), text);
const hashOf = (name) => hash('sha256', readFileSync(file(name)));

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
  const packed = file(`restaurant-${version}-linux-${processor}.tar.gz`);
  if (existsSync(packed)) linuxPackages(packed, processor);
}
if (existsSync(file(BUNDLE))) write('server.json', toJson(server()));
const names = readdirSync(path('dist/standalone')).filter((name) => name !== 'SHA256SUMS');
write('SHA256SUMS', names.map((name) => `${hashOf(name)}  ${name}\n`).join(''));
process.stdout.write(`${names.join('\n')}\n`);

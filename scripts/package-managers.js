// Creates what package managers need from the archives in dist/standalone/, for the release that package.json names: .deb and
// .rpm packages (on Linux with dpkg-deb and rpmbuild), the Homebrew formula, the Scoop manifest, the winget manifests, and
// SHA256SUMS of all files.
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { linuxPackages } from './linux-packages.js';
import { manifest, path, read, toJson } from './project.js';

const BUNDLE = 'restaurant.mcpb';
const { version, description, license, repository } = manifest;
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
const archive = (platform) => `restaurant-${version}-${platform}.tar.gz`;
const WINDOWS = `restaurant-${version}-windows-x64`;

/** Returns the lines of the formula about the archive of a platform. */
const source = (platform) => `url "${release}/${archive(platform)}"
      sha256 "${hashOf(archive(platform))}"`;

const formula = () => `class Restaurant < Formula
  desc "Client for a restaurant data service over JSON-RPC and MCP"
  homepage "${home}"
  license "${license}"

  on_macos do
    on_arm do
      ${source('darwin-arm64')}
    end
    on_intel do
      ${source('darwin-x64')}
    end
  end

  on_linux do
    on_arm do
      ${source('linux-arm64')}
    end
    on_intel do
      ${source('linux-x64')}
    end
  end

  def install
    bin.install "restaurant"
    man1.install "restaurant.1"
    generate_completions_from_executable(bin/"restaurant", "completion")
  end

  test do
    assert_match "Divisadero", shell_output("#{bin}/restaurant find Nopa --city SF --demo")
  end
end
`;

const scoop = () => {
  const url = `${release}/${WINDOWS}.zip`;
  const next = {
    url: url.replaceAll(version, '$version'),
    extract_dir: WINDOWS.replace(version, '$version'),
  };
  return {
    version,
    description,
    homepage: home,
    license,
    architecture: { '64bit': { url, hash: hashOf(`${WINDOWS}.zip`), extract_dir: WINDOWS } },
    bin: 'restaurant.exe',
    checkver: 'github',
    autoupdate: { architecture: { '64bit': next } },
  };
};

/** The three files of a package in winget's repository, as in https://aka.ms/winget-manifest.version.1.9.0.schema.json. */
const winget = () => ({
  '': `ManifestType: version
DefaultLocale: en-US
`,
  '.installer': `ManifestType: installer
InstallerType: zip
NestedInstallerType: portable
NestedInstallerFiles:
  - RelativeFilePath: ${WINDOWS}\\restaurant.exe
    PortableCommandAlias: restaurant
Installers:
  - Architecture: x64
    InstallerUrl: ${release}/${WINDOWS}.zip
    InstallerSha256: ${hashOf(`${WINDOWS}.zip`).toUpperCase()}
`,
  '.locale.en-US': `ManifestType: defaultLocale
PackageLocale: en-US
Publisher: ${owner}
PackageName: restaurant
PackageUrl: ${home}
License: ${license}
ShortDescription: ${JSON.stringify(description)}
`,
});

/** The entry in the MCP registry, with the bundle of this release. */
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
if (existsSync(file(archive('darwin-arm64')))) {
  write('restaurant.rb', formula());
  write('restaurant.json', toJson(scoop()));
  const common = `PackageIdentifier: ${owner}.Restaurant
PackageVersion: ${version}
ManifestVersion: 1.9.0
`;
  for (const [kind, text] of Object.entries(winget()))
    write(`${owner}.Restaurant${kind}.yaml`, common + text);
}
if (existsSync(file(BUNDLE))) write('server.json', toJson(server()));
const names = readdirSync(path('dist/standalone')).filter((name) => name !== 'SHA256SUMS');
write('SHA256SUMS', names.map((name) => `${hashOf(name)}  ${name}\n`).join(''));
process.stdout.write(`${names.join('\n')}\n`);

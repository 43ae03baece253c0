// Creates what package managers need from the archives in dist/standalone/, for the release that package.json names: .deb and
// .rpm packages (on Linux with dpkg-deb and rpmbuild), the Homebrew formula, the Scoop manifest, the winget manifests, and
// SHA256SUMS of all files.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { linuxPackages } from './linux-packages.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}dist/standalone`;
const BUNDLE = 'restaurant.mcpb';
const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const { version, description, license, repository } = manifest;
const home = repository?.url?.replace(/^git\+/, '').replace(/\.git$/, '');
if (home === undefined) {
  throw new Error('package.json names no repository: npm run set-repository -- <owner>/<name>');
}

const archive = (platform) =>
  `restaurant-${version}-${platform}.${platform.startsWith('windows') ? 'zip' : 'tar.gz'}`;
const url = (platform) => `${home}/releases/download/v${version}/${archive(platform)}`;
const hashOf = (name) =>
  createHash('sha256')
    .update(readFileSync(`${folder}/${name}`))
    .digest('hex');
const hash = (platform) => hashOf(archive(platform));
const write = (name, text) => writeFileSync(`${folder}/${name}`, text);

const block = (system, platforms) =>
  `  on_${system} do\n${platforms
    .map(
      ([processor, platform]) =>
        `    on_${processor} do\n      url "${url(platform)}"\n      sha256 "${hash(platform)}"\n    end\n`,
    )
    .join('')}  end\n`;

const formula = () => `class Restaurant < Formula
  desc "Client for a restaurant data service over JSON-RPC and MCP"
  homepage "${home}"
  license "${license}"

${block('macos', [
  ['arm', 'darwin-arm64'],
  ['intel', 'darwin-x64'],
])}
${block('linux', [
  ['arm', 'linux-arm64'],
  ['intel', 'linux-x64'],
])}
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

const scoop = () => ({
  version,
  description,
  homepage: home,
  license,
  architecture: {
    '64bit': {
      url: url('windows-x64'),
      hash: hash('windows-x64'),
      extract_dir: `restaurant-${version}-windows-x64`,
    },
  },
  bin: 'restaurant.exe',
  checkver: 'github',
  autoupdate: {
    architecture: {
      '64bit': {
        url: url('windows-x64').replaceAll(version, '$version'),
        extract_dir: 'restaurant-$version-windows-x64',
      },
    },
  },
});

/** The three files of a package in winget's repository, as in https://aka.ms/winget-manifest.version.1.9.0.schema.json. */
function winget() {
  const [owner] = new URL(home).pathname.slice(1).split('/');
  const common = {
    PackageIdentifier: `${owner}.Restaurant`,
    PackageVersion: version,
    ManifestVersion: '1.9.0',
  };
  const installer = {
    ...common,
    ManifestType: 'installer',
    InstallerType: 'zip',
    NestedInstallerType: 'portable',
    NestedInstallerFiles: [
      {
        RelativeFilePath: `restaurant-${version}-windows-x64\\restaurant.exe`,
        PortableCommandAlias: 'restaurant',
      },
    ],
    Installers: [
      {
        Architecture: 'x64',
        InstallerUrl: url('windows-x64'),
        InstallerSha256: hash('windows-x64').toUpperCase(),
      },
    ],
  };
  const locale = {
    ...common,
    ManifestType: 'defaultLocale',
    PackageLocale: 'en-US',
    Publisher: owner,
    PackageName: 'restaurant',
    PackageUrl: home,
    License: license,
    ShortDescription: description,
  };
  const name = common.PackageIdentifier;
  return {
    [`${name}.yaml`]: { ...common, ManifestType: 'version', DefaultLocale: 'en-US' },
    [`${name}.installer.yaml`]: installer,
    [`${name}.locale.en-US.yaml`]: locale,
  };
}

/** The entry in the MCP registry, with the bundle of this release. */
function server() {
  const entry = JSON.parse(readFileSync(`${root}server.json`, 'utf8'));
  const bundle = {
    registryType: 'mcpb',
    identifier: `${home}/releases/download/v${version}/${BUNDLE}`,
    fileSha256: hashOf(BUNDLE),
    transport: { type: 'stdio' },
  };
  return { ...entry, packages: [...entry.packages, bundle] };
}

for (const processor of ['x64', 'arm64']) {
  const path = `${folder}/${archive(`linux-${processor}`)}`;
  const program = `${root}bin/restaurant.js`;
  if (existsSync(path)) linuxPackages({ archive: path, processor, folder, program, manifest });
}
if (existsSync(`${folder}/${archive('darwin-arm64')}`)) {
  write('restaurant.rb', formula());
  write('restaurant.json', `${JSON.stringify(scoop(), undefined, 2)}\n`);
  // JSON is YAML.
  for (const [name, file] of Object.entries(winget())) write(name, `${JSON.stringify(file, undefined, 2)}\n`);
}
if (existsSync(`${folder}/${BUNDLE}`)) write('server.json', `${JSON.stringify(server(), undefined, 2)}\n`);
const names = readdirSync(folder).filter((name) => name !== 'SHA256SUMS');
write('SHA256SUMS', names.map((name) => `${hashOf(name)}  ${name}\n`).join(''));
process.stdout.write(`${names.join('\n')}\n`);

// Creates the Homebrew formula (restaurant.rb) and the Scoop manifest (restaurant.json) from the archives of
// `npm run build:standalone -- --all` and their checksums, for the release that package.json names.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}dist/standalone`;
const { version, description, license, repository } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const home = repository?.url?.replace(/^git\+/, '').replace(/\.git$/, '');
if (home === undefined) {
  throw new Error('package.json names no repository: npm run set-repository -- <owner>/<name>');
}

const sums = Object.fromEntries(
  readFileSync(`${folder}/SHA256SUMS`, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => line.split('  ').reverse()),
);
const archive = (platform) => `restaurant-${version}-${platform}.tar.gz`;
const url = (platform) => `${home}/releases/download/v${version}/${archive(platform)}`;
function hash(platform) {
  const sum = sums[archive(platform)];
  if (sum === undefined) throw new Error(`no checksum of ${archive(platform)}`);
  return sum;
}

const block = (system, platforms) =>
  `  on_${system} do\n${platforms
    .map(
      ([processor, platform]) =>
        `    on_${processor} do\n      url "${url(platform)}"\n      sha256 "${hash(platform)}"\n    end\n`,
    )
    .join('')}  end\n`;

const formula = `class Restaurant < Formula
  desc "Client for a restaurant data service over JSON-RPC and MCP"
  homepage "${home}"
  version "${version}"
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

const scoop = {
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
};

writeFileSync(`${folder}/restaurant.rb`, formula);
writeFileSync(`${folder}/restaurant.json`, `${JSON.stringify(scoop, undefined, 2)}\n`);
process.stdout.write(`${folder}/restaurant.rb\n${folder}/restaurant.json\n`);

// Compiles the program into executables that need no Node: the build of scripts/build.js with Bun's compiler and runtime.
// Without arguments, builds dist/standalone/restaurant for this machine. With names of platforms, or --all, builds their archives
// in dist/standalone/. Downloads Bun from its npm packages.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import './build.js';
import { removeSignature } from './macos-signature.js';
import { billOf } from './licenses.js';

const BUN_VERSION = '1.4.5';
/** Platforms, each with its npm package of Bun and the SHA-512 of that package. */
const PLATFORMS = {
  'linux-x64': [
    'bun-linux-x64-baseline',
    's8yMwYcFnnrA178gji0gZbkE2WVDej/Ti1x770oPfihxyRxSMNhGhiAQNXV53aDeraZxksdvKV/RAdQBCd0qPA==',
  ],
  'linux-x64-musl': [
    'bun-linux-x64-musl-baseline',
    'cWJhU8h0+MiUgpSt99sQhjxLIIosKEcKYdtKddohokUvAuN6jKOy7g7+QDTZTXtwHxz93wL3BX+L6wXVPDUH3A==',
  ],
  'linux-arm64': [
    'bun-linux-aarch64',
    '4BXmsSKnjOrlGWqZV4x/oWa7AVoR+B6lCXddMzOAXBIm3t50eslg9wb66gmtW1AamEQ1l1CDvmmruysEhqOWMg==',
  ],
  'linux-arm64-musl': [
    'bun-linux-aarch64-musl',
    'XCNc+WvvMAdNNb+OWTogpy+N9wm62fkVeEVLb6how0RZhW5LPi6c7BlkeVCuWps7XjEl2saFpHFa20/1E+PAHg==',
  ],
  'darwin-x64': [
    'bun-darwin-x64-baseline',
    'zqfLA5A4B+hYMh5WYzYSot3uZ06FzhdP0OEwQisEzdirYtXGj5cQFlfy31BGfNsAsk1Gd/w/OxJ/jqqJ3cMclw==',
  ],
  'darwin-arm64': [
    'bun-darwin-aarch64',
    '4MIFXHmctH2EhAxLXm2/qxNtv17dFtLJylvaOCsrgq6KSqHTs6eW5YSrJjRbJxYUJaR901fsN8JfZOa+CsWpWQ==',
  ],
  'windows-x64': [
    'bun-windows-x64-baseline',
    '/U3Dc74uGqE6EUqef7mPtg9KwJs7iJH4JHRMfIZIn18MrJh6Xz4gVvWDXRvzCL2j8wPlTnJVyrO4n7Qq4uM7TQ==',
  ],
};
/** Files shipped with each executable. */
const DOCUMENTS = [
  'LICENSE',
  'CHANGELOG.md',
  'man/restaurant.1',
  'dist/THIRD-PARTY.txt',
  'scripts/licenses/LGPL-2.0.txt',
  'scripts/licenses/LGPL-2.1.txt',
];
/** Texts of Bun's license and those of the libraries that Bun links. */
const BUN_LICENSES = 'BUN-LICENSES.txt';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'dist/standalone');
const cache = join(root, 'node_modules/.cache', `bun-${BUN_VERSION}`);
const run = promisify(execFile);

/** Platform of this machine, as in {@link PLATFORMS}. */
function ownPlatform() {
  const system = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform];
  const { glibcVersionRuntime } = process.report.getReport().header;
  const libc = process.platform === 'linux' && glibcVersionRuntime === undefined ? '-musl' : '';
  return `${system}-${process.arch}${libc}`;
}

const executableName = (platform) => (platform.startsWith('windows') ? 'restaurant.exe' : 'restaurant');

/** Downloads Bun for a platform. @returns the path of its executable */
async function fetchBun(platform) {
  const [name, sha512] = PLATFORMS[platform] ?? [];
  if (name === undefined) {
    throw new Error(`no executable for ${platform}; known platforms: ${Object.keys(PLATFORMS).join(', ')}`);
  }
  const folder = join(cache, name);
  const file = join(folder, 'package/bin', platform.startsWith('windows') ? 'bun.exe' : 'bun');
  if (existsSync(file)) return file;
  await mkdir(folder, { recursive: true });
  // Unlike `npm install`, it accepts packages for other platforms.
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const words = ['pack', '--silent', `@oven/${name}@${BUN_VERSION}`, '--pack-destination', folder];
  const { stdout } = await run(npm, words, { shell: process.platform === 'win32' });
  const archive = join(folder, stdout.trim().split('\n').at(-1));
  const hash = createHash('sha512')
    .update(await readFile(archive))
    .digest('base64');
  if (hash !== sha512) throw new Error(`${archive}: unexpected content`);
  await run('tar', ['-xzf', archive, '-C', folder]);
  await rm(archive);
  await chmod(file, 0o755);
  return file;
}

/**
 * A copy of the build at the same path on every machine: Bun writes the paths of the modules into the executable. It must not
 * exist yet, so that nobody else can place files there.
 */
const BUILD_FOLDER = join(tmpdir(), 'restaurant-build');

/** Compiles the program for a platform. @param compiler Bun for this machine @returns the executable's path */
async function compile(compiler, platform, folder) {
  const outfile = join(folder, executableName(platform));
  await mkdir(folder, { recursive: true });
  await mkdir(BUILD_FOLDER);
  try {
    await cp(join(root, 'dist'), BUILD_FOLDER, { recursive: true, filter: (path) => path !== target });
    await compileCopy(compiler, platform, outfile);
  } finally {
    await rm(BUILD_FOLDER, { recursive: true });
  }
  if (platform === 'darwin-x64') await writeFile(outfile, removeSignature(await readFile(outfile)));
  return outfile;
}

const compileCopy = async (compiler, platform, outfile) => {
  const words = [
    'build',
    '--compile',
    '--bytecode',
    `--compile-executable-path=${await fetchBun(platform)}`,
    `--target=${PLATFORMS[platform]?.[0]}`,
    // Files in the current folder must not configure the program.
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    'start.cjs',
    `--outfile=${outfile}`,
  ];
  await run(compiler, words, { cwd: BUILD_FOLDER });
};

/** Packs the executable of a platform with its documents. @returns the name of the archive */
async function pack(compiler, platform, version) {
  const name = `restaurant-${version}-${platform}`;
  const folder = join(target, name);
  await compile(compiler, platform, folder);
  for (const document of DOCUMENTS)
    await copyFile(join(root, document), join(folder, document.split('/').at(-1)));
  await copyFile(join(root, 'scripts/licenses/bun.txt'), join(folder, BUN_LICENSES));
  await writeBill(folder);
  const { stdout: time } = await run('git', ['log', '-1', '--format=%ct'], { cwd: root });
  const archive = await (platform.startsWith('windows') ? zip : tar)(name, Number(time));
  await rm(folder, { recursive: true });
  return archive;
}

async function tar(name, time) {
  const fixed = ['--sort=name', `--mtime=@${time}`, '--owner=0', '--group=0', '--numeric-owner'];
  await run('tar', [...fixed, '-I', 'gzip -n', '-cf', `${name}.tar.gz`, name], { cwd: target });
  return `${name}.tar.gz`;
}

/** Times in a zip file are local times, without owners (-X). */
async function zip(name, time) {
  const files = (await readdir(join(target, name))).sort().map((file) => join(name, file));
  for (const file of files) await utimes(join(target, file), time, time);
  await run('zip', ['-q', '-X', `${name}.zip`, ...files], {
    cwd: target,
    env: { ...process.env, TZ: 'UTC' },
  });
  return `${name}.zip`;
}

/** Writes the bill of materials of the build, with Bun. */
async function writeBill(folder) {
  const bill = JSON.parse(await readFile(join(root, 'dist/sbom.cdx.json'), 'utf8'));
  const bun = { name: 'bun', version: BUN_VERSION, license: 'MIT' };
  bill.components.push(...billOf(bun, [bun]).components);
  await writeFile(join(folder, 'sbom.cdx.json'), `${JSON.stringify(bill, undefined, 2)}\n`);
}

const size = async (file) => `${((await stat(file)).size / 1e6).toFixed(1)} MB`;

const compiler = await fetchBun(ownPlatform());
const words = process.argv.slice(2);
const platforms = words.includes('--all') ? Object.keys(PLATFORMS) : words;
if (platforms.length === 0) {
  const file = await compile(compiler, ownPlatform(), target);
  process.stdout.write(`${file}  ${await size(file)}\n`);
} else {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await rm(target, { recursive: true, force: true });
  for (const platform of platforms) {
    const archive = await pack(compiler, platform, version);
    process.stdout.write(`${archive}  ${await size(join(target, archive))}\n`);
  }
}

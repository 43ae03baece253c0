// Compiles the program into executables that need no Node: the build of scripts/build.js with Bun's compiler and runtime.
// Without arguments, builds dist/standalone/restaurant for this machine. With --all, builds archives with checksums for every
// platform in dist/standalone/. Downloads Bun from its npm packages.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import './build.js';
import { removeSignature } from './macos-signature.js';

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
  'README.md',
  'CHANGELOG.md',
  'man/restaurant.1',
  'dist/THIRD-PARTY.txt',
  'scripts/licenses/LGPL-2.0.txt',
  'scripts/licenses/LGPL-2.1.txt',
];
const BUN_NOTICE = `The executable contains Bun ${BUN_VERSION} (MIT) and the libraries that Bun links, among them JavaScriptCore
(LGPL-2.0) and TinyCC (LGPL-2.1). Their licenses and how to relink them: https://bun.com/docs/project/license
`;

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
  if ((await hashOf(archive, 'sha512', 'base64')) !== sha512)
    throw new Error(`${archive}: unexpected content`);
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

/** Packs the executable of a platform with its documents. @returns name and SHA-256 of the archive */
async function pack(compiler, platform, version) {
  const name = `restaurant-${version}-${platform}`;
  const folder = join(target, name);
  await compile(compiler, platform, folder);
  for (const document of DOCUMENTS)
    await copyFile(join(root, document), join(folder, document.split('/').at(-1)));
  const notice = await readFile(join(folder, 'THIRD-PARTY.txt'), 'utf8');
  await writeFile(join(folder, 'THIRD-PARTY.txt'), `${notice}\n${BUN_NOTICE}`);
  const archive = `${name}.tar.gz`;
  const { stdout: time } = await run('git', ['log', '-1', '--format=%ct'], { cwd: root });
  const fixed = ['--sort=name', `--mtime=@${time.trim()}`, '--owner=0', '--group=0', '--numeric-owner'];
  await run('tar', [...fixed, '-I', 'gzip -n', '-cf', join(target, archive), '-C', target, name]);
  await rm(folder, { recursive: true });
  const hash = await hashOf(join(target, archive), 'sha256', 'hex');
  return { archive, hash };
}

const hashOf = async (file, algorithm, encoding) =>
  createHash(algorithm)
    .update(await readFile(file))
    .digest(encoding);

const size = async (file) => `${((await stat(file)).size / 1e6).toFixed(1)} MB`;

const compiler = await fetchBun(ownPlatform());
if (process.argv.includes('--all')) {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await rm(target, { recursive: true, force: true });
  const archives = [];
  for (const platform of Object.keys(PLATFORMS)) {
    const packed = await pack(compiler, platform, version);
    archives.push(packed);
    process.stdout.write(`${packed.archive}  ${await size(join(target, packed.archive))}\n`);
  }
  const sums = archives.map(({ archive, hash }) => `${hash}  ${archive}\n`).join('');
  await writeFile(join(target, 'SHA256SUMS'), sums);
} else {
  const file = await compile(compiler, ownPlatform(), target);
  process.stdout.write(`${file}  ${await size(file)}\n`);
}

// Compiles the program into executables that need no Node: the build of scripts/build.js with Bun's compiler and runtime.
// Without arguments, builds dist/standalone/restaurant for this machine. With names of platforms, or --all, builds their archives
// in dist/standalone/. Downloads Bun from its npm packages.
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { unsign } from 'macho-unsign';
import './build.js';
import { billOf } from './licenses.js';
import { manifest, path, read, toJson } from './project.js';

const BUN_VERSION = '1.4.5';
/** Platforms, each with its npm package of Bun and the SHA-256 of that package. */
const PLATFORMS = {
  'linux-x64': ['bun-linux-x64-baseline', 'wY/0EwiC6qggnws+ZqICq9HgehN/OKJU0LdDG8agOCc='],
  'linux-x64-musl': ['bun-linux-x64-musl-baseline', 'X6kqAt3vqaoiCIw8uquI4vXMZksILQOqz58TqqoNKeo='],
  'linux-arm64': ['bun-linux-aarch64', 'w81WWUydXQJd+H93xorUaZpJtSVR8PMjK+b3J1M/4Iw='],
  'linux-arm64-musl': ['bun-linux-aarch64-musl', 'dXspKQzM3Ziw3fZvdl9zcbhpbADPRQuYKzX+AE3IIGk='],
  'darwin-x64': ['bun-darwin-x64-baseline', 'R3FEiG9ssAI42pPoBbIlzIWokzodbaiVI0eU3SiqtrE='],
  'darwin-arm64': ['bun-darwin-aarch64', 'iMOY7hMhLosYkRmivdx9JArk8SUsHQrirB/UTJIf3LE='],
  'windows-x64': ['bun-windows-x64-baseline', 'of+FswFvVde/KMwSKE/H1EXz4mASEaiY18azPgey4Og='],
};
/** Files shipped with each executable. BUN-LICENSES.txt is Bun's license and those of the libraries that Bun links. */
const DOCUMENTS = [
  'LICENSE',
  'CHANGELOG.md',
  'man/restaurant.1',
  'dist/THIRD-PARTY.txt',
  'scripts/licenses/BUN-LICENSES.txt',
  'scripts/licenses/LGPL-2.0.txt',
  'scripts/licenses/LGPL-2.1.txt',
];
const target = path('dist/standalone');
const run = promisify(execFile);

/** Platform of this machine, as in {@link PLATFORMS}. */
function ownPlatform() {
  const system = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform];
  const { glibcVersionRuntime } = process.report.getReport().header;
  const libc = process.platform === 'linux' && glibcVersionRuntime === undefined ? '-musl' : '';
  return `${system}-${process.arch}${libc}`;
}

/** Downloads Bun for a platform. @returns the path of its executable */
async function fetchBun(platform) {
  const [name, sha256] = PLATFORMS[platform] ?? [];
  if (name === undefined) {
    throw new Error(`no executable for ${platform}; known platforms: ${Object.keys(PLATFORMS).join(', ')}`);
  }
  const folder = path('node_modules/.cache', `bun-${BUN_VERSION}`, name);
  const file = join(folder, 'package/bin', platform.startsWith('windows') ? 'bun.exe' : 'bun');
  if (existsSync(file)) return file;
  await mkdir(folder, { recursive: true });
  // Unlike `npm install`, it accepts packages for other platforms.
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const words = ['pack', '--silent', `@oven/${name}@${BUN_VERSION}`, '--pack-destination', folder];
  const { stdout } = await run(npm, words, { shell: process.platform === 'win32' });
  const archive = join(folder, stdout.trim().split('\n').at(-1));
  if (hash('sha256', await readFile(archive), 'base64') !== sha256)
    throw new Error(`${archive}: unexpected content`);
  await run('tar', ['-xzf', archive, '-C', folder]);
  await rm(archive);
  await chmod(file, 0o755);
  return file;
}

/**
 * A copy of the build at the same path on every machine, whatever TMPDIR is: Bun writes the paths of the modules into the
 * executable. It must not exist yet, so that nobody else can place files there.
 */
const BUILD_FOLDER = join(process.platform === 'win32' ? tmpdir() : '/tmp', 'restaurant-build');

/** Compiles the program for a platform. @returns the executable's path */
async function compile(platform, folder) {
  const outfile = join(folder, platform.startsWith('windows') ? 'restaurant.exe' : 'restaurant');
  const words = [
    'build',
    '--compile',
    '--bytecode',
    `--compile-executable-path=${await fetchBun(platform)}`,
    `--target=${PLATFORMS[platform][0]}`,
    // Files in the current folder must not configure the program.
    '--no-compile-autoload-dotenv',
    '--no-compile-autoload-bunfig',
    'start.cjs',
    `--outfile=${outfile}`,
  ];
  const compiler = await fetchBun(ownPlatform());
  await mkdir(folder, { recursive: true });
  try {
    await mkdir(BUILD_FOLDER);
  } catch (cause) {
    if (cause.code !== 'EEXIST') throw cause;
    process.stderr.write(`${BUILD_FOLDER} exists: delete it, unless another build is running\n`);
    process.exit(1);
  }
  try {
    await cp(path('dist'), BUILD_FOLDER, { recursive: true, filter: (each) => each !== target });
    await run(compiler, words, { cwd: BUILD_FOLDER });
  } finally {
    await rm(BUILD_FOLDER, { recursive: true });
  }
  // Bun changes this executable but leaves its signature, which no longer matches, so that macOS ends the process at its
  // start. Unlike arm64, x64 needs no signature.
  if (platform === 'darwin-x64') await writeFile(outfile, Buffer.from(unsign(await readFile(outfile))));
  return outfile;
}

/** Packs the executable of a platform with its documents. @returns the path of the archive */
async function pack(platform) {
  const name = `restaurant-${manifest.version}-${platform}`;
  const folder = join(target, name);
  await compile(platform, folder);
  for (const document of DOCUMENTS) await copyFile(path(document), join(folder, basename(document)));
  const bill = JSON.parse(read('dist/sbom.cdx.json'));
  const bun = { name: 'bun', version: BUN_VERSION, license: 'MIT' };
  bill.components.push(...billOf(bun, [bun]).components);
  await writeFile(join(folder, 'sbom.cdx.json'), toJson(bill));
  const { stdout: time } = await run('git', ['log', '-1', '--format=%ct'], { cwd: path() });
  const archive = await (platform.startsWith('windows') ? zip : tar)(name, Number(time));
  await rm(folder, { recursive: true });
  return join(target, archive);
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
  const env = { ...process.env, TZ: 'UTC' };
  await run('zip', ['-q', '-X', `${name}.zip`, ...files], { cwd: target, env });
  return `${name}.zip`;
}

async function report(file) {
  process.stdout.write(`${file}  ${((await stat(file)).size / 1e6).toFixed(1)} MB\n`);
}

const words = process.argv.slice(2);
const platforms = words.includes('--all') ? Object.keys(PLATFORMS) : words;
if (platforms.length > 0) await rm(target, { recursive: true, force: true });
else await report(await compile(ownPlatform(), target));
for (const platform of platforms) await report(await pack(platform));

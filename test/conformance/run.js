// Runs the official MCP conformance suite: its client scenarios against command lines of this program, its server
// scenarios against the sandbox. The suite is installed into a temporary folder. It needs Node.js 22 or later: the one that
// CONFORMANCE_NODE names, or that of the npm package `node`. OAuth is out of scope, because the service uses keys.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENT, LEFT_OUT, SERVER } from './scenarios.js';

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const root = fileURLToPath(new URL('../..', import.meta.url));
const work = mkdtempSync(join(tmpdir(), 'restaurant-conformance-'));

/** The Node.js that runs the suite, and the path of the suite. */
function install() {
  const own = Number(process.versions.node.split('.')[0]) >= 22 ? process.execPath : undefined;
  const node = process.env.CONFORMANCE_NODE ?? own;
  const packages = node === undefined ? [SUITE, 'node@24'] : [SUITE];
  const flags = ['--prefix', work, '--no-audit', '--no-fund', '--no-save', '--loglevel=error'];
  const stdio = ['ignore', 'ignore', 'inherit'];
  execFileSync('npm', ['install', ...flags, ...packages], { cwd: work, stdio });
  const modules = join(work, 'node_modules');
  const program = join(modules, '@modelcontextprotocol', 'conformance', 'dist', 'index.js');
  return [node ?? join(modules, 'node', 'bin', 'node'), program];
}

/** Creates a folder for each run: the home of its processes and the place of its results. */
const freshFolder = () => mkdtempSync(join(work, 'run-'));

/** The environment of a user who has configured only a key. */
function environment(home) {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(RESTAURANT_|XDG_|npm_|CONFORMANCE_)/.test(name),
  );
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`;
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    PATH: path,
    RESTAURANT_API_KEY: 'sk_service_conformance_1',
  };
}

/** Runs the suite. @returns its exit code, its output, and a function that reads the checks of a scenario */
function runSuite([node, program], words) {
  const folder = freshFolder();
  const options = { cwd: root, env: environment(folder), timeout: 60_000 };
  const checksOf = (scenario) => {
    // Folders of results are named like initialize-2026-11-22T16-27-00-763Z and server-ping-2026-11-22T16-27-00-763Z.
    const pattern = new RegExp(`^(server-)?${scenario}-\\d{4}-\\d\\d-\\d\\dT`);
    const results = readdirSync(folder).find((name) => pattern.test(name));
    return results === undefined
      ? []
      : JSON.parse(readFileSync(join(folder, results, 'checks.json'), 'utf8'));
  };
  return new Promise((resolve) => {
    execFile(node, [program, ...words, '-o', folder], options, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : error.code, output: `${stdout}${stderr}`, checksOf }),
    );
  });
}

/** Returns the problems of a run: unexpected failures and warnings, too few checks, a failed client. */
function faultsOf({ status, output }, checks, { expected = {}, mode }) {
  const bad = checks.filter((check) => check.status === 'FAILURE' || check.status === 'WARNING');
  const isExpected = ({ id, errorMessage = '' }) =>
    Object.hasOwn(expected, id) || errorMessage.includes('does not list the diagnostic tool');
  const faults = bad
    .filter((check) => !isExpected(check))
    .map((check) => `${check.status} ${check.id}: ${check.errorMessage ?? check.description}`);
  if (countGood(checks) === 0) faults.push(`no check was made; the suite said:\n${output}`);
  if (mode === 'client' && status !== 0) faults.push(`the suite ended with ${status}:\n${output}`);
  return faults;
}

/** Counts successful checks, without the check of the message format, which also passes if there are no messages. */
const countGood = (checks) =>
  checks.filter(({ status, id }) => status === 'SUCCESS' && id !== 'wire-schema-valid').length;

const total = { scenarios: 0, checks: 0, failed: 0 };
function report(title, run, rules) {
  const checks = run.checksOf(rules.scenario);
  const faults = faultsOf(run, checks, rules);
  const good = countGood(checks);
  total.scenarios += 1;
  total.checks += good;
  if (faults.length > 0) total.failed += 1;
  console.log(`${faults.length === 0 ? 'ok    ' : 'FAILED'} ${title}: ${good} checks`);
  for (const fault of faults) console.log(`       ${fault.slice(0, 2000)}`);
}

/** Fails unless every scenario of the suite is run, or excluded with a reason. */
function checkThatAllAreKnown(suite) {
  const list = execFileSync(suite[0], [suite[1], 'list'], { encoding: 'utf8' });
  const names = [...list.matchAll(/^ {2}- (\S+)/gm)].map(([, name]) => name);
  const known = [...CLIENT, ...SERVER].map(({ scenario }) => scenario);
  const unknown = names.filter(
    (name) => !known.includes(name) && !LEFT_OUT.some(({ names: out }) => out.test(name)),
  );
  if (names.length === 0 || unknown.length > 0) throw new Error(`unknown scenarios: ${unknown}`);
  return names.filter((name) => !known.includes(name));
}

function startSandbox(reply) {
  const words = `sandbox --mode mcp --no-auth --port 0 --per-minute 0 --json --reply ${reply}`.split(' ');
  const child = spawn(process.execPath, [join(root, 'bin/restaurant.js'), ...words], {
    env: environment(freshFolder()),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.stdout.once('data', (line) =>
      resolve({ url: JSON.parse(line).endpoint, stop: () => child.kill() }),
    );
    child.once('exit', (code) => reject(new Error(`the sandbox ended with ${code}`)));
  });
}

async function runClientScenarios(suite) {
  for (const { scenario, versions, line } of CLIENT) {
    for (const version of versions) {
      const command =
        line === undefined ? 'node test/conformance/client.js' : `node bin/restaurant.js ${line} --endpoint`;
      const words = ['client', '--command', command, '--scenario', scenario, '--spec-version', version];
      report(`client ${scenario} ${version}: ${line ?? 'several commands'}`, await runSuite(suite, words), {
        scenario,
        mode: 'client',
      });
    }
  }
}

/** Runs all scenarios of a protocol version in one process, and reports those that the sandbox supports. */
async function runServerScenarios(suite, reply) {
  const sandbox = await startSandbox(reply);
  try {
    for (const version of new Set(SERVER.flatMap(({ versions }) => versions))) {
      const words = ['server', '--url', sandbox.url, '--suite', 'all', '--spec-version', version];
      const run = await runSuite(suite, words);
      for (const { scenario, expected } of SERVER.filter(({ versions }) => versions.includes(version)))
        report(`server ${scenario} ${version} (${reply})`, run, { scenario, mode: 'server', expected });
    }
  } finally {
    sandbox.stop();
  }
}

try {
  const suite = install();
  const leftOut = checkThatAllAreKnown(suite);
  // If one fails, the others must still stop their sandboxes.
  const endings = await Promise.allSettled([
    runClientScenarios(suite),
    runServerScenarios(suite, 'json'),
    runServerScenarios(suite, 'sse'),
  ]);
  for (const { status, reason } of endings) if (status === 'rejected') throw reason;
  console.log(`left out: ${leftOut.length} scenarios`);
  for (const { names, why } of LEFT_OUT)
    console.log(`  ${leftOut.filter((name) => names.test(name)).length}: ${why}`);
  console.log(`${total.scenarios} runs, ${total.checks} checks, ${total.failed} runs failed`);
  process.exitCode = total.failed === 0 && total.checks > 0 ? 0 : 1;
} finally {
  rmSync(work, { recursive: true, force: true });
}

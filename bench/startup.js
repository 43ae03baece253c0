// Start-up and one call, compared with bare scripts that do the same, and with curl.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { path } from '../scripts/project.js';
import { line, sideBySide } from './measure.js';

const bin = path('bin/restaurant.js');
const bare = path('bench/bare-find.cjs');

/** The request of bare-find.cjs. */
const curl = ({ RESTAURANT_BASE_URL: baseUrl, RESTAURANT_API_KEY: key }) => [
  ...['curl', '--silent', '--show-error', '--fail', `${baseUrl}/api/mcp`],
  ...['-H', 'Content-Type: application/json', '-H', 'Accept: application/json, text/event-stream'],
  ...['-H', `Authorization: Bearer ${key}`, '-d'],
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_restaurant","arguments":{"name":"Nopa","city":"SF"}}}',
];

/**
 * Prints the start-up times.
 * @param node runs the scripts
 * @param program the command line of our program; default: our build for that Node
 * @returns for each row its label, its baseline and the ratio of ours to it
 */
export function benchStartup({ node, program = [node, bin], home, env, runs, say }) {
  const empty = join(home, 'empty.cjs');
  writeFileSync(empty, '');
  const find = ['find', 'Nopa', '--city', 'SF', '--json'];
  const anEmptyScript = ['an empty script', [node, empty]];
  const rows = [
    ['`restaurant --version`', ['--version'], ...anEmptyScript],
    ['`restaurant --help`', ['--help'], ...anEmptyScript],
    ['`find --help`', ['find', '--help'], ...anEmptyScript],
    [
      '`find` over loopback',
      [...find, '--max-age', '0'],
      'a bare `node:http` script (CommonJS)',
      [node, bare],
    ],
    ['`find` over loopback', [...find, '--max-age', '0'], '`curl`', curl(env)],
    ['`find` from the cache', [...find, '--max-age', '10m'], ...anEmptyScript],
  ];
  const hasCurl = spawnSync('curl', ['--version']).status === 0;
  return rows
    .filter(([, , , theirs]) => hasCurl || theirs[0] !== 'curl')
    .map(([label, ours, baseline, theirs]) => {
      const compared = sideBySide([...program, ...ours], theirs, env, runs);
      say(line(label, compared, baseline));
      return { label, baseline, ratio: compared.ratio };
    });
}

/** Returns the table of docs/performance.md. @param columns for each program the rows of {@link benchStartup} */
export function startupTable(columns) {
  const names = Object.keys(columns);
  const [first = []] = Object.values(columns);
  const rows = first.map(({ label, baseline }, index) => [
    label,
    ...names.map((name) => columns[name][index].ratio.toFixed(2)),
    baseline,
  ]);
  const table = [['', ...names, 'Baseline'], ['', ...names, ''].map(() => '---'), ...rows];
  return table.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

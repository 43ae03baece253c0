// One tool call with other command-line clients for MCP servers. They need the handshake, so our program performs it, too.
import { join } from 'node:path';
import { path } from '../scripts/project.js';
import { line, sideBySide } from './measure.js';
import { startSandbox } from './service.js';

const bin = path('bin/restaurant.js');
const ARGUMENTS = { name: 'Nopa', city: 'SF' };

/** Prints how many times faster our program is. @param packages the folder with the other clients */
export async function benchPeers({ node, packages, env, runs, say }) {
  const sandbox = await startSandbox('--mode', 'mcp', '--no-auth');
  const endpoint = `${sandbox.baseUrl}/api/mcp`;
  const pairs = Object.entries(ARGUMENTS).map((pair) => pair.join('='));
  const options = ['--endpoint', endpoint, '--protocol', '2025-11-25', '--json'];
  const ours = [node, bin, 'call', 'find_restaurant', ...pairs, ...options];
  const others = {
    mcporter: [
      join(packages, 'mcporter', 'dist', 'cli.js'),
      ...['call', '--http-url', endpoint, '--allow-http', '--tool', 'find_restaurant', '--output', 'json'],
      ...['--args', JSON.stringify(ARGUMENTS)],
    ],
    'the MCP inspector': [
      join(packages, '@modelcontextprotocol', 'inspector', 'cli', 'build', 'cli.js'),
      ...['--cli', endpoint],
      ...'--transport http --method tools/call --tool-name find_restaurant'.split(' '),
      ...pairs.flatMap((pair) => ['--tool-arg', pair]),
    ],
  };
  try {
    for (const [name, theirs] of Object.entries(others)) {
      const compared = sideBySide([node, ...theirs], ours, env, Math.ceil(runs / 3));
      say(line(name, compared, 'restaurant call'));
    }
  } finally {
    sandbox.stop();
  }
}

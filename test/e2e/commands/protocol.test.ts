import { expect, it, onTestFinished, vi } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../../src/sandbox/server.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { freePort } from '../../helpers/servers.ts';

const COMMANDS = [
  ['find', 'Nopa', '--city', 'SF', '--json'],
  ['tools', '--json'],
  ['status', '--check', '--json'],
  ['find', 'Nopa', '--city', 'SF', '--json', '--protocol', 'auto'],
];

async function sandboxAt(port: number, mode: SandboxOptions['mode']) {
  const options = { port, ...(mode === undefined ? {} : { mode }), perMinute: 0, perDay: 0 };
  // A process that another test starts may briefly hold the closed port.
  const sandbox = await vi.waitFor(() => startSandbox(options), { timeout: 10_000 });
  onTestFinished(() => sandbox.close());
  return sandbox;
}

it.each([
  ['service', 'mcp'],
  ['mcp', 'service'],
] as const)(
  'an endpoint whose protocol was detected continues to work when it changes from %s to %s',
  async (before, after) => {
    for (const command of COMMANDS) {
      const port = await freePort();
      const first = await sandboxAt(port, before);
      const env = {
        ...newHome().env,
        RESTAURANT_BASE_URL: first.baseUrl,
        RESTAURANT_API_KEY: first.keys.paid,
        RESTAURANT_MAX_AGE: '0',
      };
      expect((await runCli(['find', 'Nopa', '--city', 'SF', '--json'], { env })).exit).toBe(0);
      await first.close();
      await sandboxAt(port, after);
      for (const turn of [1, 2]) {
        const { exit, stderr } = await runCli(command, { env });
        // The plain service has no list of tools.
        const expected = command[0] === 'tools' && after === 'service' ? 7 : 0;
        expect([command, turn, exit, expected === 0 ? stderr : '']).toEqual([command, turn, expected, '']);
      }
    }
  },
);

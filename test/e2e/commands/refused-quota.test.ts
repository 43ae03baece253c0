import { expect, it } from 'vitest';
import { newHome, runCli } from '../../helpers/program.ts';
import { closedPort } from '../../helpers/servers.ts';

it('a refused connection does not count against the quota', async () => {
  const env = {
    ...newHome().env,
    RESTAURANT_BASE_URL: await closedPort(),
    RESTAURANT_API_KEY: 'sk_service_demo_paid',
  };
  const find = ['find', 'Nopa', '--city', 'SF', '--retries', '2', '--json'];
  const { exit, stderr } = await runCli(find, { env, sleep: async () => {} });
  expect([exit, JSON.parse(stderr).error.code]).toEqual([6, 'network']);
  const status = await runCli(['status', '--json'], { env });
  expect(JSON.parse(status.stdout).budget.per_minute.used).toBe(0);
});

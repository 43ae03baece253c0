import { describe, expect, it } from 'vitest';
import '../helpers/seed.ts';
import { newHome, type RunOptions, runCli } from '../helpers/program.ts';
import { useService } from '../helpers/service.ts';

const service = useService();
const WARNING = 'warning: this is sample data, as in your last search\n';

/** A home in which somebody has searched the sample data. @param env the service, if there is one */
async function searched(env: Readonly<Record<string, string>> = {}) {
  const home = newHome();
  const all = { ...env, ...home.env, RESTAURANT_MAX_AGE: '10m' };
  await runCli('find Nopa --city SF --demo'.split(' '), { env: all });
  return (line: string, options: RunOptions = {}) => runCli(line.split(' '), { env: all, ...options });
}

describe('after a search with --demo', () => {
  it('without a service, the sample data stays, and a warning says so', async () => {
    const run = await searched();
    for (const line of ['lookup 1', 'lookup Nopa', 'save 1', 'last']) {
      const { exit, stdout, stderr } = await run(line);
      expect([line, exit, stdout, stderr]).toEqual([line, 0, expect.stringContaining('Nopa'), WARNING]);
    }
    expect(await run('lookup 1 --json')).toMatchObject({ exit: 0, stderr: '' });
    const { stderr } = await run('lookup 1 --agent --json');
    const message = WARNING.trim().replace('warning: ', '');
    expect(JSON.parse(stderr)).toEqual({ warning: { code: 'sample_data', message } });
    expect(await run('lookup 1 --curl')).toMatchObject({ exit: 2, stdout: '' });
  });

  it('without a service, it stays for saved restaurants, unless those of a service are there', async () => {
    const run = await searched();
    await run('save 1 2');
    for (const [line, text] of [
      ['saved', 'Nopa Corner'],
      ['list', 'Nopa Corner'],
      ['unsave 2', 'Nopa Corner is no longer saved'],
      ['changes', ''],
      ['saved --refresh', ''],
    ] as const) {
      const { exit, stdout, stderr } = await run(line);
      expect([line, exit, stdout]).toEqual([line, 0, expect.stringContaining(text)]);
      expect([line, stderr]).toEqual([line, expect.stringContaining(WARNING)]);
    }
  });

  it('without a service, the saved restaurants of an earlier one are shown', async () => {
    const home = newHome();
    const id = 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53';
    const env = { ...home.env, RESTAURANT_MAX_AGE: '10m' };
    await service.run(['save', id], { env });
    await runCli('find Nopalina --city SF --demo'.split(' '), { env });
    await runCli(['save', '1', '--demo'], { env });
    const { stdout, stderr } = await runCli(['saved'], { env });
    expect([stdout, stderr]).toEqual([expect.not.stringContaining('Nopalina'), '']);
    expect(stdout).toContain(id);
  });

  it('with a service, it stays for rows of the search only', async () => {
    const run = await searched(service.env);
    for (const line of ['lookup 1', 'lookup 1-2', 'save #1', 'last'])
      expect([line, await run(line)]).toEqual([line, expect.objectContaining({ exit: 0, stderr: WARNING })]);
    const elsewhere = `--base-url ${service.env.RESTAURANT_BASE_URL}`;
    for (const line of ['lookup 1 --json', 'lookup 1 --quiet', `lookup 1 ${elsewhere}`])
      expect([line, (await run(line)).exit]).toEqual([line, 3]);
    expect((await run('lookup a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53')).stderr).not.toContain('sample data');
  });

  it('stays after pick, also for the restaurant that is chosen at the terminal', async () => {
    const { env } = newHome();
    const tty = { stdin: true, stdout: true, stderr: true, columns: 80 };
    const at = (keys: string[], line: string) => runCli(line.split(' '), { env, tty, answers: { keys } });
    expect((await at(['1', 'q'], 'pick Nopa --city SF --demo')).exit).toBe(0);
    for (const line of ['lookup', 'save', 'unsave', 'pick', 'lookup 1', 'last']) {
      const { exit, stdout, stderr } = await at(['1', 'q'], line);
      expect([line, exit, stdout, stderr]).toEqual([
        line,
        0,
        expect.stringMatching(/Nopa|a7c1e5d2/),
        expect.stringContaining('sample data'),
      ]);
    }
  });
});

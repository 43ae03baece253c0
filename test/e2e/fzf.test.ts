import { describe, expect, it } from 'vitest';
import '../helpers/seed.ts';
import { newHome, runCli } from '../helpers/program.ts';
import { useService } from '../helpers/service.ts';

const service = useService();

/** The commands of fzf in docs/search.md: what find prints, and the preview of a line, whose id fzf puts in place of `{1}`. */
describe.each([
  ['of the service', []],
  ['of the sample data', ['--demo']],
])('the preview of fzf for results %s', (_, demo) => {
  it('shows every restaurant that find prints', async () => {
    const env = { ...(demo.length === 0 ? service.env : {}), ...newHome().env, RESTAURANT_MAX_AGE: '10m' };
    const { stdout: lines } = await runCli(['find', 'nopa', '--city', 'SF', ...demo], { env });
    // Another search, so that most of these rows are only in the cache.
    await runCli(['find', 'tide', '--city', 'London', ...demo], { env });
    const rows = lines.trimEnd().split('\n');
    expect(rows).toHaveLength(3);
    for (const row of rows) {
      const [id = '', name] = row.split('\t');
      const preview = await runCli(['lookup', id, '--offline', ...demo], { env });
      expect(preview).toMatchObject({
        exit: 0,
        stdout: expect.stringContaining(`name\t${name}\n`),
        stderr: expect.stringContaining('warning: summary only: details of 1 restaurant are not cached'),
      });
    }
  });
});

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { start } from '../../helpers/process.ts';
import { everyCommand, readTree } from '../../helpers/tree.ts';

const PAGE = fileURLToPath(new URL('../../../man/restaurant.1', import.meta.url));
const page = readFileSync(PAGE, 'utf8');
const tree = await readTree();

const HAS_GROFF = spawnSync('groff', ['--version']).status === 0;

describe('the manual page', () => {
  it('has the standard sections and every command and option', () => {
    const titles = [...page.matchAll(/^\.SH "(.*)"$/gm)].map(([, title]) => title);
    expect(titles.join()).toBe(
      'NAME,SYNOPSIS,DESCRIPTION,COMMANDS,OPTIONS,ENVIRONMENT,FILES,EXIT STATUS,EXAMPLES,SEE ALSO',
    );
    const escaped = (text: string): string => text.replaceAll('-', '\\-');
    for (const command of everyCommand(tree.commands)) {
      if (command.commands === undefined) expect(page).toContain(`.SS "restaurant ${escaped(command.name)}`);
      for (const { flags } of command.options) expect(page).toContain(escaped(flags));
    }
    for (const { flags } of tree.options) expect(page).toContain(escaped(flags));
    for (const { name } of tree.environment) expect(page).toContain(name);
  });

  it('is plain ASCII without accidental roff requests', () => {
    expect(page).toMatch(/^[\n -~]*$/);
    const requests = [...page.matchAll(/^[.']\S*/gm)].map(([word]) => word);
    expect([...new Set(requests)].sort()).toEqual(
      ['.\\"', '.PP', '.SH', '.SS', '.TH', '.TP', '.ad', '.fi', '.nf', '.nh'].sort(),
    );
  });

  it.skipIf(!HAS_GROFF)('is formatted without a warning, in 80 columns', async () => {
    const { exit, stdout, stderr } = await start('groff', ['-ww', '-man', '-Tutf8', '-P-cbou', PAGE]).ended;
    expect([exit, stderr]).toEqual([0, '']);
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(stdout).toContain('{"name":"find_restaurant","arguments":{"name":"Nopa","city":"SF"}}');
  });
});

import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { restaurant } from '../../helpers/process.ts';
import { newHome } from '../../helpers/program.ts';
import { PAID, useService } from '../../helpers/service.ts';

const MALLORY = 65534;
const FIND = ['find', 'Nopa', '--city', 'SF'];
const service = useService();

/** Creates the home of another user and a folder of root next to it. */
function homes() {
  const { home } = newHome();
  const mallory = join(home, 'mallory');
  const victim = join(home, 'victim');
  for (const folder of [mallory, victim]) mkdirSync(folder);
  const env = { RESTAURANT_BASE_URL: service.sandbox.baseUrl, RESTAURANT_API_KEY: PAID, HOME: mallory };
  /** Changes the owner of everything below a folder to mallory without following links. */
  const giveAway = (): void => {
    chownSync(mallory, MALLORY, MALLORY);
    for (const name of readdirSync(mallory, { recursive: true, encoding: 'utf8' })) {
      lchownSync(join(mallory, name), MALLORY, MALLORY);
    }
  };
  const link = (target: string, path: string): void => {
    mkdirSync(dirname(join(mallory, path)), { recursive: true });
    symlinkSync(target, join(mallory, path));
    giveAway();
  };
  return { env, mallory, victim, link, giveAway };
}

const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);

describe.skipIf(process.getuid?.() !== 0).concurrent('in the home of another user, root', () => {
  it.each(['.local/state/restaurant', '.cache/restaurant', '.config/restaurant'])(
    'does not write to the target of the link %s or change its mode',
    async (path) => {
      const { env, victim, link } = homes();
      chmodSync(victim, 0o755);
      link(victim, path);
      const { exit, stdout } = await restaurant(FIND, { env });
      expect([exit, stdout.split('\n').length]).toEqual([0, 4]);
      const set = await restaurant(['config', 'set', 'city', 'SF'], { env });
      expect([0, 2, 9]).toContain(set.exit);
      expect(readdirSync(victim)).toEqual([]);
      expect(modeOf(victim)).toBe('755');
    },
  );

  it('neither reads nor changes what config.json links to', async () => {
    const { env, victim, link } = homes();
    const tool = join(victim, 'tool');
    writeFileSync(tool, '{"settings":{"city":"Bern"}}', { mode: 0o755 });
    link(tool, '.config/restaurant/config.json');
    const status = await restaurant(['status'], { env });
    expect(status.exit).toBe(2);
    expect(status.stderr).toContain('belongs to user 65534');
    const set = await restaurant(['config', 'set', 'city', 'SF'], { env });
    expect(set.exit).not.toBe(0);
    expect([modeOf(tool), readFileSync(tool, 'utf8')]).toEqual(['755', '{"settings":{"city":"Bern"}}']);
  });

  it('ignores the config file and works with the environment only', async () => {
    const { env, mallory, giveAway } = homes();
    const path = join(mallory, '.config/restaurant/config.json');
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '{"profiles":{"default":{"base_url":"http://127.0.0.1:9"}}}', { mode: 0o600 });
    giveAway();
    const { RESTAURANT_BASE_URL: _, ...withoutService } = env;
    const refused = await restaurant(FIND, { env: withoutService });
    expect([refused.exit, refused.stderr.includes(path)]).toEqual([2, true]);
    expect((await restaurant(FIND, { env })).exit).toBe(0);
  });

  it.each(['missing', 'sudoers'])('does not create or extend the target of a lock file: %s', async (name) => {
    const { env, victim, mallory, link } = homes();
    const target = join(victim, name);
    if (name !== 'missing') writeFileSync(target, 'text\n');
    link(target, '.config/restaurant/config.json.lock');
    expect((await restaurant(['config', 'set', 'city', 'SF'], { env })).exit).toBe(9);
    link(target, 'out.csv.lock');
    const list = join(victim, 'list.csv');
    writeFileSync(list, 'name,city\nNopa,SF\n');
    const enrich = await restaurant(['enrich', list, '-o', join(mallory, 'out.csv')], { env });
    expect(enrich.exit).toBe(9);
    expect(existsSync(target) ? readFileSync(target, 'utf8') : '').toBe(name === 'missing' ? '' : 'text\n');
  });

  it('does not write through a link, even with --force', async () => {
    const { env, victim, mallory, link } = homes();
    const target = join(victim, 'evil');
    link(target, 'out.csv');
    const path = join(mallory, 'out.csv');
    for (const force of [[], ['--force']]) {
      const { exit } = await restaurant([...FIND, '-o', path, ...force], { env });
      expect(exit).not.toBe(0);
    }
    expect(existsSync(target)).toBe(false);
  });
});

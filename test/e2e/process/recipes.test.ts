import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import type { SandboxRestaurant } from '../../../src/sandbox/types.ts';
import { COMMAND, type ProcessResult, start } from '../../helpers/process.ts';
import { newHome } from '../../helpers/program.ts';
import { useService } from '../../helpers/service.ts';

const PAGE = readFileSync(fileURLToPath(new URL('../../../docs/saved.md', import.meta.url)), 'utf8');
/** The code blocks in a language. */
const blocks = (language: string): string[] =>
  PAGE.split(/^```/m).flatMap((text) =>
    text.startsWith(`${language}\n`) ? [text.slice(language.length + 1)] : [],
  );

const menu: { -readonly [K in keyof SandboxRestaurant]: SandboxRestaurant[K] }[] = [
  { service_id: 'blue-door', name: 'Blue Door', city: 'SF', grade: 'A-' },
  { service_id: 'river-mill', name: 'River Mill', city: 'SF', grade: 'B' },
];
const service = useService({ restaurants: menu });
let home = '';
let env: Record<string, string> = {};

/** As a scheduler runs it: in an almost empty environment. */
const run = (line: string, more: Record<string, string> = {}): Promise<ProcessResult> =>
  start('bash', ['-e', '-o', 'pipefail', '-c', line], { cwd: home, env: { ...env, ...more } }).ended;

function setGrades(...grades: string[]): void {
  for (const [index, one] of menu.entries()) one.grade = grades[index];
}

/** A command on the PATH. */
function install(name: string, script: string): void {
  writeFileSync(join(home, 'bin', name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

beforeEach(async () => {
  home = newHome().home;
  mkdirSync(join(home, 'bin'));
  install('restaurant', `exec ${COMMAND} "$@"`);
  env = { ...service.env, HOME: home, PATH: `${join(home, 'bin')}:${process.env.PATH}` };
  setGrades('A-', 'B');
});

const SAVE = 'restaurant save blue-door river-mill > /dev/null';

describe('the recipe for', () => {
  it.each([
    ['cron', (): string => /^(?:\S+ ){5} ?(.*)$/m.exec(blocks('cron').join())?.[1] ?? ''],
    [
      'systemd',
      (): string => /^ExecStart=(.*)$/m.exec(blocks('ini').join())?.[1]?.replace(' -lc ', ' -c ') ?? '',
    ],
  ])('%s is silent until something changes', async (_name, command) => {
    expect(await run(`${SAVE}; ${command()}`)).toMatchObject({ exit: 0, stdout: '', stderr: '' });
    setGrades('A-', 'C');
    const { exit, stdout, stderr } = await run(command());
    expect([exit, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^\S+\triver-mill\tRiver Mill\tgrade\tB\tC\n$/);
    expect(await run(command())).toMatchObject({ exit: 0, stdout: '', stderr: '' });
  });

  it('GitHub opens an issue when a grade falls, and keeps the record', async () => {
    const runs = blocks('yaml')
      .join()
      .matchAll(/^ {8}run: \|\n((?: {10}.*\n)+)/gm);
    const steps = [...runs].map(([, text = '']) => text.replaceAll(/^ {10}/gm, ''));
    expect(steps).toHaveLength(3);
    install('gh', `echo "$@" >> '${home}/issues'; cat "$RUNNER_TEMP/fallen.txt" >> '${home}/issues'`);
    const clone = join(home, 'clone');
    const here = { RESTAURANT_DATA_DIR: join(clone, 'restaurants') };
    const git = 'git -c user.name=x -c user.email=x@example.com';
    await run(
      `git init -q --bare origin; git clone -q origin clone 2> /dev/null; ${SAVE}; cd clone; git add .; ${git} commit -qm 1; git push -q`,
      here,
    );
    const job = async (): Promise<string> => {
      for (const step of steps) {
        const more = { ...here, RUNNER_TEMP: home, GITHUB_REPOSITORY: 'o/r' };
        const { exit, stdout } = await run(`cd clone\n${step}`, more);
        expect([step, exit, stdout]).toEqual([step, 0, '']);
      }
      return readFileSync(join(home, 'issues'), { encoding: 'utf8', flag: 'a+' });
    };
    expect(await job()).toBe('');
    setGrades('A', 'B');
    expect(await job()).toBe('');
    setGrades('B+', 'B-');
    expect(await job()).toBe(
      'issue create --repo o/r --title A grade fell --body-file fallen.txt\nBlue Door: A to B+\nRiver Mill: B to B-\n',
    );
    const log = await run('git -C origin log --format=%s');
    expect(log.stdout.match(/\n/g)).toHaveLength(4);
    const changes = await run('restaurant changes', here);
    expect(changes.stdout.match(/\n/g)).toHaveLength(3);
  });
});

import { existsSync, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, AGENTS, SCOPES } from '../../../src/commands/skill.ts';
import { shell } from '../../helpers/process.ts';
import { newHome, type RunOptions, runCli } from '../../helpers/program.ts';
import { resetFolder, splitWords } from '../../helpers/runs.ts';
import { useService } from '../../helpers/service.ts';
import { playSessions } from '../../helpers/session.ts';
import { everyCommand, readTree } from '../../helpers/tree.ts';

const SHIPPED = fileURLToPath(new URL('../../../skills/restaurant/SKILL.md', import.meta.url));
const service = useService();
const tree = await readTree();
const skill = (await runCli(['skill', 'print'])).stdout;
const [, head = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(skill) ?? [];
const lines = [...body.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
);

describe('the skill', () => {
  it('follows the format of agentskills.io', () => {
    const fields = Object.fromEntries(head.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
    expect(Object.keys(fields)).toEqual(['name', 'description']);
    expect(fields.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(dirname(SHIPPED).endsWith(`/${fields.name}`)).toBe(true);
    expect(fields.description?.length).toBeLessThanOrEqual(1024);
    // Plain YAML: no mark of it in the text.
    expect(fields.description).toMatch(/^Search [^:#]+ Use when [^:#]+$/);
    expect(skill.split('\n').length).toBeLessThan(120);
  });

  it('is short, and names only commands, options, and codes that exist', () => {
    expect(Buffer.byteLength(skill)).toBeLessThanOrEqual(3000);
    const all = everyCommand(tree.commands);
    const flags = [...tree.options, ...all.flatMap(({ options }) => options)].map(({ name }) => name);
    const named = [...body.matchAll(/(?<![\w-])--[a-z][a-z-]*/g)].map(([flag]) => flag);
    expect(named.length).toBeGreaterThan(10);
    expect([...flags, '--help']).toEqual(expect.arrayContaining(named));
    for (const [, words = ''] of body.matchAll(/`restaurant ([a-z]+( [a-z]+)?)/g)) {
      expect(all.some((each) => words === each.name || words.startsWith(`${each.name} `))).toBe(true);
    }
    const codes = tree.exit_codes.flatMap((each) => each.codes.map(({ code }) => code));
    for (const code of ['no_service', 'no_key', 'plan_required']) {
      expect([body.includes(`\`${code}\``), codes.includes(code)]).toEqual([true, true]);
    }
  });

  it('contains commands that run', async () => {
    resetFolder(service.home);
    expect(lines.length).toBeGreaterThan(8);
    const env = { ...service.env, HOME: service.home, RESTAURANT_AGENT: '1' };
    for (const line of lines) {
      const options = { env, cwd: service.home };
      const { exit, stdout, stderr } = line.includes('|')
        ? await shell(`set -o pipefail; ${line}`, options)
        : await runCli(splitWords(line), options);
      expect([line, exit]).toEqual([line, 0]);
      if (line.endsWith('csv')) expect(stdout).toMatch(/^(?:service_id,)?name,.+\n.+/);
      else expect([line, typeof JSON.parse(stdout)]).toEqual([line, 'object']);
      if (!line.includes('enrich')) expect([line, stderr]).toEqual([line, '']);
    }
  });
});

describe('skill install', () => {
  const folder = (): RunOptions & { cwd: string; env: Record<string, string> } => {
    const { home, env } = newHome();
    const cwd = join(home, 'project');
    mkdirSync(cwd);
    return { cwd, env };
  };
  const install = (words: readonly string[], options: RunOptions) =>
    runCli(['skill', 'install', ...words], options);

  it.each(AGENT_NAMES)('writes to the user and project folder of %s', async (name) => {
    const options = folder();
    for (const scope of SCOPES) {
      const words = [name, '--scope', scope, '--json'];
      const planned = JSON.parse((await install([...words, '--dry-run'], options)).stdout);
      expect(planned).toMatchObject({ agent: name, scope, state: 'new', written: false });
      const base = scope === 'user' ? (options.env.HOME ?? '') : options.cwd;
      const below =
        scope === 'user' ? AGENTS[name].user.at(-1)?.replace(/^\w+|^~/, '') : AGENTS[name].project;
      expect(planned.file.startsWith(base)).toBe(true);
      expect(planned.file.endsWith(`${below}/restaurant/SKILL.md`)).toBe(true);
      expect(existsSync(planned.file)).toBe(false);
      const { exit, stdout, stderr } = await install(words, options);
      expect([exit, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toEqual({ ...planned, written: true });
      expect(readFileSync(planned.file, 'utf8')).toBe(skill);
      expect(lstatSync(planned.file).mode & 0o777).toBe(0o644);
      expect(JSON.parse((await install(words, options)).stdout)).toMatchObject({
        state: 'same',
        written: false,
      });
    }
  });

  it('needs a home folder', async () => {
    expect((await install(['codex'], { ...folder(), env: {}, homedir: () => '' })).exit).toBe(2);
  });
});

playSessions(join(import.meta.dirname, 'skill.session'), {
  commands: {
    installed: (cwd, file = '') => (readFileSync(join(cwd, file), 'utf8') === skill ? 'yes\n' : 'no\n'),
  },
});

import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { AGENT_NAMES, AGENTS, SCOPES } from '../../../src/commands/skill/files.ts';
import { shell } from '../../helpers/process.ts';
import { newHome, type RunOptions, runCli } from '../../helpers/program.ts';
import { resetFolder, splitWords } from '../../helpers/runs.ts';
import { useService } from '../../helpers/service.ts';
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

  it('honors the variables that move an agent', async () => {
    const { cwd, env } = folder();
    for (const [name, variable] of [
      ['claude-code', 'CLAUDE_CONFIG_DIR'],
      ['copilot', 'COPILOT_HOME'],
    ] as const) {
      const { stdout } = await install([name, '--dry-run'], {
        cwd,
        env: { ...env, [variable]: '/else/where' },
      });
      expect(stdout).toBe('/else/where/skills/restaurant/SKILL.md\n');
    }
  });

  it('overwrites a different file only with --force', async () => {
    const options = folder();
    const file = join(options.env.HOME ?? '', '.agents/skills/restaurant/SKILL.md');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, 'my own');
    const refused = await install(['codex'], options);
    expect(refused).toMatchObject({ exit: 2, stdout: '', stderr: expect.stringContaining('--force') });
    const planned = await install(['codex', '--dry-run', '--json'], options);
    expect(JSON.parse(planned.stdout)).toMatchObject({ state: 'different', written: false });
    expect(readFileSync(file, 'utf8')).toBe('my own');
    expect(await install(['codex', '--force'], options)).toMatchObject({ exit: 0, stdout: `${file}\n` });
    expect(readFileSync(file, 'utf8')).toBe(skill);
  });

  it('updates an installed version, and nothing else', async () => {
    const options = folder();
    const file = join(options.env.HOME ?? '', '.agents/skills/restaurant/SKILL.md');
    const update = () => install(['universal', '--update', '--json'], options);
    expect(JSON.parse((await update()).stdout)).toMatchObject({ state: 'new', written: false });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '---\nname: restaurant\n---\nan older version');
    expect(JSON.parse((await update()).stdout)).toMatchObject({ state: 'different', written: true });
    expect(readFileSync(file, 'utf8')).toBe(skill);
    writeFileSync(file, 'my own');
    expect((await update()).exit).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe('my own');
  });

  it('is undone by skill uninstall, which deletes no other file without --force', async () => {
    const options = folder();
    const uninstall = (...words: string[]) =>
      runCli(['skill', 'uninstall', 'cursor', '--json', ...words], options);
    const at = join(options.env.HOME ?? '', '.cursor/skills/restaurant');
    const file = join(at, 'SKILL.md');
    await install(['cursor'], options);
    expect(JSON.parse((await uninstall('--dry-run')).stdout)).toMatchObject({ file, removed: false });
    expect(JSON.parse((await uninstall()).stdout)).toEqual({
      agent: 'cursor',
      scope: 'user',
      file,
      removed: true,
    });
    expect([existsSync(at), existsSync(dirname(at))]).toEqual([false, true]);
    expect(JSON.parse((await uninstall()).stdout)).toMatchObject({ removed: false });
    await install(['cursor'], options);
    writeFileSync(join(at, 'notes.md'), 'mine');
    writeFileSync(file, 'my own');
    expect((await uninstall()).exit).toBe(2);
    expect((await uninstall('--force')).exit).toBe(0);
    expect([existsSync(file), existsSync(join(at, 'notes.md'))]).toEqual([false, true]);
  });

  it.each(['.claude', '.claude/skills', '.claude/skills/restaurant', '.claude/skills/restaurant/SKILL.md'])(
    'never writes through a link of a project: %s',
    async (link) => {
      const options = folder();
      const outside = join(options.env.HOME ?? '', 'outside');
      mkdirSync(outside);
      const path = join(options.cwd, link);
      mkdirSync(dirname(path), { recursive: true });
      symlinkSync(link.endsWith('.md') ? join(outside, 'SKILL.md') : outside, path);
      const { exit, stdout, stderr } = await install(
        ['claude-code', '--scope', 'project', '--force'],
        options,
      );
      expect([exit, stdout]).toEqual([9, '']);
      expect(stderr).toContain(`${path} is a symbolic link`);
      expect(existsSync(join(outside, 'SKILL.md')) || existsSync(join(outside, 'skills'))).toBe(false);
    },
  );

  it('does not block on a pipe in place of the file', async () => {
    const options = folder();
    const file = join(options.env.HOME ?? '', '.agents/skills/restaurant/SKILL.md');
    mkdirSync(dirname(file), { recursive: true });
    execFileSync('mkfifo', [file]);
    expect(await install(['codex', '--force'], options)).toMatchObject({ exit: 9, stdout: '' });
  });

  it('follows a link of the user to the folder of skills', async () => {
    const options = folder();
    const real = join(options.env.HOME ?? '', 'dotfiles');
    mkdirSync(real);
    symlinkSync(real, join(options.env.HOME ?? '', '.claude'));
    expect((await install(['claude-code'], options)).exit).toBe(0);
    expect(readFileSync(join(real, 'skills/restaurant/SKILL.md'), 'utf8')).toBe(skill);
  });

  it('suggests the nearest agent', async () => {
    const { exit, stderr } = await install(['claude'], folder());
    expect(exit).toBe(2);
    expect(stderr).toMatch(/^error: <client> 'claude': .*; did you mean claude-code\?/);
  });

  it('rejects an unknown agent and lists the known ones', async () => {
    const { exit, stderr } = await install(['clippy'], folder());
    expect(exit).toBe(2);
    for (const name of AGENT_NAMES) expect(stderr).toContain(name);
    expect((await install(['codex'], { ...folder(), env: {}, homedir: () => '' })).exit).toBe(2);
  });
});

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { describe, expect, it } from 'vitest';
import { whenFree } from '../../src/storage/files.ts';
import { UNPACED } from '../helpers/enrich.ts';
import { restaurant, start, startRestaurant, until } from '../helpers/process.ts';
import { useService } from '../helpers/service.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { envWith, installCommand } from './installed.ts';

const LIST = 'name,city\r\nNopa,SF\r\nZuni Café,SF\r\n';
const SETTINGS = { city: 'Bern', format: 'json', timeout: '20s' };
const service = useService();

async function enrich(cwd: string, ...words: string[]) {
  const { exit, stderr } = await restaurant(['enrich', ...words], {
    cwd,
    env: { ...service.env, ...UNPACED, HOME: cwd },
  });
  return { exit, stderr };
}

describe('a path', () => {
  it('may have forward slashes, no drive, the prefix \\\\?\\, and more than 260 characters', async () => {
    const cwd = tempFolder();
    const folder = join(cwd, 'x'.repeat(120), 'y'.repeat(120));
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'in.csv'), LIST);
    const paths = [
      join(folder, 'in.csv'),
      join(folder, 'in.csv').replaceAll('\\', '/'),
      join(folder, 'in.csv').slice(parse(folder).root.length - 1),
      `\\\\?\\${join(folder, 'in.csv')}`,
    ];
    for (const [index, path] of paths.entries()) {
      const { exit } = await enrich(cwd, path, '-o', `out${index}.csv`);
      expect([path, exit]).toEqual([path, 0]);
      expect(readFileSync(join(cwd, `out${index}.csv`), 'utf8')).toContain('\r\nNopa,SF,');
    }
  });

  it.each(['NUL', 'con.csv', 'C:\\aux.txt', 'lpt1'])(
    'to the device %s is refused before a request',
    async (path) => {
      service.sent();
      const env = { ...service.env, HOME: tempFolder() };
      const { exit, stderr } = await restaurant(['find', 'Nopa', '--city', 'SF', '-o', path], { env });
      expect([exit, service.sent()]).toEqual([2, 0]);
      expect(stderr).toContain('Windows reserves this name for a device');
    },
  );
});

it('reads a list in Windows-1252', async () => {
  const cwd = tempFolder();
  writeFileSync(join(cwd, 'in.csv'), LIST, 'latin1');
  const { exit } = await enrich(cwd, 'in.csv', '-o', 'out.csv', '--encoding', 'windows-1252');
  expect(exit).toBe(0);
  expect(readFileSync(join(cwd, 'out.csv'), 'utf8')).toContain('Zuni Café,SF,');
});

it('a run that is ended resumes with every row', async () => {
  const cwd = tempFolder();
  const rows = Array.from({ length: 60 }, (_each, index) => `Place ${index},SF\r\n`);
  writeFileSync(join(cwd, 'in.csv'), `name,city\r\n${rows.join('')}`);
  expect((await enrich(cwd, 'in.csv', '-o', 'whole.csv')).exit).toBe(0);
  const env = { ...service.env, ...UNPACED, HOME: cwd };
  const run = startRestaurant(['enrich', 'in.csv', '-o', 'out.csv', '--concurrency', '1'], {
    cwd,
    env,
  });
  const size = (): number =>
    existsSync(join(cwd, 'out.csv')) ? readFileSync(join(cwd, 'out.csv')).length : 0;
  await until(() => size() > 500, run);
  run.process.kill();
  await run.ended;
  expect((await enrich(cwd, 'in.csv', '-o', 'out.csv', '--resume')).exit).toBe(0);
  expect(readFileSync(join(cwd, 'out.csv'), 'utf8')).toBe(readFileSync(join(cwd, 'whole.csv'), 'utf8'));
});

describe('processes at the same time', () => {
  it('keep all changes of one config file, and all requests in one ledger', async () => {
    const home = tempFolder();
    const env = { ...service.env, HOME: home };
    const set = (name: string, value: string) => restaurant(['config', 'set', name, value], { env });
    const find = (name: string) => restaurant(['find', name, '--city', 'SF'], { env });
    service.sent();
    const runs = await Promise.all(
      Object.entries(SETTINGS).flatMap(([name, value]) => [set(name, value), find(value)]),
    );
    expect(runs.map(({ exit, stderr }) => [exit, stderr])).toEqual(runs.map(() => [0, '']));
    const { settings } = JSON.parse(readFileSync(join(home, '.config/restaurant/config.json'), 'utf8'));
    expect(settings).toEqual(SETTINGS);
    expect(service.sent()).toBe(3);
  });

  it('a rename waits until another process closes the file', async () => {
    const folder = tempFolder();
    const [target, source, end] = ['target', 'source', 'end'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(target, 'old');
    writeFileSync(source, 'new');
    const script = join(folder, 'hold.js');
    writeFileSync(
      script,
      `console.log('held'); setInterval(() => require('fs').existsSync('end') && process.exit(), 5);`,
    );
    // cmd.exe opens the file of a redirection without sharing its deletion.
    const line = `""${process.execPath}" "${script}" < "${target}""`;
    const env = envWith(installCommand());
    const holder = start('cmd', ['/d', '/s', '/c', line], { cwd: folder, env, verbatim: true });
    await holder.printed('held');
    const codes: unknown[] = [];
    whenFree(() => {
      try {
        renameSync(source, target);
      } catch (error) {
        codes.push((error as { code?: string }).code);
        if (codes.length === 3) writeFileSync(end, '');
        throw error;
      }
    });
    expect(codes.length).toBeGreaterThan(2);
    expect(codes).toEqual(codes.map(() => expect.stringMatching(/^(EPERM|EBUSY|EACCES)$/)));
    expect(readFileSync(target, 'utf8')).toBe('new');
    await holder.ended;
  });
});

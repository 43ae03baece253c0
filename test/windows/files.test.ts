import { renameSync } from 'node:fs';
import { join, parse } from 'node:path';
import { describe, expect, it } from 'vitest';
import { whenFree } from '../../src/storage/files.ts';
import { UNPACED } from '../helpers/enrich.ts';
import { useFolder } from '../helpers/files.ts';
import { restaurant, start, startRestaurant, until } from '../helpers/process.ts';
import { useService } from '../helpers/service.ts';
import { envWith, installCommand } from './installed.ts';

const LIST = 'name,city\r\nNopa,SF\r\nZuni Café,SF\r\n';
const SETTINGS = { city: 'Bern', format: 'json', timeout: '20s' };
const service = useService();

const folder = useFolder();
const optionsOf = () => ({ cwd: folder.path, env: { ...service.env, ...UNPACED, HOME: folder.path } });
const enrich = async (...words: string[]) => (await restaurant(['enrich', ...words], optionsOf())).exit;

describe('a path', () => {
  it('may have forward slashes, no drive, the prefix \\\\?\\, and more than 260 characters', async () => {
    const long = folder.write(join('x'.repeat(120), 'y'.repeat(120), 'in.csv'), LIST);
    const paths = [
      long,
      long.replaceAll('\\', '/'),
      long.slice(parse(long).root.length - 1),
      `\\\\?\\${long}`,
    ];
    for (const [index, path] of paths.entries()) {
      expect([path, await enrich(path, '-o', `out${index}.csv`)]).toEqual([path, 0]);
      expect(folder.read(`out${index}.csv`)).toContain('\r\nNopa,SF,');
    }
  });

  it.each(['NUL', 'con.csv', 'C:\\aux.txt', 'lpt1'])(
    'to the device %s is refused before a request',
    async (path) => {
      service.sent();
      const words = ['find', 'Nopa', '--city', 'SF', '-o', path];
      const { exit, stderr } = await restaurant(words, optionsOf());
      expect([exit, service.sent()]).toEqual([2, 0]);
      expect(stderr).toContain('Windows reserves this name for a device');
    },
  );
});

it('reads a list in Windows-1252', async () => {
  folder.write('in.csv', Buffer.from(LIST, 'latin1'));
  expect(await enrich('in.csv', '-o', 'out.csv', '--encoding', 'windows-1252')).toBe(0);
  expect(folder.read('out.csv')).toContain('Zuni Café,SF,');
});

it('a run that is ended continues with every row', async () => {
  const rows = Array.from({ length: 60 }, (_each, index) => `Place ${index},SF\r\n`);
  folder.write('in.csv', `name,city\r\n${rows.join('')}`);
  expect(await enrich('in.csv', '-o', 'whole.csv')).toBe(0);
  const words = ['enrich', 'in.csv', '-o', 'out.csv'];
  const run = startRestaurant(words, optionsOf());
  await until(
    () => folder.list().includes('out.answers.ndjson') && folder.read('out.answers.ndjson').length > 2000,
    run,
  );
  run.process.kill();
  await run.ended;
  expect(await enrich('in.csv', '-o', 'out.csv')).toBe(0);
  expect(folder.read('out.csv')).toBe(folder.read('whole.csv'));
});

describe('processes at the same time', () => {
  it('keep all changes of one config file, and all requests in one ledger', async () => {
    const env = { ...service.env, HOME: folder.path };
    const set = (name: string, value: string) => restaurant(['config', 'set', name, value], { env });
    const find = (name: string) => restaurant(['find', name, '--city', 'SF'], { env });
    service.sent();
    const runs = await Promise.all(
      Object.entries(SETTINGS).flatMap(([name, value]) => [set(name, value), find('Nopa')]),
    );
    expect(runs.map(({ exit, stderr }) => [exit, stderr])).toEqual(runs.map(() => [0, '']));
    const { settings } = JSON.parse(folder.read('.config/restaurant/config.json'));
    expect(settings).toEqual(SETTINGS);
    expect(service.sent()).toBe(3);
  });

  it('a rename waits until another process closes the file', async () => {
    const target = folder.write('target', 'old');
    const source = folder.write('source', 'new');
    const script = folder.write(
      'hold.js',
      `console.log('held'); setInterval(() => require('fs').existsSync('end') && process.exit(), 5);`,
    );
    // cmd.exe opens the file of a redirection without sharing its deletion.
    const line = `""${process.execPath}" "${script}" < "${target}""`;
    const env = envWith(installCommand());
    const holder = start('cmd', ['/d', '/s', '/c', line], { cwd: folder.path, env, verbatim: true });
    await holder.printed('held');
    const codes: unknown[] = [];
    whenFree(() => {
      try {
        renameSync(source, target);
      } catch (error) {
        codes.push((error as { code?: string }).code);
        if (codes.length === 3) folder.write('end');
        throw error;
      }
    });
    expect(codes.length).toBeGreaterThan(2);
    expect(codes).toEqual(codes.map(() => expect.stringMatching(/^(EPERM|EBUSY|EACCES)$/)));
    expect(folder.read('target')).toBe('new');
    await holder.ended;
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { restaurantInTerminal } from '../../helpers/terminal.ts';

const RESTAURANTS = ['Bar One', 'Bar Two', 'Café One', 'Café Two'].map((name, index) => ({
  service_id: `id-${index}`,
  name,
  city: 'Testville',
}));
const service = useService({ restaurants: RESTAURANTS });

async function listIn(folder: string, rows: readonly string[]): Promise<Record<string, string | undefined>> {
  writeFileSync(join(folder, 'list.csv'), `name,city\n${rows.map((name) => `${name},Testville\n`).join('')}`);
  const env = { ...service.env, HOME: folder, RESTAURANT_MAX_AGE: undefined };
  const words = ['enrich', 'list.csv', '-o', 'out.csv'];
  expect((await service.run(words, { cwd: folder, env })).exit).toBe(0);
  return env;
}

describe('review in a terminal', () => {
  it('reads single keys and words, and ends with Ctrl-C without losing a decision', async () => {
    const folder = tempFolder();
    const env = await listIn(folder, ['Bar', 'Café', 'One']);
    const terminal = restaurantInTerminal(['review', 'out.csv'], { env, cwd: folder });
    await terminal.shown('1 of 3');
    await terminal.shown('q quit');
    terminal.type('2');
    await terminal.shown('2 of 3');
    terminal.type('s');
    await terminal.shown('Name');
    terminal.type('Bar Two\r');
    await terminal.shown('City');
    terminal.type('\r');
    await terminal.shown('2   Bar Two');
    terminal.type('2');
    await terminal.shown('3 of 3');
    terminal.type('\x03');
    expect((await terminal.ended).exit).toBe(130);
    const out = readFileSync(join(folder, 'out.csv'), 'utf8').split('\n');
    expect(out[1]).toContain('Bar,Testville,matched,confirmed,2,id-1,Bar Two');
    expect(out[2]).toContain('Café,Testville,matched,confirmed,2,id-1,Bar Two');
    expect(out[3]).toContain('One,Testville,ambiguous');
  });

  it('loses no decision when it is killed', async () => {
    const folder = tempFolder();
    const env = await listIn(folder, ['Bar', 'Café', 'One']);
    const before = readFileSync(join(folder, 'out.csv'), 'utf8');
    const first = restaurantInTerminal(['review', 'out.csv'], { env, cwd: folder });
    await first.shown('1 of 3');
    await first.shown('q quit');
    first.type('y');
    await first.shown('2 of 3');
    first.type('n');
    await first.shown('3 of 3');
    first.kill();
    await first.ended;
    expect(readFileSync(join(folder, 'out.csv'), 'utf8')).toBe(before);
    const second = restaurantInTerminal(['review', 'out.csv'], { env, cwd: folder });
    await second.shown('2 rows of an interrupted run added to out.csv');
    await second.shown('1 of 1');
    second.type('q');
    expect((await second.ended).exit).toBe(0);
    const out = readFileSync(join(folder, 'out.csv'), 'utf8').split('\n');
    expect(out[1]).toContain('Bar,Testville,matched,confirmed,2,id-0,Bar One');
    expect(out[2]).toContain('Café,Testville,not_found,rejected,2,,');
  });
});

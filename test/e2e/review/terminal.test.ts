import { describe, expect, it } from 'vitest';
import { TestFolder } from '../../helpers/files.ts';
import { useService } from '../../helpers/service.ts';
import { restaurantInTerminal, screen } from '../../helpers/terminal.ts';

const RESTAURANTS = ['Bar One', 'Bar Two', 'Café One', 'Café Two'].map((name, index) => ({
  service_id: `id-${index}`,
  name,
  city: 'Testville',
}));
const service = useService({ restaurants: RESTAURANTS });

/** Starts a review of three doubtful rows. */
async function reviewOfThree() {
  const folder = new TestFolder();
  folder.write('list.csv', 'name,city\nBar,Testville\nCafé,Testville\nOne,Testville\n');
  const options = {
    env: { ...service.env, HOME: folder.path, RESTAURANT_MAX_AGE: undefined },
    cwd: folder.path,
  };
  expect((await service.run(['enrich', 'list.csv', '-o', 'out.csv'], options)).exit).toBe(0);
  const before = folder.read('out.csv');
  const review = () => restaurantInTerminal(['review', 'out.csv'], options);
  const terminal = review();
  await terminal.shown('1 of 3');
  await terminal.shown('q quit');
  return { terminal, review, before, read: () => folder.read('out.csv') };
}

describe('review in a terminal', () => {
  it('reads single keys and words, and ends with Ctrl-C without losing a decision', async () => {
    const { terminal, read } = await reviewOfThree();
    terminal.type('2');
    await terminal.shown('2 of 3');
    terminal.type('s');
    await terminal.shown('Name');
    terminal.type('Bar Two\r');
    await terminal.shown('City');
    terminal.type('\r');
    await terminal.shown('  1 Bar Two');
    terminal.type('1');
    await terminal.shown('3 of 3');
    terminal.type('\x03');
    expect((await terminal.ended).exit).toBe(130);
    const out = read().split('\n');
    expect(out[1]).toContain('Bar,Testville,matched,confirmed,2,id-1,Bar Two');
    expect(out[2]).toContain('Café,Testville,matched,confirmed,2,id-1,Bar Two');
    expect(out[3]).toContain('One,Testville,ambiguous');
  });

  it('says how to go on after Ctrl-C at a question', async () => {
    const { terminal } = await reviewOfThree();
    terminal.type('s');
    await terminal.shown('Name [Bar]');
    terminal.type('\x03');
    const { exit, output } = await terminal.ended;
    expect([exit, screen(output).join(' ')]).toEqual([
      130,
      expect.stringContaining('your decisions are saved; to continue: restaurant review out.csv'),
    ]);
  });

  it('loses no decision when it is killed', async () => {
    const { terminal, review, before, read } = await reviewOfThree();
    terminal.type('y');
    await terminal.shown('2 of 3');
    terminal.type('n');
    await terminal.shown('3 of 3');
    terminal.kill();
    await terminal.ended;
    expect(read()).toBe(before);
    const second = review();
    await second.shown('1 of 1');
    second.type('q');
    expect((await second.ended).exit).toBe(0);
    const out = read().split('\n');
    expect(out[1]).toContain('Bar,Testville,matched,confirmed,2,id-0,Bar One');
    expect(out[2]).toContain('Café,Testville,not_found,rejected,2,,');
  });
});

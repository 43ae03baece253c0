import { expect, it } from 'vitest';
import { History } from './history.ts';
import { countOf, MAX_MS, playAll, SEED } from './play.ts';
import { STEPS } from './steps.ts';

const COUNT = countOf({ few: 50, full: 500, histories: 20_000 });
const LENGTH = 10;

it(
  `${COUNT} random histories of a list lose nothing, and ask for nothing twice`,
  () => playAll(COUNT, { length: LENGTH }),
  MAX_MS,
);

it('repeats a history by its seed', async () => {
  const [first, second] = [new History(SEED, STEPS), new History(SEED, STEPS)];
  // One after the other: a kill watches every file that is put in place.
  const record = await first.play(LENGTH);
  const again = await second.play(LENGTH);
  expect(second.log).toEqual(first.log);
  expect(again).toEqual(record);
});

import { it } from 'vitest';
import { countOf, MAX_MS, playAll } from './play.ts';
import { STEPS_WITH_KILLS } from './steps.ts';

const COUNT = countOf({ few: 3, full: 50, histories: 200 });
const STEPS = 6;

it(
  `${COUNT} histories with kill -9 lose nothing`,
  () => playAll(COUNT, { steps: STEPS_WITH_KILLS, length: STEPS, start: Date.now() }),
  MAX_MS,
);

import { it } from 'vitest';
import { countOf, MAX_MS, playAll } from './play.ts';

const COUNT = countOf({ few: 25, full: 25, histories: 20_000 });
const STEPS = 10;

it(
  `${COUNT} random histories of a list lose nothing, and ask for nothing twice`,
  () => playAll(COUNT, { length: STEPS }),
  MAX_MS,
);

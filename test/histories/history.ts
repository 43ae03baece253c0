// One random history of a list: steps of a person, of the service, and of bad luck, with checks after each.
import { rmSync } from 'node:fs';
import { checkDecisions } from './checks.ts';
import { insert } from './list-steps.ts';
import { Random } from './random.ts';
import { type Answered, contentKey, type Decided } from './record.ts';
import { bringUpToDate } from './run-steps.ts';
import { World } from './world.ts';

type Step = (history: History) => Promise<string | undefined> | string | undefined;

export type NamedStep = readonly [string, Step];

export interface Decision extends Decided {
  /** The line that takes it back. */
  readonly undo?: string | undefined;
}

const FIRST_ROWS = 4;

export class History {
  /** Chooses within a step. */
  random: Random;
  readonly #choices: Random;
  readonly world: World;
  readonly #steps: readonly NamedStep[];
  readonly log: string[] = [];
  /** The decisions that were made, the latest last. Those of a row replace each other. */
  made: readonly Decision[] = [];
  /** Options of the list that stay the same from run to run. */
  words: readonly string[] = [];
  fields: string | undefined;

  /** @param steps the steps to choose from. @param start the time at which it begins */
  constructor(seed: number, steps: readonly NamedStep[], start?: number) {
    this.#choices = new Random(seed);
    this.random = this.#choices.fork();
    this.world = new World(start);
    this.#steps = steps;
  }

  get decisions(): ReadonlyMap<string, Decided> {
    const standing = this.made.filter(({ undo }) => undo === undefined);
    return new Map(standing.map((each) => [contentKey(each.content), each]));
  }

  /** @returns what the answers file says at the end. @throws {Violation} */
  async play(count: number): Promise<Answered> {
    await this.world.open();
    try {
      for (let step = 0; step < FIRST_ROWS; step += 1) insert(this);
      for (let step = 0; step < count; step += 1) {
        const [name, act] = this.#choices.pick(this.#steps);
        this.random = this.#choices.fork();
        const detail = await act(this);
        this.log.push(detail === undefined ? name : `${name} (${detail})`);
        checkDecisions(this.decisions, this.world.record);
      }
      await bringUpToDate(this);
      return this.world.record;
    } finally {
      await this.world.close();
      rmSync(this.world.folder, { recursive: true, force: true });
    }
  }
}

import { progressLabel, type UpdateLabel } from '../../output/spinner.ts';
import type { JsonObject } from '../../util/object.ts';

/** The spinner of a call, which is hidden while the tool asks for input. */
export class CallLabel {
  readonly #name: string;
  readonly #update: UpdateLabel;
  #isHidden = false;

  constructor(name: string, update: UpdateLabel) {
    this.#name = name;
    this.#update = update;
  }

  readonly showProgress = (params: JsonObject): void => {
    if (!this.#isHidden) void this.#update(progressLabel(this.#name, params));
  };

  async hideWhile<T>(work: () => Promise<T>): Promise<T> {
    this.#isHidden = true;
    await this.#update(undefined);
    try {
      return await work();
    } finally {
      this.#isHidden = false;
      await this.#update(this.#name);
    }
  }
}

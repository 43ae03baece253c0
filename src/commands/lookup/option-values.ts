import type { App } from '../../app/app.ts';
import { valueOption } from '../../cli/synonyms.ts';
import { usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { SUMMARY_COLUMNS } from '../../util/restaurant.ts';

/** A list of columns or a jq filter, as in `--json name,grade`. */
const OPTION_VALUE = /^(?:[a-z_]+(?:,[a-z_]+)+|[.[{].*)$/is;

/** @throws {AppError} `usage` for a word that is meant as the value of the option before it */
export function checkValues({ program }: App, words: readonly string[]): void {
  for (const word of words) {
    const before = program?.words[program.words.indexOf(word) - 1] ?? '';
    const isValue = OPTION_VALUE.test(word) || SUMMARY_COLUMNS.includes(word);
    const flag = program?.longName(before) ?? '';
    const meant = isValue ? valueOption(flag, word) : undefined;
    if (meant === undefined) continue;
    const operands = words.filter((each) => each !== word);
    throw usage(`${flag} takes no value, got '${word}'`, {
      command: again({ [meant]: word }, { operands, without: ['--quiet'] }),
    });
  }
}

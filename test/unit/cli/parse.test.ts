import { describe, expect, it } from 'vitest';
import { hintLine } from '../../../src/app/hint-line.ts';
import { parse } from '../../helpers/parse.ts';

const NUMBERS = ['-3', '1.5', '1e3', 'NaN', '', '100000000000000000000'];

describe('a usage error', () => {
  it.each([
    [['find', 'x', '--city', '--json'], '--city needs a value: -c, --city <city>'],
    [['find', 'x', '-qc'], '--city needs a value: -c, --city <city>'],
    [['find', 'x', '--timeout'], '--timeout needs a value: --timeout <t>'],
    [['find', 'x', '--help=1'], '--help takes no value'],
    [['find', '-\nx', '--city', 'y'], "unknown option '-\n'"],
    [['find', '-qz'], "unknown option '-z'"],
    [['login', '-ksk_live_secret'], "unknown option '-k'"],
    [['enrich', 'a.csv', 'b.csv'], undefined],
    [['enrich', 'a.csv', 'b.csv', 'c.csv'], "enrich takes one argument, got 'b.csv' too"],
    [['login', 'sk_service_secret'], 'login takes no arguments'],
    [['lookup', '-5'], undefined],
    [['find', 'x', '--json', '--format', 'csv'], '--json and --format cannot be used together'],
    [['find', 'x', '--format=csv', '--json'], '--json and --format cannot be used together'],
    [['find', 'x', '--base-url=h', '--endpoint=h'], '--endpoint and --base-url cannot be used together'],
    [['find', 'x', '--endpoint=h', '--base-url=h'], '--endpoint and --base-url cannot be used together'],
    [['find', 'x', '--demo', '--base-url=h'], '--demo and --base-url cannot be used together'],
    [['review', 'x', '--apply=d.csv', '--undo'], '--undo and --apply cannot be used together'],
    [['find', 'x', '--dry-run', '--curl'], '--curl and --dry-run cannot be used together'],
    [['find', 'x', '--verbose', '--quiet'], '--quiet and --verbose cannot be used together'],
    [['find', 'x', '--json', '--format', 'json'], undefined],
    [['login', '--key-stdin', '--key-file', 'x'], '--key-stdin and --key-file cannot be used together'],
    [['config', '--jq', '.'], undefined],
    ...NUMBERS.map((number): [string[], string] => [
      ['find', 'x', `--limit=${number}`],
      `--limit '${number}': expected a whole number from 1 to 1000`,
    ]),
  ])('of %j names what is wrong', async (words, message) => {
    expect((await parse(words)).error?.message).toBe(message);
  });

  it.each([
    [['find', 'Nopa', '--loc', 'x', '--location'], undefined],
    [['find', 'Nopa', '-c', 'SF', '-v', '--lmit', '3'], 'find Nopa --verbose --city SF --limit 3'],
    [['fnid', 'x', '--city', 'SF'], 'find x --city SF'],
    [['lokup', '--id', '1'], 'lookup 1'],
    [['enrcih', '--input', 'x'], 'enrich x'],
    [['enrich', 'a.csv', '--input', 'x'], undefined],
    // A word that looks like a key is not repeated.
    [['find', 'sk_service_abcdefgh', '--location', 'SF'], undefined],
  ])('of %j has the corrected command', async (words, command) => {
    const { app, error } = await parse(words);
    const hint = hintLine(app, error?.details.hint ?? {});
    const [, printed] = /(?:^did you mean|; then): restaurant (.*)$/.exec(hint) ?? [];
    expect(printed).toBe(command);
  });
});

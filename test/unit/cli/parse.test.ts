import { describe, expect, it } from 'vitest';
import { hintOf } from '../../../src/app/hints.ts';
import { again } from '../../../src/hint.ts';
import { parse } from '../../helpers/parse.ts';

describe('a usage error', () => {
  it.each([
    [['find', 'x', '--city', '--json'], '--city needs a value: -c, --city <city>'],
    [['find', 'x', '-qc'], '--city needs a value: -c, --city <city>'],
    [['find', 'x', '--timeout'], '--timeout needs a value: --timeout <t>'],
    [['find', 'x', '--help=1'], '--help takes no value'],
    [['find', '-\nx', '--city', 'y'], "unknown option '-\n'"],
    [['find', '-qz'], "unknown option '-z'"],
    [['login', '-ksk_live_secret'], "unknown option '-k'"],
    [['find'], 'find needs <name>'],
    [['enrich', 'a.csv', 'b.csv'], "enrich takes one argument, got 'b.csv' too"],
    [['login', 'sk_service_secret'], 'login takes no arguments'],
    [['mcp', 'x'], "unknown command 'mcp x'"],
    [['lookup', '-5'], undefined],
    [['find', 'x', '--json', '--format', 'csv'], '--json and --format cannot be used together'],
    [['find', 'x', '--format=csv', '--json'], '--json and --format cannot be used together'],
    [['find', 'x', '--base-url=h', '--endpoint=h'], '--endpoint and --base-url cannot be used together'],
    [['find', 'x', '--endpoint=h', '--base-url=h'], '--endpoint and --base-url cannot be used together'],
    [['find', 'x', '--demo', '--base-url=h'], '--demo and --base-url cannot be used together'],
    [['find', 'x', '--dry-run', '--curl'], '--curl and --dry-run cannot be used together'],
    [['find', 'x', '--verbose', '--quiet'], '--quiet and --verbose cannot be used together'],
    [['find', 'x', '--json', '--format', 'json'], undefined],
    [['enrich', 'a.csv', '--resume', '--force'], '--resume and --force cannot be used together'],
    [['enrich', 'a.csv', '-q', '--progress', 'json'], '--progress and --quiet cannot be used together'],
    [['login', '--key-stdin', '--key-file', 'x'], '--key-stdin and --key-file cannot be used together'],
    [['find', 'x', '--limit=-3'], "--limit '-3': expected a whole number from 1 to 1000"],
    [['find', 'x', '--limit=1.5'], "--limit '1.5': expected a whole number from 1 to 1000"],
    [['find', 'x', '--limit=1e3'], "--limit '1e3': expected a whole number from 1 to 1000"],
    [['find', 'x', '--limit=NaN'], "--limit 'NaN': expected a whole number from 1 to 1000"],
    [['find', 'x', '--limit='], "--limit '': expected a whole number from 1 to 1000"],
    [
      ['find', 'x', '--limit=100000000000000000000'],
      "--limit '100000000000000000000': expected a whole number from 1 to 1000",
    ],
    [['status', '--jq', '.'], 'status does not accept --jq'],
    [['config', '--jq', '.'], undefined],
  ])('of %j names what is wrong', async (words, message) => {
    expect((await parse(words)).error?.message).toBe(message);
  });

  it.each([
    [['find', 'Nopa', '--location', 'SF', '--demo'], 'find Nopa --demo --city SF'],
    [['find', '--ctiy=San Francisco', 'Nopa'], "find Nopa --city 'San Francisco'"],
    [['find', '--name', 'Nopa', '--city', 'SF', '-n5'], 'find Nopa --city SF --limit 5'],
    [['find', 'Nopa', '--loc', 'x', '--location'], undefined],
    [['find', 'Nopa', '-c', 'SF', '-v', '-s'], 'find Nopa --city SF --verbose --quiet'],
    [['find', 'Nopa', '-c', 'SF', '-p', '2'], 'find Nopa --city SF --limit 100'],
    [['last', '--fields', 'name'], 'last --columns name'],
    [['find', 'Nopa', '--city', 'SF', '--bogus'], undefined],
    [['list', '--city', 'SF', '--demo'], 'find a --city SF --demo'],
    [['show', '1'], 'lookup 1 --demo'],
    [['compare', '1', '2'], 'lookup 1 2 --demo'],
    [['map', 'Nopa', '-c', 'SF'], 'find Nopa -c SF --open --demo'],
    [['profiles'], 'config profiles'],
    [['logni'], 'login'],
    [['fnid', 'x', '--city', 'SF'], 'find x --city SF --demo'],
    [['fnid', '-h'], 'find --help'],
    [['cache', 'claer'], 'cache clear'],
    [['lookup', '--id', 'x y'], "lookup 'x y'"],
    [['enrich', '--input', 'x'], 'enrich x'],
    [['enrich', 'a.csv', '--input', 'x'], undefined],
    [['config', 'rm', 'city'], 'config unset city'],
  ])('of %j has the corrected command', async (words, command) => {
    const { app, error } = await parse(words);
    const hint = hintOf(app, error?.details.hint ?? {});
    const [, printed] = /^did you mean: restaurant (.*)$/.exec(hint) ?? [];
    expect(printed).toBe(command);
  });

  it('never repeats a word that looks like a key', async () => {
    const { app, error } = await parse(['find', 'sk_service_abcdefgh', '--location', 'SF']);
    expect(hintOf(app, error?.details.hint ?? {})).toBe('for help: restaurant find --help');
  });
});

describe('the command line of a run', () => {
  it('replaces options that were typed, in any form, with new ones', async () => {
    for (const typed of [['-o', 'a.csv'], ['-oa.csv'], ['--output=a.csv'], ['--output', 'a.csv']]) {
      const { app } = await parse(['find', 'x', ...typed, '-n2']);
      expect(hintOf(app, { command: again({ '--output': 'b.csv' }) })).toBe(
        'restaurant find x --limit 2 -o b.csv',
      );
    }
  });

  it('leaves out options, and ends with -- before words that look like options', async () => {
    const { app } = await parse(['enrich', '--force', '-oout.csv', '--dry-run', '--', '-a.csv']);
    const command = again({ '--resume': true }, { without: ['--force', '--dry-run'] });
    expect(hintOf(app, { command })).toBe('restaurant enrich -o out.csv --resume -- -a.csv');
  });
});

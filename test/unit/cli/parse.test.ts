import { describe, expect, it } from 'vitest';
import { commandLine, completeHint } from '../../../src/app/command-line.ts';
import { hintOf } from '../../../src/app/hints.ts';
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
    [['find', 'x', '--json', '--format', 'json'], undefined],
    [['enrich', 'a.csv', '--resume', '--force'], '--resume and --force cannot be used together'],
    [['enrich', 'a.csv', '-q', '--progress', 'json'], '--progress and --quiet cannot be used together'],
    [['login', '--key-stdin', '--key-file', 'x'], '--key-stdin and --key-file cannot be used together'],
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
    [['find', 'Nopa', '-c', 'SF', '--csv'], 'find Nopa --city SF --format csv'],
    [['find', 'Nopa', '-c', 'SF', '-v', '-s'], 'find Nopa --city SF --verbose --quiet'],
    [['find', 'Nopa', '-c', 'SF', '--rating', '4'], 'find Nopa --city SF --min-grade <grade>'],
    [['find', 'Nopa', '-c', 'SF', '--max-results', '4'], 'find Nopa --city SF --limit 4'],
    [['find', 'Nopa', '-c', 'SF', '-p', '2'], 'find Nopa --city SF --limit <n>'],
    [['find', 'Nopa', '-c', 'SF', '--radius', '2km'], 'find Nopa --city SF --near <lat,lng>'],
    [['find', 'Nopa', '--price', '2'], 'find Nopa --fields <level>'],
    [['last', '--fields', 'name'], 'last --columns name'],
    [['--city', 'SF', 'find', 'x'], 'find --city SF x'],
    [['find', 'Nopa', '--city', 'SF', '--bogus'], undefined],
    [['search', 'Nopa', '--city', 'SF'], 'find Nopa --city SF'],
    [['list', '--city', 'SF', '--demo'], 'find --city SF <name> --demo'],
    [['show', '1'], 'lookup 1'],
    [['compare', '1', '2'], 'lookup 1 2'],
    [['pizza'], 'find pizza'],
    [['menu', 'Nopa'], 'find Nopa'],
    [['map', 'Nopa'], 'find Nopa --open'],
    [['set', 'city', 'SF'], 'config set city SF'],
    [['whoami'], 'status'],
    [['doctor'], 'status --check'],
    [['profiles'], 'config profiles'],
    [['logni'], 'login'],
    [['fnid', 'x'], 'find x'],
    [['fnid', '-h'], 'find --help'],
    [['cache', 'claer'], 'cache clear'],
    [['config', 'show'], 'config list'],
    [['lookup', '--id', 'x y'], "lookup 'x y'"],
    [['enrich', '--input', 'x'], 'enrich x'],
    [['enrich', 'a.csv', '--input', 'x'], undefined],
    [['version'], '--version'],
    [['config', 'rm', 'city'], 'config unset city'],
  ])('of %j has the corrected command', async (words, command) => {
    const { app, error } = await parse(words);
    const hint = hintOf(app, error?.hint ?? '');
    const [, printed] = /^did you mean: restaurant (.*)$/.exec(hint) ?? [];
    expect(printed).toBe(command);
  });

  it('never repeats a word that looks like a key', async () => {
    const { app, error } = await parse(['find', 'sk_service_abcdefgh', '--location', 'SF']);
    expect(hintOf(app, error?.hint ?? '')).toBe('for help: restaurant find --help');
  });
});

describe('the command line of a run', () => {
  const next = async (words: readonly string[], options: string, dropped?: readonly string[]) =>
    commandLine((await parse(words)).app, options, dropped);

  it('repeats the words and the options, quoted for a shell', async () => {
    const words = ['enrich', '-q', 'a b.csv', '-o', "it's.csv", '--city', 'San Francisco', '--no-color'];
    expect(await next(words, '--resume')).toBe(
      "restaurant enrich 'a b.csv' --quiet -o 'it'\\''s.csv' --no-color --city 'San Francisco' --resume",
    );
  });

  it('replaces options that were typed, in any form, with new ones', async () => {
    for (const typed of [['-o', 'a.csv'], ['-oa.csv'], ['--output=a.csv'], ['--output', 'a.csv']]) {
      expect(await next(['find', 'x', ...typed, '-n2'], '-o b.csv')).toBe(
        'restaurant find x --limit 2 -o b.csv',
      );
    }
    expect(await next(['find', 'x', '-n', '2', '-j'], '--limit 5')).toBe(
      'restaurant find x --json --limit 5',
    );
    expect(await next(['enrich', 'a.csv', '--add', 'x=y'], "--add 'a b=c'")).toBe(
      "restaurant enrich a.csv --add 'a b=c'",
    );
  });

  it('leaves out options, and ends with -- before words that look like options', async () => {
    const words = ['enrich', '--force', '-oout.csv', '--dry-run', '--', '-a.csv'];
    expect(await next(words, '--resume', ['--force', '--dry-run'])).toBe(
      'restaurant enrich -o out.csv --resume -- -a.csv',
    );
  });

  it('has a variable for a header or a password that may be a secret', async () => {
    const headers = ['-H', 'X-Token: hunter2', '--header=a$b: 1', '-HAccept-Language: en'];
    expect(await next(['enrich', 'in.csv', ...headers, '-H', 'Authorization:Bearer x'], '')).toBe(
      `restaurant enrich in.csv --header "X-Token: \${X_TOKEN}" --header "\${HEADER}" --header 'Accept-Language: en' --header "Authorization:\${AUTHORIZATION}"`,
    );
    expect(await next(['enrich', 'in.csv', '-qjH', 'X-Token: hunter2'], '--resume')).toBe(
      `restaurant enrich in.csv --quiet --json --header "X-Token: \${X_TOKEN}" --resume`,
    );
    expect(await next(['enrich', 'in.csv', '--shared-state', 'redis://:pa$s@host:1/2'], '--resume')).toBe(
      `restaurant enrich in.csv --shared-state "redis://\${CREDENTIALS}@host:1/2" --resume`,
    );
  });

  it('completes hints, unless an argument looks like a key', async () => {
    const { app } = await parse(['find', 'Blue Bottle', '--demo']);
    expect(completeHint(app, 'restaurant … --city SF, or leave it out')).toBe(
      "restaurant find 'Blue Bottle' --demo --city SF, or leave it out",
    );
    const secret = await parse(['find', 'sk_service_abcdefgh']);
    expect(completeHint(secret.app, 'restaurant … --city SF')).toBe('restaurant … --city SF');
  });
});

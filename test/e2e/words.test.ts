import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import '../helpers/seed.ts';
import { acceptedLine } from '../../src/cli/usage.ts';
import { OPTIONS, VERBS } from '../../src/cli/words.ts';
import { MCP_CLIENTS } from '../../src/mcp/client-config/clients.ts';
import { tryLine } from '../../src/run.ts';
import { splitWords } from '../../src/util/shell.ts';
import { fewOrAll } from '../helpers/full.ts';
import { STANDALONE } from '../helpers/process.ts';
import { contextOf, newHome, type RunOptions, runCli } from '../helpers/program.ts';
import { PAID, useService } from '../helpers/service.ts';

const service = useService({ mode: 'mcp' });
const { home } = newHome();

type Variables = Readonly<Record<string, string>>;

const run = (words: readonly string[], env: Variables, options: RunOptions = {}) =>
  runCli(words, { cwd: home, env: { LANG: 'C.UTF-8', RESTAURANT_PER_MINUTE: '0', ...env }, ...options });

/** Returns the commands in a hint, as words. */
function commandsIn(stderr: string): string[][] {
  const hint = stderr.startsWith('{') ? JSON.parse(stderr).error.hint : /^hint: (.*)/m.exec(stderr)?.[1];
  const found = String(hint).matchAll(/restaurant (.+?)(?=; |$)/g);
  return [...found].map(([, command = '']) => splitWords(command) ?? []);
}

/** A home in which somebody has searched, or the home of a newcomer. */
async function homeOf(isNew: boolean): Promise<Variables> {
  const { env } = newHome();
  if (isNew) return { HOME: env.HOME ?? '' };
  const all = { ...service.env, HOME: env.HOME ?? '', RESTAURANT_MAX_AGE: '10m' };
  await run(['find', 'Nopa', '--city', 'SF'], all);
  return all;
}

/** Lines that run as they are, with their options in full. */
const LINES = [
  'find Nopa --city SF',
  'find Nopa --city SF --limit 2 --sort grade',
  'find Nopa --city SF --cuisine mexican --json',
  'find Nopa Corner --city SF --min-grade B --format csv',
  'lookup 1 --fields basic',
  'lookup 1,2 --json',
  'tools --json',
  'call find_restaurant name=Nopa city=SF',
  'last --format csv',
  'status --json',
  'config list',
  'config get timeout',
  'completion bash',
  'schema find',
  'help find',
  'cache path',
  'saved --json',
].map((line) => line.split(' '));

type Slip = (words: readonly string[], random: (below: number) => number) => string[];

const isWritten = (word: string): boolean => /^(?:--)?[a-z-]{4,}$/.test(word);

/** Changes a letter of the name of a command, an option, or a value. */
const misspell: Slip = (words, random) => {
  const places = words.flatMap((word, index) => (isWritten(word) ? [index] : []));
  const at = places[random(places.length)] ?? 0;
  const word = words[at] ?? '';
  const letter = 3 + random(word.length - 3);
  const [start, end] = [word.slice(0, letter - 1), word.slice(letter + 1)];
  const [one = '', other = ''] = word.slice(letter - 1);
  return words.toSpliced(
    at,
    1,
    [start + other + one + end, start + other + end, `${start}${one}${one}${other}${end}`][random(3)] ?? '',
  );
};

const capitalize = (word: string): string => word.replace(/[a-z]/, (letter) => letter.toUpperCase());

const SLIPS: readonly Slip[] = [
  misspell,
  misspell,
  misspell,
  (words) => words.filter((word, index) => word !== '--city' && words[index - 1] !== '--city'),
  (words) => [...words, '--no-such-thing'],
  (words, random) => [...words, ['--phone', '--color', '--party'][random(3)] ?? '', `${random(20)}`],
  (words, random) => [...words, '--format', ['yaml', 'cvs', 'jsno'][random(3)] ?? ''],
  (words) => words.map((word) => ({ find: 'search', lookup: 'show', '--city': '--location' })[word] ?? word),
  (words) => ['best', ...words.slice(1)],
  (words, random) => [...words, ['--fmt', '--as', '-f'][random(3)] ?? '', ['json', 'csv'][random(2)] ?? ''],
  ([verb = '', ...words]) => [
    capitalize(verb),
    ...words.map((word) => (word.startsWith('--') ? capitalize(word) : word)),
  ],
  (words) => words.flatMap((word) => (word === 'SF' ? ['San', 'Francisco'] : [word])),
  // Arguments of a tool have another error.
  (words) =>
    words.some((word) => word.includes('='))
      ? [...words]
      : [...words, '--json', ['name,grade', '.'][words.length % 2] ?? ''],
  (words) => [...words, '--json', '--format', 'csv'],
  (words) => words.map((word) => (word === '--city' || word === '--limit' ? word.slice(1) : word)),
  (words) => words.map((word, index) => (words[index - 1] === '--limit' ? 'ten' : word)),
  (words) =>
    words.includes('--city')
      ? ['--city', 'SF', ...words.filter((word) => !/^(?:--city|SF)$/.test(word))]
      : [...words],
];

const AT_TERMINAL: RunOptions = {
  tty: { stdin: true, stdout: true, stderr: true, columns: 400 },
  answers: { text: ['SF', 'n', ''] },
};

/** The search of a newcomer says where. */
const IN_SAMPLE_DATA = expect.arrayContaining(['--city', '--demo']);

describe.each([
  ['with a login', false, {}],
  ['without a login', true, {}],
  ['with a login at a terminal', false, AT_TERMINAL],
  ['without a login at a terminal', true, AT_TERMINAL],
])('%s, a hint runs as printed', (_title, isNew, options: RunOptions) => {
  it.each([1, 2])('after %i slips', async (count) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...LINES),
        fc.array(fc.tuple(fc.nat(SLIPS.length - 1), fc.infiniteStream(fc.nat())), {
          minLength: count,
          maxLength: count,
        }),
        async (line, slips) => {
          const typed = slips.reduce((words, [index, numbers]) => {
            const next = (below: number): number => numbers.next().value % Math.max(1, below);
            return SLIPS[index]?.(words, next) ?? words;
          }, line);
          const env: Variables = { ...(await homeOf(isNew)), NO_COLOR: '1' };
          const { exit, stderr } = await run(typed, env, options);
          // The hint of a command that needs an earlier search is an example.
          const commands = exit === 2 ? commandsIn(stderr).filter(([name]) => name !== 'login') : [];
          for (const command of commands) {
            const isSearch = /^(?:find|pick)$/.test(command[0] ?? '') && !command.includes('--help');
            if (isNew && isSearch) expect([typed, command]).toEqual([typed, IN_SAMPLE_DATA]);
            if (command[0] === 'pick') continue;
            const followed = await run(command, env, options);
            expect([typed, command, followed.stderr]).toEqual([
              typed,
              command,
              expect.not.stringContaining('"usage"'),
            ]);
            expect([typed, command, followed.stderr]).toEqual([typed, command, NO_ERROR]);
            expect([typed, command, namesNothingNew(command, typed)]).toEqual([typed, command, true]);
          }
          expect(commands.flat().join(' ')).not.toContain('<');
        },
      ),
      // Each run of an executable starts some five processes.
      { numRuns: STANDALONE ? 10 : fewOrAll(60, 250) },
    );
  });
});

/** The search that a newcomer who names a row needs first. */
const EXAMPLE = "find Nopa --city 'San Francisco' --demo";

/** A newcomer who looks up a row has not searched. */
const NO_ERROR = expect.not.stringMatching(/^(?:error: |\{"error")(?!no earlier|.*no earlier)/m);

/** Whether a search is for words that were typed. */
function namesNothingNew(command: readonly string[], typed: readonly string[]): boolean {
  const [verb, name = ''] = command;
  const isExample = typed.some((word) => /^\d/.test(word)) && isSame(command, splitWords(EXAMPLE) ?? []);
  if (verb !== 'find' || name.startsWith('-') || typed.length === 1 || isExample) return true;
  return name.split(' ').every((word) => typed.includes(word));
}

const isSame = (words: readonly string[], others: readonly string[]): boolean =>
  words.join('\n') === others.join('\n');

/** The words that a line is taken as. */
async function accepted(line: string): Promise<string> {
  const context = contextOf({ env: { HOME: home } });
  const trial = await tryLine(line.split(' '), context);
  return (await acceptedLine(trial, (words) => tryLine(words, context))).words.join(' ');
}

const ARGUMENTS: Readonly<Record<string, string>> = {
  find: ' Nopa',
  lookup: ' 1',
  save: ' 1',
  unsave: ' 1',
  call: ' find_restaurant name=Nopa',
  raw: ' tools/list',
  enrich: ' places.csv',
  completion: ' bash',
  'config set': ' city SF',
  'config unset': ' city',
  'mcp config': ' cursor',
};

/** A value of each option that does not take any text. */
const VALUES: Readonly<Record<string, string>> = { '--sort': 'grade', '--fields': 'standard' };

const rowsOf = (words: Readonly<Record<string, string>> = {}) =>
  Object.entries(words).flatMap(([ours, theirs]) => theirs.split(' ').map((word) => [word, ours] as const));

describe('a word of another tool', () => {
  it.each(['', 'config', 'cache', 'mcp'])('names a command after %j', async (path) => {
    const before = path === '' ? '' : `${path} `;
    for (const [theirs, ours] of rowsOf(VERBS[path])) {
      if (ours === 'lookup vs') {
        expect(await accepted(`${theirs} 1 2`)).toBe('lookup 1 vs 2');
        continue;
      }
      const name = (before + ours).split(' --')[0] ?? '';
      const rest = ours.startsWith('-') ? '' : (ARGUMENTS[name] ?? '');
      const typed = theirs.startsWith('auth-') ? theirs.replace('-', ' ') : theirs;
      expect([typed, await accepted(before + typed + rest)]).toEqual([
        typed,
        `${before}${ours}${rest}`.trim(),
      ]);
    }
  });

  const commands = Object.keys(OPTIONS).filter((path) => path !== '');

  it.each(commands)('is an option or the argument of %s', async (path) => {
    const rest = ARGUMENTS[path] ?? '';
    for (const [theirs, ours] of rowsOf(OPTIONS[path])) {
      const flag = theirs.length === 1 ? `-${theirs}` : `--${theirs}`;
      const isFlag = ours.includes(' ') || path === 'raw' || path === 'login';
      const value = isFlag ? '' : ` ${VALUES[ours] ?? '5'}`;
      const [typed, same] =
        ours === '<>'
          ? [`${path} ${flag}${rest}`, path + rest]
          : [`${path}${rest} ${flag}${value}`, `${path}${rest} ${ours}${value}`];
      expect([typed, await accepted(typed)]).toEqual([typed, same]);
    }
  });

  it('is an option of every command', async () => {
    for (const [theirs, ours] of rowsOf(OPTIONS[''])) {
      const flag = theirs.length === 1 ? `-${theirs}` : `--${theirs}`;
      if (ours === '--version') continue;
      const value = ours.includes(' ') || ours.startsWith('--no-') || FLAGS.includes(ours) ? '' : ' x';
      expect([flag, await accepted(`find Nopa ${flag}${value}`)]).toEqual([
        flag,
        `find Nopa ${ours}${value}`,
      ]);
    }
  });
});

const FLAGS = ['--force', '--open', '--demo', '--verbose', '--quiet'];

it.each(MCP_CLIENTS.map(({ name }) => name))('a line can name the client %s', async (name) => {
  const { exit, stderr } = await run(['hook', name], await homeOf(false));
  expect([exit, commandsIn(stderr)[0]]).toEqual([2, ['mcp', 'config', name]]);
});

describe('a line in words of another tool', () => {
  it.each([
    ['search Nopa --city SF', 'find Nopa --city SF'],
    ['find_restaurant --name Nopa --city SF', 'find Nopa --city SF'],
    ['Find Nopa --City SF', 'find Nopa --city SF'],
    ['--city SF find Nopa', 'find Nopa --city SF'],
    ['find Nopa —city SF', 'find Nopa --city SF'],
    ['find Nopa -city SF', 'find Nopa --city SF'],
    ['find Nopa --city SF -o json', 'find Nopa --city SF --json'],
    ['find Nopa --city SF --output=csv', 'find Nopa --city SF --format csv'],
    ['find Nopa --city SF -o md', 'find Nopa --city SF --format markdown'],
    ['find Nopa --city SF --format jsonl', 'find Nopa --city SF --format ndjson'],
    ['lookup Nopa --city SF', 'find Nopa --city SF'],
    ['restaurant find Nopa --city SF', 'find Nopa --city SF'],
    ['show 1', 'lookup 1'],
    ['2', 'lookup 2'],
    ['compare 1 2', 'lookup 1 2'],
    ['diff 1 2', 'lookup 1 2'],
    ["diff 'Nopa Corner' Nopalina", 'lookup 2 3'],
    ['diff old.csv new.csv', 'changes old.csv new.csv'],
    ['lookup 1 vs 2', 'lookup 1 2'],
    ['compare Nopa Corner vs Nopalina', 'lookup 2 3'],
    ['lookup the nopa-corn', 'lookup 2'],
    ['lookup Nopa Corner --city SF', 'find Nopa Corner --city SF'],
    ['mcp add --client cursor', 'mcp config cursor'],
    ['enrich -i places.csv --dry-run', 'enrich places.csv --dry-run'],
    ['config set city=SF', 'config set city SF'],
    ['call find_restaurant --name Nopa --city SF', 'call find_restaurant name=Nopa city=SF'],
    [`call find_restaurant -d '{"name":"Nopa","city":"SF"}'`, 'call find_restaurant name=Nopa city=SF'],
    ['call find_restaurant name:Nopa city:SF', 'call find_restaurant name=Nopa city=SF'],
    ['find Nopa city:SF', 'find Nopa --city SF'],
    ['find Nopa city=SF', 'find Nopa --city SF'],
    ['find Nopa, SF', 'find Nopa --city SF'],
    ['find city:SF Nopa', 'find Nopa --city SF'],
    ['find name=Nopa city=SF', 'find Nopa --city SF'],
    ['config get-timeout'.replace('get-', ''), 'config get timeout'],
  ])('%s is %s', async (typed, ours) => {
    const env = await homeOf(false);
    expect(await run(splitWords(typed) ?? [], env)).toEqual(await run(ours.split(' '), env));
  });

  it('says at a terminal what it was taken as', async () => {
    const { stderr } = await run(
      'search Nopa --location SF'.split(' '),
      { ...(await homeOf(false)), NO_COLOR: '1' },
      {
        tty: { stderr: true },
      },
    );
    expect(stderr).toMatch(/^search: find; --location: --city\n/);
  });

  it('names an output file of enrich, unless the file exists', async () => {
    const env = await homeOf(false);
    writeFileSync(join(home, 'places.csv'), 'name,city\nNopa,SF\n');
    expect(await run(['enrich', 'places.csv', 'out.csv'], env)).toMatchObject({ exit: 0 });
    const { exit, stderr } = await run(['enrich', 'places.csv', 'out.csv'], env);
    expect([exit, stderr]).toEqual([2, expect.not.stringContaining('--force')]);
    expect(stderr).toContain('out.csv exists; write another file: restaurant enrich places.csv -o out-2.csv');
  });

  it.each([
    ['--resume', 'enrich in.csv -o out.csv'],
    ['--retry-errors', 'enrich in.csv -o out.csv'],
    ['--concurrency 3', 'enrich in.csv -o out.csv'],
    ['--no-details', 'enrich in.csv -o out.csv'],
    ['--refresh', 'enrich in.csv -o out.csv --older 0s'],
    ['--refresh 7d', 'enrich in.csv -o out.csv --older 7d'],
    ['--refresh=12h', 'enrich in.csv -o out.csv --older 12h'],
    ['--refresh=all', 'enrich in.csv -o out.csv --older 0s'],
    ['--export out.xlsx', 'enrich in.csv -o out.csv -o out.xlsx'],
    ['--report out.html', 'enrich in.csv -o out.csv -o out.html'],
    ['--changes changes.csv', 'changes out.csv -o changes.csv'],
    ['--changes=changes.csv', 'changes out.csv -o changes.csv'],
  ])('of an earlier enrich, %s, is refused with one command', async (typed, ours) => {
    for (const isNew of [false, true]) {
      const line = `enrich in.csv -o out.csv ${typed}`.split(' ');
      const { exit, stdout, stderr } = await run(line, await homeOf(isNew));
      const demo = isNew && ours.startsWith('enrich') ? ['--demo'] : [];
      expect([exit, stdout, commandsIn(stderr)]).toEqual([2, '', [[...ours.split(' '), ...demo]]]);
    }
  });

  it('offers each command once', async () => {
    const { exit, stderr } = await run(['--name', 'Nopa', '--city=SF'], await homeOf(true));
    expect([exit, commandsIn(stderr)]).toEqual([2, [['find', 'Nopa', '--city', 'SF', '--demo']]]);
  });

  it('leaves words after -- as they are', async () => {
    const env = { ...(await homeOf(false)), RESTAURANT_MAX_AGE: '0' };
    for (const name of ['Tip,Top', 'a,b', '.Top', '[x', '--csv', 'search']) {
      for (const flags of [['--json'], ['--format', 'csv'], ['--curl']]) {
        const { exit, stdout } = await run(['find', '--city', 'Rome', ...flags, '--', name], env);
        expect([name, exit]).toEqual([name, 0]);
        if (flags.includes('--curl')) expect(stdout).toContain(JSON.stringify(name));
      }
    }
    const { exit, stdout } = await run('find --city Ghent --curl -- Bar -- Grill'.split(' '), env);
    expect([exit, stdout]).toEqual([0, expect.stringContaining('"Bar -- Grill"')]);
  });
});

/** Lines without a city in a pipe, after a search in SF: the search that is suggested. */
describe('a name', () => {
  it.each([
    ["find 'blue bottle'", "find 'blue bottle' --city SF"],
    ['find the french laundry', "find 'the french laundry' --city SF"],
    ["find 'Pizza Express' London", "find 'Pizza Express' --city London"],
    ["find 'The French Laundry' Yountville", "find 'The French Laundry' --city Yountville"],
    ["find 'The \"Quiet\" Duck' 'San Francisco'", `find 'The "Quiet" Duck' --city 'San Francisco'`],
    ["find nopa 'San Francisco'", "find nopa --city 'San Francisco'"],
    ["find 'Nopa --city SF'", 'find Nopa --city SF'],
    ['find nopa sf', 'find nopa --city sf'],
    ['find ramen in Tokyo', 'find ramen --city Tokyo'],
    ['find in n out', "find 'in n out' --city SF"],
    ['find tacos near me', "find 'tacos near me' --city SF"],
    ['blue bottle', "find 'blue bottle' --city SF"],
    ['lokup a7c1e5d2', 'lookup a7c1e5d2'],
    ['lokup nopa', 'find nopa --city SF', 'lookup nopa'],
    ['lokup somewhere', 'find somewhere --city SF'],
    ['find Nopa --city --json', 'find Nopa --json --city SF'],
    ['confiig list --no-such-thing', 'config list'],
    ['confg set tiemout 5s', 'config set timeout 5s'],
    ['mcp confg claud', 'mcp config claude-code'],
    ['find nopa --city SF --srot price', 'find nopa --city SF --sort grade'],
    ['find nopa --city SF --limt ten', 'find nopa --city SF --limit 10'],
    ['lookup 1..2 --foo', 'lookup 1..2'],
    ['savve 1 --no-such-thing', 'save --help'],
    ['find Nopa --city SF --as csv', 'find Nopa --format csv --city SF'],
    ['find Nopa --city SF -f json', 'find Nopa --format json --city SF'],
    ['sandbox --fault hnag', 'sandbox --fault hang'],
    ['lookup corner', "lookup 'Nopa Corner'"],
    ['save kitchen --note x', "save 'Nopalina Kitchen' --note x"],
    ['compare Corner Nopalina', "lookup 'Nopa Corner' vs Nopalina"],
    ['lookup Per Se', "find 'Per Se' --city SF"],
    ['show House of Prime Rib', "find 'House of Prime Rib' --city SF"],
    ['add Burma Superstar', "find 'Burma Superstar' --city SF"],
    ["save 'Kin Khao' --list favorites", "find 'Kin Khao' --city SF"],
    ['compare Lilia vs Via Carota', 'find Lilia --city SF'],
    ['compare Lilia Oriole', 'find Lilia --city SF'],
    ['compair Lilia Oriole', 'find Lilia --city SF'],
    ["compare 'Rich Table' Lilia --city Rome", "find 'Rich Table' --city Rome"],
    ["show 'Zuni, 1658 Market St, San Francisco'", "find Zuni --city 'San Francisco'"],
    ['update places.csv -o out.csv', 'enrich places.csv -o out.csv'],
    ['sync clients.xlsx --sheet Sheet1', 'enrich clients.xlsx --sheet Sheet1'],
    ['update -', 'enrich -'],
    ['find --file places.csv -o out.csv', 'enrich places.csv -o out.csv'],
    ['connect codex', 'mcp config codex'],
    ['attach claude', 'mcp config claude-code'],
    ['find Zuni --city Rome --country Italy', 'find Zuni --city Rome'],
    ['find Zuni --near Rome', 'find Zuni --city Rome'],
    ['find --cuisine italian --city Rome', 'find italian --city Rome'],
    ['saved nopa', 'saved'],
    ['-v', '--version'],
    ['save 1 --note for the birthday', "save 1 --note 'for the birthday'"],
    ['changes --since 7d --city SF', 'changes --since 7d'],
    ["find Nopa --near 'Union Square, SF'", 'find Nopa --city SF'],
    ['lookup 1 --fields name,phone', 'lookup 1 --columns name,phone --fields standard'],
    ['lookup 1 --field phone', 'lookup 1 --fields premium'],
    ['lookup 1 --fields name,grade', 'lookup 1 --columns name,grade'],
    ['last nopa corner --json', 'last --json'],
    ['rm 2', 'saved'],
    ['show places.csv', 'enrich places.csv'],
    ['lookup places.csv', 'enrich places.csv'],
    ['rm places.csv', '--help'],
    ['lookup 1 --phone 5', 'lookup 1 --fields premium'],
    ['lookup 1 --verbos 2', 'lookup 1 2 --verbose'],
    ['lookup 1 --details full', 'lookup 1 --fields premium'],
    ['find Nopa --city SF --color red', 'find Nopa --no-color --city SF'],
    ['find Nopa --city SF --format yaml', 'find Nopa --json --city SF'],
    ['find Nopa --city SF --near nopa', 'find Nopa --city SF --neighborhood nopa'],
    ['find Nopa --near me --city SF', 'find Nopa --near 37.77,-122.43 --city SF'],
    ['pik Zuni', 'find Zuni --city SF'],
    ['book nopa for 2', 'lookup Nopa'],
    ['is nopa open now', 'lookup Nopa'],
    ['what about nopa corner', "lookup 'Nopa Corner'"],
    ["'where is Nopa?'", 'lookup Nopa'],
    ['rate nopa sf --json', 'lookup Nopa --json'],
    ['nopa vs nopalina', 'lookup nopa vs nopalina'],
    ["details Nopa 'San Francisco'", 'lookup Nopa'],
    ['reviews nopa sf', 'lookup Nopa'],
    ['places.csv', 'enrich places.csv'],
    ['cost places.csv', 'enrich places.csv --dry-run'],
    ['export --format csv', 'saved --format csv'],
    ["note 1 'ask for the patio'", "save 1 --note 'ask for the patio'"],
    ['note 1 2 call first', "save 1 2 --note 'call first'"],
    ['book 1 --time 7pm --party 2', 'lookup 1'],
    ['which is better for a date, 1 or 3?', 'lookup 1 3'],
    ['bistro 7', "find 'bistro 7' --city SF"],
    ['key west grill', "find 'key west grill' --city SF"],
    ['cities', 'find --help'],
    ['nopa, 94110', "find 'nopa, 94110' --city SF"],
    ['nopa, 75011 Paris', "find nopa --city '75011 Paris'"],
  ])('%s => %s', async (typed, ...commands) => {
    const { exit, stderr } = await run(splitWords(typed) ?? [], await homeOf(false));
    const [first = []] = commandsIn(stderr);
    expect([exit, commands.map((each) => splitWords(each))]).toEqual([2, expect.arrayContaining([first])]);
  });

  it('that removes what is saved gets unsave', async () => {
    const env = await homeOf(false);
    await run(['save', '2', '3'], env);
    for (const [line = '', command] of [
      ['rm 2', 'unsave 2'],
      ['remove nopalina', 'unsave nopalina'],
      ['delete kitchen', "unsave 'Nopalina Kitchen'"],
    ]) {
      const { exit, stderr } = await run(line.split(' '), env);
      expect([exit, commandsIn(stderr)]).toEqual([2, [splitWords(command ?? '')]]);
    }
  });

  it.each(['signup', 'key', 'how do I get a key?', 'where is my token'])(
    'that asks for a key, %s, gets the login and who has one',
    async (line) => {
      const { exit, stderr } = await run(line.split(' '), await homeOf(true));
      expect([exit, stderr]).toEqual([2, expect.stringContaining('from whoever runs the service')]);
      expect(commandsIn(stderr)).toEqual([['login']]);
    },
  );

  it.each(['', 'key ', 'status ', 'config set ', 'statsu '])(
    'with a key after "%s" is refused with the login, and says where the key is now',
    async (before) => {
      for (const isNew of [false, true]) {
        const { exit, stderr } = await run(
          `${before}sk_service_abcdefgh1234`.split(' '),
          await homeOf(isNew),
        );
        expect([exit, stderr]).toEqual([
          2,
          expect.stringContaining("the key is in your shell's history now"),
        ]);
        expect(stderr).toContain('hint: it asks for the key: restaurant login; ');
        expect(stderr).not.toContain('abcdefgh');
      }
    },
  );

  it('with a secret in a header is not refused as a key', async () => {
    const line = ['fnd', 'Nopa', '-H', 'Authorization: Bearer abcdefgh1234'];
    const { exit, stderr } = await run(line, await homeOf(false));
    expect([exit, stderr]).toEqual([2, expect.not.stringMatching(/history|abcdefgh/)]);
  });

  it('in which an example took the place of a value says so', async () => {
    const { stderr } = await run('changes --since someday --watch'.split(' '), await homeOf(false));
    expect(stderr).toContain('hint: for example: restaurant changes --since 7d\n');
  });

  it('with a number that may be a row is offered, too', async () => {
    const { stderr } = await run(['bistro', '2'], await homeOf(false));
    expect(commandsIn(stderr)).toEqual([
      ['lookup', '2'],
      ['find', 'bistro 2', '--city', 'SF'],
    ]);
  });

  it('that looks like a key is never sent, nor repeated', async () => {
    for (const line of [
      PAID,
      `search ${PAID} --city SF`,
      `show ${PAID}`,
      `find ${PAID} in SF --demo`,
      `login ${PAID}`,
      `login --key ${PAID}`,
    ]) {
      const { exit, stderr } = await run(line.split(' '), await homeOf(true));
      expect([exit, stderr]).toEqual([2, expect.not.stringContaining(PAID)]);
    }
  });
});

it('restaurants of two searches are compared by name', async () => {
  const env = await homeOf(false);
  const line = ['compare', 'Nopa', 'Mandalay Lane', '--columns', 'name'];
  const { exit, stderr } = await run(line, env);
  const [search = [], again = [], ...others] = commandsIn(stderr);
  expect([exit, search, others]).toEqual([2, ['find', 'Mandalay Lane', '--city', 'SF'], []]);
  await run(search, env);
  const names = expect.stringMatching(/Nopa\n.*Mandalay Lane\n/s);
  expect(await run(again, env)).toMatchObject({ exit: 0, stdout: names });
  const both = commandsIn((await run(['compare', 'Lilia', 'Oriole'], env)).stderr);
  expect(both.map((words) => words.slice(0, 2))).toEqual([
    ['find', 'Lilia'],
    ['find', 'Oriole'],
    ['lookup', 'Lilia'],
  ]);
});

/** At a terminal, `find` asks for the city. */
describe('at a terminal', () => {
  const at = (line: string, env: Variables, ...text: string[]) =>
    run(
      splitWords(line) ?? [],
      { ...env, NO_COLOR: '1' },
      { tty: { stdin: true, stdout: true, stderr: true, columns: 400 }, answers: { text } },
    );

  it('a name loses only the city that the question offers, and says so', async () => {
    const env = await homeOf(false);
    for (const [line, city, name] of [
      ['find Joe Beef Montreal', 'Montreal', 'Joe Beef Montreal'],
      ['find Rome Rome', 'Rome', 'Rome Rome'],
      ['find In N Out', 'Out', 'In N Out'],
      ['find ramen in tokyo', 'Osaka', 'ramen in tokyo'],
      ['find ramen in tokyo', '', 'ramen'],
      ['find joe beef, montreal', 'Montreal', 'joe beef'],
      ['find nopa san francisco', 'San Francisco', 'nopa'],
      ['find ramen in tokyo', 'Tokyo', 'ramen'],
      ['find Joe Beef', 'Montreal', 'Joe Beef'],
      ['find Montreal', 'Montreal', 'Montreal'],
      ['find nopa in tokyo tonight', 'Tokyo', 'nopa in tokyo tonight'],
    ] as const) {
      const { stdout, stderr } = await at(`${line} --curl`, env, city, 'n');
      expect([line, stdout]).toEqual([line, expect.stringContaining(`"name":"${name}"`)]);
      const typed = line.slice('find '.length);
      expect([line, stderr.includes('taken as: restaurant find')]).toEqual([line, typed !== name]);
    }
  });

  it('a newcomer is asked, too, and gets the search in the sample data', async () => {
    const { exit, stderr } = await at('find Joe Beef Montreal', await homeOf(true), 'Montreal');
    expect([exit, commandsIn(stderr)[0]]).toEqual([2, ['find', 'Joe Beef', '--city', 'Montreal', '--demo']]);
  });

  it.each([
    ['Joe Beef Montreal', "find 'Joe Beef Montreal'"],
    ['nopa sf', 'find nopa --city sf'],
    ['good dinner in portland tonight', "find 'good dinner in portland tonight'"],
    ['dinner in sf?', 'find dinner --city sf'],
    ['cheap eats, for 40 people', "find 'cheap eats, for 40 people'"],
    ['lookup Joe Beef', "pick 'Joe Beef'"],
    ['pik Joe Beef', "pick 'Joe Beef'"],
  ])('of %s, a hint names only a city that is sure', async (line, command) => {
    const { exit, stderr } = await at(line, await homeOf(false));
    expect([line, exit, commandsIn(stderr)[0]]).toEqual([line, 2, splitWords(command)]);
  });

  it.each([
    ['Joe Beef Montreal', "find 'Joe Beef Montreal' --city 'San Francisco' --demo"],
    ['good dinner in portland tonight', "find 'good dinner' --city 'portland tonight' --demo"],
    ['dinner in sf?', 'find dinner --city sf --demo'],
    ['lookup Joe Beef', "pick 'Joe Beef' --city 'San Francisco' --demo"],
    ['pik Joe Beef', "pick 'Joe Beef' --city 'San Francisco' --demo"],
    ['fnd Joe', "find Joe --city 'San Francisco' --demo"],
    ['find Joe --no-such', "find Joe --city 'San Francisco' --demo"],
    ['2', "find Nopa --city 'San Francisco' --demo"],
  ])('of %s, the hint of a newcomer has a city', async (line, command) => {
    const { stderr } = await at(line, await homeOf(true));
    expect([line, commandsIn(stderr)[0]]).toEqual([line, splitWords(command)]);
  });

  it('a row of no table, with a service, gets the search with the keyboard', async () => {
    const { env } = newHome();
    const { exit, stderr } = await at('lookup 1', { ...service.env, HOME: env.HOME ?? '' });
    expect([exit, commandsIn(stderr)]).toEqual([3, [['pick'], ['lookup', '1']]]);
  });

  it('when nothing is found, the hint stays in the city of the reply', async () => {
    for (const [line, city, command] of [
      ['find burgers in Austin under 0', 'Austin', 'find burgers --demo --city Austin'],
      ['find Joe Beef Montreal', 'Montreal', "find 'Joe Beef' --demo --city Montreal"],
      ['find mexican', 'SF', 'find a --demo --city SF --cuisine mexican'],
      ['find Nopalinaa', 'SF', "find 'Nopalina Kitchen' --demo --city SF"],
      ['find Nopalinaa', 'Seattle', undefined],
      ['find mexican', 'Seattle', undefined],
    ] as const) {
      const { exit, stderr } = await at(`${line} --demo`, await homeOf(true), city, 'n');
      const found = /try: restaurant (.*)/.exec(stderr)?.[1];
      expect([line, exit, found]).toEqual([line, 0, command]);
    }
  });
});

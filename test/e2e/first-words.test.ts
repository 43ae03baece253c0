import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { splitWords } from '../../src/util/shell.ts';
import { newHome, type RunOptions, runCli } from '../helpers/program.ts';
import { PAID, useService } from '../helpers/service.ts';

const service = useService();
const { home } = newHome();
writeFileSync(join(home, 'key.txt'), PAID);
const terminal: RunOptions = { tty: { stdin: true, stdout: true, stderr: true, columns: 500 }, cwd: home };

/** Runs a line as printed, in a terminal whose user answers no prompt but that of `login`. */
function run(line: string, env: Readonly<Record<string, string>>, folder = home) {
  const [command = '', file] = line.split(' < ');
  const words = splitWords(command) ?? [];
  return runCli(words, {
    ...terminal,
    ...(file === undefined ? {} : { stdin: PAID, tty: {} }),
    env: { ...env, HOME: folder, LANG: 'C.UTF-8', NO_COLOR: '1', CI: words[0] === 'login' ? '' : '1' },
    answers: { secret: PAID },
  });
}

type Row = readonly [typed: string, command: string];

/** Reads lines of `typed | typed => command`. */
const rowsOf = (text: string): Row[] =>
  text
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [typed = '', command = ''] = line.split(/ => ?/);
      return typed.split(' | ').map((each): Row => [each, command]);
    });

/** Lines that people type first, and the command that they are led to; none if they work as typed. */
const FIRST_WORDS = rowsOf(`
find nopa --city SF | find nopa -c SF | find nopalina kitchen -c SF | find nopalina -c SF =>
find nopa --city SF --grade A | find nopa --city SF -n5 | find nopa --city SF --neighborhood nopa =>
find nopa --city SF -o out.csv | find nopa --city SF --timeout 5 | lookup 1 | lookup 1 2 | lookup 1,2 =>
lookup 1, 2 | lookup 1-2 | lookup '#1' | lookup nopa | lookup nopalina | lookup Nopalina =>
lookup nopalina kitchen | lookup "nopa corner" | lookup a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53 | config | help =>
help find | --version | -h | --help | status | last =>
nopa | nopa --city SF | search nopa | search nopa --city SF | query nopa --city SF => find nopa --city SF
find nopa | find nopa SF | find nopa in SF | find nopa, SF | find nopa --location SF => find nopa --city SF
find nopa --zip 94110 | find --name nopa --city SF | find --query nopa --city SF => find nopa --city SF
lookup nopa --city SF | find nopa -city SF | find nopa --at SF | find nopa --city => find nopa --city SF
find nopa SF CA => find nopa --city SF
pizza | search pizza in SF | find pizza | find pizza --city SF => find a --city SF --cuisine pizza
find pizza in SF => find a --city SF --cuisine pizza
pizza --city SF => find a --cuisine pizza --city SF
tacos | tacos in SF | find tacos | find tacos --city SF | find tacos near me => find a --city SF --cuisine tacos
find tacos near me --city SF | find a --city SF --tag tacos | find tacos SF => find a --city SF --cuisine tacos
mexican | mexican food in SF | find mexican | find mexican --city SF => find a --city SF --cuisine mexican
find mexican food --city SF | find mexican restaurants in SF => find a --city SF --cuisine mexican
find a --city SF --type mexican | find a --city SF --category mexican => find a --city SF --cuisine mexican
best mexican in SF | find best mexican --city SF => find a --city SF --cuisine mexican --sort grade
best tacos => find a --city SF --cuisine tacos --sort grade
near me | nearby | restaurants | restaurants near me | food | search | list | list --city SF => find a --city SF
ls | random | find cheap eats in SF | find SF | find restaurants in SF => find a --city SF
find restaurants --city SF | find restaurant | find food | find dinner --city SF => find a --city SF
find --city SF | cuisines | cities | where to eat in SF => find a --city SF
menu | menu 1 | hours | hours 1 | book | reserve 1 | phone 1 | directions 1 | show 1 | view 1 | info 1 => lookup 1
details 1 | get 1 | lookup | lookup --id 1 | 1 => lookup 1
menu nopa | hours nopa | book nopa | reviews nopa | show nopa | lookup --name nopa => lookup nopa
map | map 1 | open 1 => lookup 1 --open
map nopa --city SF | find nopa --city SF --html | find nopa --city SF --map => find nopa --city SF --open
compare 1 2 | compare 1 vs 2 => lookup 1 2
history | lookup 9 => last
top 10 | what is good in SF => find a --city SF --sort grade
find => find Nopa --city SF
find nopa san francisco | find nopa "San Francisco, CA" => find nopa --city 'San Francisco'
find Nopa --city San Francisco | find -c San Francisco Nopa | find Nopa --ctiy 'San Francisco' => find Nopa --city 'San Francisco'
find nopalinna -c SF => find 'Nopalina Kitchen' --city SF
find pizza in SF --demo => find a --demo --city SF --cuisine pizza --cuisine italian
find sushi --city SF => find a --city SF --cuisine sushi --cuisine japanese
find burgers in SF => find a --city SF --cuisine american
find mission --city SF => find a --city SF --neighborhood 'Mission District'
find north beach --city SF => find a --city SF --neighborhood 'North Beach'
find "Hayes Valley" => find a --city 'San Francisco' --neighborhood 'Hayes Valley'
find pizza in north beach => find a --city 'San Francisco' --cuisine pizza --neighborhood 'North Beach'
find San Francisco | find --city San Francisco => find a --city 'San Francisco'
find brunch --city SF => find a --city SF --cuisine brunch
find --cuisine mexican --city SF | find --cuisine mexican => find a --cuisine mexican --city SF
find --cuisine mexican --city SF --json => find a --json --cuisine mexican --city SF
find --min-grade A -c SF => find a --min-grade A --city SF
find --near 37.77,-122.43 -c SF => find a --near 37.77,-122.43 --city SF
find --neighborhood mission -c SF => find a --neighborhood mission --city SF
find --tacos => find a --cuisine tacos --city SF
find nopa --city SF --json name,grade => find nopa --json --city SF --columns name,grade
find nopa --city SF --json .results => find nopa --json --city SF --jq .results
find nopa -c SF -q .results => find nopa --city SF --jq .results
find nopa -c SF -jq .results => find nopa --json --city SF --jq .results
find --json .results --city SF => find a --json --city SF --jq .results
find --json name,grade nopa -c SF => find nopa --json --city SF --columns name,grade
find nopa --city SF --csv | find nopa --city SF -o csv => find nopa --city SF --format csv
find nopa --city SF --open --csv => find nopa --city SF --format csv
find nopa --city SF --tsv => find nopa --city SF --format tsv
find nopa --city SF --yaml | find nopa --city SF --pretty => find nopa --city SF --json
find nopa --city SF --output json | find nopa --city SF -o json => find nopa --city SF --json
find nopa --city SF --table | find nopa --city SF --format yaml => find nopa --city SF --format table
find nopa --city SF -v | find nopa --city SF --debug => find nopa --city SF --verbose
find nopa --city SF --quiet --debug => find nopa --city SF --verbose
find nopa --city SF -s => find nopa --city SF --quiet
find nopa --city SF --price 2 | find nopa --city SF --price '$$' => find nopa --city SF --fields standard
find nopa --city SF --cheap | find nopa --city SF --open-now => find nopa --city SF --fields standard
find nopa --city SF --open now | find nopa --city SF --details => find nopa --city SF --fields standard
find nopa --city SF --rating 4 | find nopa --city SF --min-grade 4 => find nopa --city SF --min-grade B
find nopa --city SF --max-results 5 | find nopa --city SF --count 5 => find nopa --city SF --limit 5
find --name nopa --city SF -n5 | find nopa --city SF -l 5 => find nopa --city SF --limit 5
find nopa --city SF --page 2 | find nopa --city SF -p 2 => find nopa --city SF --limit 100
find nopa --city SF --radius 5km | find nopa --city SF --near me => find nopa --city SF --near 37.77,-122.43
find nopa --city SF --near SF => find nopa --city SF --near 37.77,-122.43
find nopa --city SF --sort rating | find nopa --city SF --sort price => find nopa --city SF --sort grade
find nopa --city SF --sort-by grade | find nopa --city SF --sort grade desc => find nopa --city SF --sort grade
find nopa --city SF --reverse => find nopa --city SF --sort grade
find nopa --city SF --fields name,phone => find nopa --city SF --columns name,phone
find a --city SF --all => find a --city SF --limit 1000
lookup nopalima => lookup 'Nopalina Kitchen'
lookup 1 --fields phone => lookup 1 --columns phone
lookup 1 --premium | lookup 1 --full => lookup 1 --fields premium
login sk_service_demo_paid | login --key sk_service_demo_paid => login --key-stdin < key.txt
auth login | signin | setup | init | logni | config get key => login
auth status | whoami | quota => status
config show => config list
config set timeout soon => config set timeout 30s
config city SF | config set city=SF | set city SF => config set city SF
config set city => config set city 'San Francisco'
config rm city => config unset city
profiles => config profiles
last --fields name => last --columns name
settings => config
help search => find --help
find nopa --city SF --retries 99 => find nopa --city SF --retries 2
help json | help format => help formats
version | -v | update => --version
doctor | ping => status --check
demo | example | examples => find Nopa --city SF --demo
completion | completions bash => completion bash
find me a taco place => find a --city SF --cuisine taco
find nopa --cuisine=mexican => find nopa --cuisine mexican --city SF
-c SF nopa => find -c SF nopa
--city SF find nopa => find --city SF nopa
find ramen in Tokyo => find a --city Tokyo --cuisine ramen --cuisine japanese
find ramen tokyo => find a --city tokyo --cuisine ramen --cuisine japanese
lookup 1 --menu => lookup 1 --fields standard
lookup 1 --csv => lookup 1 --format csv
lookup all => lookup 1-3
compare nopa and nopalina => lookup nopa nopalina
a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53 => lookup a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53
login --with-token => login --key-stdin
config timeout 5 => config set timeout 5
find nopa --city SF --limit=all => find nopa --city SF --limit 10
find nopa --city SF --columns => find nopa --city SF --columns name,grade
find pizza new york => find a --city 'new york' --cuisine pizza
find pizza near 37.77,-122.43 => find a --city SF --cuisine pizza --near 37.77,-122.43
find nopa --city SF --open --json => find nopa --open --city SF
mcp install => mcp config claude-desktop
clear cache | cache claer => cache clear
lookup 1 --json name => lookup 1 --json --columns name
lookup 1 --json name,grade => lookup 1 --json --columns name,grade
lookup 1 -q .name => lookup 1 --jq .name
mcp config claude => mcp config claude-code
export => last --format csv
star 1 => save 1
favorites => saved
find nopa --city SF --columns nmae => find nopa --city SF --columns name
find nopa --city SF --jq .a[ => find nopa --city SF --jq '.results[].name'
find nopa --city SF --json=name,grade => find nopa --city SF --json --columns name,grade
lookup 1 --fields premum => lookup 1 --columns premum
call find_restaurant naem=Nopa city=SF => tools find_restaurant
`);

/** Without a service, commands that need one run on sample data. */
const WITHOUT_SERVICE = rowsOf(`
tacos => find a --city 'San Francisco' --cuisine taco --cuisine mexican --demo
pizza in New York => find a --city 'New York' --cuisine pizza --cuisine italian --demo
nopa | menu nopa => find nopa --city 'San Francisco' --demo
list | show => find a --city 'San Francisco' --demo
find => find Nopa --city SF --demo
find nopa SF --demo => find nopa --demo --city SF
find brunch in SF --demo => find a --demo --city SF --cuisine brunch --cuisine breakfast
`);

/** Returns the first command in the hint of an error, or in the note about a search that found nothing. */
function commandIn(stderr: string): string {
  const advice = /(?:^hint: |"hint":"|^no matches ).*/m.exec(stderr)?.[0] ?? '';
  return /restaurant (.+?)(?:;|"|$)/.exec(advice)?.[1] ?? '';
}

it.each(FIRST_WORDS)('the first words of a user: %s', async (line, command) => {
  const env = { ...service.env, RESTAURANT_MAX_AGE: '10m', RESTAURANT_PER_MINUTE: '0' };
  for (const folder of ['.config', '.cache']) rmSync(join(home, folder), { recursive: true, force: true });
  await run('find a --city SF', env);
  await run('find Nopa --city SF', env);
  const typed = await run(line, env);
  expect([typed.exit === 0 || command !== '', commandIn(typed.stderr)]).toEqual([true, command]);
  if (command === '') return expect(typed.exit).toBe(0);
  const { exit, stdout, stderr } = await run(command, env);
  expect([exit, stderr]).toEqual([0, expect.not.stringContaining('try a shorter name')]);
  if (/^(?:find|lookup)/.test(command) && !line.includes('sushi')) expect(stdout).not.toBe('');
});

describe('without a service, the first words of a user', () => {
  it.each(WITHOUT_SERVICE)('%s', async (line, command) => {
    const { env } = newHome();
    const typed = await run(line, env, env.HOME);
    expect([typed.exit, commandIn(typed.stderr)]).toEqual([2, command]);
    expect(await run(command, env, env.HOME)).toMatchObject({ exit: 0, stdout: expect.stringMatching(/\S/) });
  });

  it('are never sent, nor repeated, if one looks like a key', async () => {
    for (const line of [PAID, `search ${PAID} --city SF`, `show ${PAID}`, `find ${PAID} in SF --demo`]) {
      const { exit, stderr } = await run(line, {}, newHome().home);
      expect([exit, stderr]).toEqual([2, expect.not.stringContaining(PAID)]);
    }
  });
});

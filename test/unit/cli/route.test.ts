import { CommanderError } from 'commander';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { App } from '../../../src/app/app.ts';
import { parseRoute } from '../../../src/cli/route.ts';
import { usageErrorIn } from '../../../src/cli/usage.ts';
import { AppError } from '../../../src/errors.ts';
import { buildProgram } from '../../../src/program.ts';
import { testContext } from '../enrich/context.ts';

const COMMANDS = ['find', 'lookup', 'enrich', 'raw', 'tools', 'mcp', 'config set', 'config get'];
const WORDS = [
  ...['x', '', '-', '--', '-5', '-0.5', 'config', 'find', '--bogus', '-z', '-qz', '--json=1', '--help=1'],
  ...['--city', '--city=x', '-c', '-cx', '--limit', '3', '-n', '-n3', '-f', 'k=v', '-qc', '-qcx'],
  ...[
    '--json',
    '-j',
    '-q',
    '-qj',
    '--format',
    'json',
    '--format=csv',
    '--timeout',
    '5s',
    '-o',
    '-ofile',
    '-H',
  ],
];

/** Runs a command line with actions that do nothing. */
async function refusals(words: readonly string[]) {
  const program = await buildProgram(new App(testContext()));
  for (const command of program.tree) {
    if (!command.isGroup) command.action(() => {});
  }
  const route = parseRoute(words, program);
  const ours = await usageErrorIn(route, async () => program);
  const theirs = await program.parseAsync([...words], { from: 'user' }).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { ours, theirs };
}

describe('the route of a command line', () => {
  it('reports an error for exactly the command lines that commander rejects', async () => {
    const lines = fc.tuple(
      fc.constantFrom(...COMMANDS),
      fc.array(fc.constantFrom(...WORDS), { maxLength: 6 }),
    );
    await fc.assert(
      fc.asyncProperty(lines, async ([command, more]) => {
        const words = [...command.split(' '), ...more];
        const { ours, theirs } = await refusals(words);
        // Commander parses values meanwhile, and reports the first of several errors.
        if (theirs instanceof AppError) return;
        // Commander does not know which options a command takes of the global ones, and which cannot be used together.
        if (/ does not accept | cannot be used together$/.test(ours?.message ?? '')) return;
        // It accepts `--` as the value of an option, and then reads no options of the program.
        if (words.includes('--') && / needs a value: /.test(ours?.message ?? '')) return;
        expect([theirs instanceof CommanderError, ours?.message]).toEqual([
          ours !== undefined,
          ours?.message,
        ]);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    [['find', 'x', '--city', '--json'], '--city needs a value: -c, --city <city>'],
    [['find', 'x', '--help=1'], '--help takes no value'],
    [['find', 'x', '--city', '--', '--demo'], '--city needs a value: -c, --city <city>'],
    [['find', '-\nx', '--city', 'y'], "unknown option '-\n'"],
    [['find', '-qz'], "unknown option '-z'"],
    [['find'], 'find needs <name>'],
    [['enrich', 'a.csv', 'b.csv'], "enrich takes one argument, got 'b.csv' too"],
    [['login', 'sk_service_secret'], 'login takes no arguments'],
    [['lookup', '-5'], undefined],
    [['find', 'x', '--json', '--format', 'csv'], '--json and --format cannot be used together'],
    [['find', 'x', '--json', '--format', 'json'], undefined],
    [['enrich', 'a.csv', '--resume', '--force'], '--resume and --force cannot be used together'],
    [['login', '--key-stdin', '--key-file', 'x'], '--key-stdin and --key-file cannot be used together'],
    [['status', '--jq', '.'], 'status does not accept --jq'],
    [['config', '--jq', '.'], undefined],
  ])('of %j names what is wrong', async (words, message) => {
    expect((await refusals(words)).ours?.message).toBe(message);
  });
});

import { describe, expect, it } from 'vitest';
import { App } from '../../../src/app/app.ts';
import { CliCommand } from '../../../src/cli/command.ts';
import { addGlobalOptions } from '../../../src/cli/options.ts';
import { registerEnrich } from '../../../src/commands/enrich.ts';
import { resumeCommand } from '../../../src/enrich/run/resume-command.ts';
import { buildProgram } from '../../../src/program.ts';
import { testContext } from './context.ts';

/** The command that goes on, as the command line would have it. */
async function goOn(words: readonly string[], how: 'resume' | 'retry' | 'anew' = 'resume'): Promise<string> {
  const app = new App(testContext());
  const program = new CliCommand('restaurant');
  addGlobalOptions(program);
  let command = '';
  registerEnrich(program, app, async (_app, file, _flags, given) => {
    command = resumeCommand(file, given, how);
  });
  await program.parseAsync(['enrich', ...words], { from: 'user' });
  return command;
}

describe('commandToGoOn', () => {
  it('repeats what was given, and goes on', async () => {
    expect(
      await goOn([
        'a b.csv',
        '-o',
        "it's.csv",
        '--city',
        'San Francisco',
        '--add',
        'x=a.b',
        '--add',
        'y=c',
        '--no-color',
        '-q',
      ]),
    ).toBe(
      "restaurant enrich 'a b.csv' --city 'San Francisco' --add x=a.b --add y=c -o 'it'\\''s.csv' --quiet --no-color --resume",
    );
  });

  it('leaves out what is of one run alone, and what was not given', async () => {
    expect(await goOn(['in.csv', '--output=out.csv', '--force', '--per-day=0', '--wait'])).toBe(
      'restaurant enrich in.csv --per-day 0 --wait -o out.csv --resume',
    );
    expect(
      await goOn(['in.csv', '-oout.csv', '--resume', '--retry-errors', '--delimiter', '\t'], 'retry'),
    ).toBe("restaurant enrich in.csv --delimiter '\t' -o out.csv --resume --retry-errors");
  });

  it('begins anew, and names a file that begins like an option', async () => {
    expect(await goOn(['-oout.csv', '--resume', '--', '-a.csv'], 'anew')).toBe(
      'restaurant enrich ./-a.csv -o out.csv --force',
    );
  });

  it('stands in the tree of the program', () => {
    const program = buildProgram(new App(testContext()));
    const enrich = program.children.find((command) => command.name() === 'enrich');
    expect(enrich?.exampleLines.length).toBeGreaterThan(0);
  });
});

import { describe, expect, it } from 'vitest';
import { App } from '../../../src/app/app.ts';
import { CliCommand } from '../../../src/cli/command.ts';
import { addGlobalOptions } from '../../../src/cli/options.ts';
import { registerEnrich } from '../../../src/commands/enrich.ts';
import { resumeCommand } from '../../../src/enrich/run/command.ts';
import { buildProgram } from '../../../src/program.ts';
import { testContext } from './context.ts';

/** The command that follows this command line, with `more` at its end. */
async function commandAfter(words: readonly string[], ...more: string[]): Promise<string> {
  const app = new App(testContext());
  const program = new CliCommand('restaurant');
  addGlobalOptions(program);
  let command = '';
  registerEnrich(program, app);
  program.children[0]?.action((file: string, _flags: unknown, enrich: CliCommand) => {
    command = resumeCommand(file, [enrich, program], more);
  });
  await program.parseAsync(['enrich', ...words], { from: 'user' });
  return command;
}

describe('resumeCommand', () => {
  it('repeats the options that were given', async () => {
    expect(
      await commandAfter(
        [
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
        ],
        '--resume',
      ),
    ).toBe(
      "restaurant enrich 'a b.csv' --city 'San Francisco' --add x=a.b --add y=c -o 'it'\\''s.csv' --quiet --no-color --resume",
    );
  });

  it('leaves out the value of a header that may be a secret', async () => {
    const headers = ['-H', 'X-Token: hunter2', '-H', 'Accept-Language: en', '-H', 'X-Team: ${TEAM}'];
    expect(await commandAfter(['in.csv', ...headers], '--resume')).toBe(
      "restaurant enrich in.csv --header 'X-Token: …' --header 'Accept-Language: en' --header 'X-Team: ${TEAM}' --resume",
    );
  });

  it('leaves out options of one run, and those that were not given', async () => {
    expect(
      await commandAfter(['in.csv', '--output=out.csv', '--force', '--per-day=0', '--wait'], '--resume'),
    ).toBe('restaurant enrich in.csv --per-day 0 --wait -o out.csv --resume');
    expect(
      await commandAfter(
        ['in.csv', '-oout.csv', '--resume', '--retry-errors', '--delimiter', '\t'],
        '--resume',
        '--retry-errors',
      ),
    ).toBe("restaurant enrich in.csv --delimiter '\t' -o out.csv --resume --retry-errors");
  });

  it('protects a file that begins like an option', async () => {
    expect(await commandAfter(['-oout.csv', '--resume', '--', '-a.csv'], '--force')).toBe(
      'restaurant enrich ./-a.csv -o out.csv --force',
    );
  });

  it('is part of the program', async () => {
    const program = await buildProgram(new App(testContext()));
    const enrich = program.children.find((command) => command.name() === 'enrich');
    expect(enrich?.exampleLines.length).toBeGreaterThan(0);
  });
});

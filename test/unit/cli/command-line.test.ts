import { describe, expect, it } from 'vitest';
import { App } from '../../../src/app/app.ts';
import { commandLine, completeHint } from '../../../src/app/command-line.ts';
import { parseRoute } from '../../../src/cli/route.ts';
import { buildProgram } from '../../../src/program.ts';
import { testContext } from '../enrich/context.ts';

async function runOf(words: readonly string[]): Promise<App> {
  const app = new App(testContext());
  app.route = parseRoute(words, await buildProgram(app));
  return app;
}

describe('the command line of a run', () => {
  const next = async (words: readonly string[], options: string, dropped?: readonly string[]) =>
    commandLine(await runOf(words), options, dropped);

  it('repeats the words as typed, quoted for a shell', async () => {
    const words = ['enrich', 'a b.csv', '-o', "it's.csv", '--city', 'San Francisco', '--no-color', '-q'];
    expect(await next(words, '--resume')).toBe(
      "restaurant enrich 'a b.csv' -o 'it'\\''s.csv' --city 'San Francisco' --no-color -q --resume",
    );
  });

  it('replaces options that were typed, in any form, with new ones', async () => {
    for (const typed of [['-o', 'a.csv'], ['-oa.csv'], ['--output=a.csv'], ['--output', 'a.csv']]) {
      expect(await next(['find', 'x', ...typed, '-n2'], '-o b.csv')).toBe('restaurant find x -n2 -o b.csv');
    }
    expect(await next(['find', 'x', '-n', '2', '-j'], '--limit 5')).toBe('restaurant find x -j --limit 5');
    expect(await next(['enrich', 'a.csv', '--add', 'x=y'], "--add 'a b=c'")).toBe(
      "restaurant enrich a.csv --add 'a b=c'",
    );
  });

  it('leaves out options, and keeps the words after -- at its end', async () => {
    const words = ['enrich', '--force', '-oout.csv', '--dry-run', '--', '-a.csv'];
    expect(await next(words, '--resume', ['--force', '--dry-run'])).toBe(
      'restaurant enrich -oout.csv --resume -- -a.csv',
    );
  });

  it('has a variable for a header or a password that may be a secret', async () => {
    const headers = ['-H', 'X-Token: hunter2', '--header=a$b: 1', '-HAccept-Language: en'];
    expect(await next(['enrich', 'in.csv', ...headers, '-H', 'Authorization:Bearer x'], '')).toBe(
      `restaurant enrich in.csv --header "X-Token: \${X_TOKEN}" --header "\${HEADER}" '-HAccept-Language: en' --header "Authorization:\${AUTHORIZATION}"`,
    );
    expect(await next(['enrich', 'in.csv', '-qjH', 'X-Token: hunter2'], '--resume')).toBe(
      `restaurant enrich in.csv --quiet --json --header "X-Token: \${X_TOKEN}" --resume`,
    );
    expect(await next(['enrich', 'in.csv', '--shared-state', 'redis://:pa$s@host:1/2'], '--resume')).toBe(
      `restaurant enrich in.csv --shared-state "redis://\${CREDENTIALS}@host:1/2" --resume`,
    );
  });
});

describe('a hint', () => {
  it('replaces … with the arguments of the run', async () => {
    const app = await runOf(['find', 'Blue Bottle', '--demo']);
    expect(completeHint(app, 'restaurant … --city SF, or leave it out')).toBe(
      "restaurant find 'Blue Bottle' --demo --city SF, or leave it out",
    );
    expect(completeHint(app, 'restaurant enrich … --resume')).toBe('restaurant enrich … --resume');
  });

  it('is not changed if an argument looks like a key', async () => {
    const app = await runOf(['find', 'sk_service_abcdefgh']);
    expect(completeHint(app, 'restaurant … --city SF')).toBe('restaurant … --city SF');
  });
});

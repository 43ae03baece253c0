import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { type RunOptions, realSleep } from '../../helpers/program.ts';
import { type ServiceUnderTest, useService } from '../../helpers/service.ts';
import { playWithService } from '../../helpers/session.ts';
import { useInstalled } from './installed.ts';

const installed = useInstalled();

/** Creates a program named `restaurant` that is not ours, in the folder `bin`. */
function impostor(home: string, script = ''): string {
  const program = join(home, 'bin', 'restaurant');
  mkdirSync(join(home, 'bin'), { recursive: true });
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  return '';
}

const play = (file: string, service: ServiceUnderTest, run: RunOptions = {}) =>
  playWithService(join(import.meta.dirname, file), service, {
    run,
    env: () => ({ ...service.env, PATH: installed.path }),
    // The bridge requests some things only in case that there is time.
    sent: () => 0,
    commands: {
      impostor,
      header: (_home, name = '') => `${service.sandbox.requests.at(-1)?.headers[name]}\n`,
    },
  });

describe('--check with a plain service', () => {
  play('check-plain.session', useService());
});

describe('--check with an MCP server', () => {
  play('check.session', useService({ mode: 'mcp' }));
});

describe('--check by the package of npm', () => {
  // A function of the context keeps the program in this process, also if an executable is under test.
  play('check-npm.session', useService({ mode: 'mcp' }), { sleep: realSleep });
});

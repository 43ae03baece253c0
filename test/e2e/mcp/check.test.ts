import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
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

const play = (file: string, service: ServiceUnderTest) =>
  playWithService(join(import.meta.dirname, file), service, {
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

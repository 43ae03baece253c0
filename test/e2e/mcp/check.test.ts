import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MCP_CLIENTS } from '../../../src/mcp/client-config/clients.ts';
import { type ServiceUnderTest, useService } from '../../helpers/service.ts';
import { playWithService } from '../../helpers/session.ts';
import { useInstalled } from './installed.ts';

const installed = useInstalled();
const HTTP_CLIENTS = MCP_CLIENTS.filter(({ reference, namesVariables }) => reference ?? namesVariables);

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
  const service = useService({ mode: 'mcp' });
  play('check.session', service);

  it.each(HTTP_CLIENTS.map(({ name }) => name))('connects with http as %s does', async (name) => {
    const words = ['mcp', 'config', name, '--via', 'http', '--check', '--json'];
    const { exit, stdout, stderr } = await service.run(words);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ written: false, check: { ok: true, tools: 3 } });
    expect(service.sandbox.requests.at(-1)?.key).toBe('paid');
  });
});

import { chmodSync, cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, type ElicitResult } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { beforeAll, onTestFinished } from 'vitest';
import { COMMAND, STANDALONE } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The program as a command in a separate PATH. */
export interface Installed {
  /** The command by its full path. */
  readonly command: string;
  /** A PATH with the command on it. */
  readonly path: string;
}

/** Installs the built program, as a real command, around the tests of a file. */
export function useInstalled(): Installed {
  const folder = tempFolder();
  const bin = join(folder, 'path');
  const command = join(bin, 'restaurant');
  beforeAll(() => {
    mkdirSync(bin);
    // A copy, because a build would remove the files of a running program.
    for (const part of STANDALONE ? [] : ['bin', 'dist', 'package.json']) {
      cpSync(join(ROOT, part), join(folder, part), { recursive: true });
    }
    const copy = `"${process.execPath}" "${join(folder, 'bin', 'restaurant.js')}"`;
    writeFileSync(command, `#!/bin/sh\nexec ${STANDALONE ? COMMAND : copy} "$@"\n`);
    chmodSync(command, 0o755);
  });
  return { command, path: [bin, process.env.PATH].join(delimiter) };
}

export interface HostOptions {
  readonly mode: 'legacy' | 'auto' | 'pinned';
  readonly args?: readonly string[];
  readonly env: Record<string, string>;
  /** Undefined for a host that cannot ask for input. */
  readonly answer?: ((message: string) => ElicitResult) | undefined;
}

/** Connects the client of the official SDK to the bridge until the test ends. */
export async function connectHost(
  { command }: Installed,
  { mode, args = [], env, answer }: HostOptions,
): Promise<Client> {
  const client = new Client(
    { name: 'test-host', version: '1' },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      versionNegotiation: { mode: mode === 'pinned' ? { pin: '2026-07-28' } : mode },
    },
  );
  if (answer !== undefined) {
    client.setRequestHandler('elicitation/create', async ({ params }) => answer(params.message));
  }
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command, args: ['mcp', ...args], env }));
  return client;
}

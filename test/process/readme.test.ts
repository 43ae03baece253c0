import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PAID, useService } from '../helpers/service.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const shell = promisify(execFile);
const service = useService();

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const commands = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
);

/** What runs in another way here than a person would run it, and why. */
function adapted(command: string): string | undefined {
  // The package's own scripts are run by whoever runs this, and by CI on a clean clone.
  if (command.startsWith('npm ')) return undefined;
  // A server runs until it is stopped; the port may be taken.
  if (command.includes('restaurant sandbox')) {
    return `timeout -s INT 1 ${command.replace('--port 4010', '--port 0')}; test $? -eq 124 -o $? -eq 130`;
  }
  // There is nobody to type the key, and no such service.
  if (command.startsWith('restaurant login')) return `${command} --key-stdin --no-verify < key.txt`;
  return command;
}

/** A folder with `restaurant` on the path, and the files that the README's commands read. */
function workplace(): { cwd: string; env: Record<string, string | undefined> } {
  const cwd = join(service.home, 'work');
  const bin = join(service.home, 'bin');
  mkdirSync(cwd, { recursive: true });
  mkdirSync(bin, { recursive: true });
  const shim = join(bin, 'restaurant');
  writeFileSync(shim, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'bin/restaurant.js')}' "$@"\n`);
  chmodSync(shim, 0o755);
  writeFileSync(join(cwd, 'key.txt'), PAID, { mode: 0o600 });
  const id = 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53';
  writeFileSync(join(cwd, 'ids.txt'), `${id}\n`);
  writeFileSync(join(cwd, 'places.csv'), 'name,city\nNopa,San Francisco\n');
  return { cwd, env: { ...process.env, ...service.env, PATH: `${bin}${delimiter}${process.env.PATH}` } };
}

describe('README', () => {
  it('has commands', () => {
    expect(commands.length).toBeGreaterThan(20);
    expect(commands[0]).toBe('npm ci && npm run demo');
    expect(commands[1]).toBe('npm ci && npm test');
  });

  // In order, since a lookup by row number follows a search.
  it('is true: every command runs', async () => {
    const { cwd, env } = workplace();
    for (const command of commands) {
      const line = adapted(command);
      if (line === undefined) continue;
      const outcome = await shell('bash', ['-c', line], { cwd, env, timeout: 15_000 }).catch((error) => ({
        error,
      }));
      expect({ command, outcome }).toMatchObject({ command, outcome: { stderr: expect.any(String) } });
    }
  }, 60_000);

  it('names scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const named = [...readme.matchAll(/npm run ([a-z:]+)/g)].map(([, name]) => name);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });
});

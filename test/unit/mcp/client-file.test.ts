import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changeClientFile } from '../../../src/mcp/client-config/client-file.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const OPTIONS = {};
const context = (signal = new AbortController().signal) => ({ platform: process.platform, signal });

it('starts over when the client changes its file during the edit', async () => {
  const file = join(tempFolder(), 'mcp.json');
  writeFileSync(file, 'old');
  const seen: string[] = [];
  const change = await changeClientFile(context(), file, OPTIONS, (text) => {
    seen.push(text);
    if (seen.length === 1) writeFileSync(file, 'of the client');
    return `${text}, edited`;
  });
  expect(seen).toEqual(['old', 'of the client']);
  expect(readFileSync(file, 'utf8')).toBe('of the client, edited');
  expect(readFileSync(change.backup ?? '', 'utf8')).toBe('of the client');
});

it('does not replace a file that the client created during the edit', async () => {
  const file = join(tempFolder(), 'mcp.json');
  await changeClientFile(context(), file, OPTIONS, (text) => {
    if (text === '') writeFileSync(file, 'of the client');
    return `${text}, edited`;
  });
  expect(readFileSync(file, 'utf8')).toBe('of the client, edited');
});

it('gives up on a file that keeps changing', async () => {
  const file = join(tempFolder(), 'mcp.json');
  let version = 0;
  const edit = () => {
    version += 1;
    writeFileSync(file, `version ${version}`);
    return 'edited';
  };
  await expect(changeClientFile(context(), file, OPTIONS, edit)).rejects.toMatchObject({ code: 'in_use' });
  expect(readFileSync(file, 'utf8')).toBe(`version ${version}`);
});

it('writes nothing after an interruption', async () => {
  const file = join(tempFolder(), 'mcp.json');
  const controller = new AbortController();
  const reason = new Error('interrupted');
  const edit = () => {
    controller.abort(reason);
    return 'edited';
  };
  await expect(changeClientFile(context(controller.signal), file, OPTIONS, edit)).rejects.toBe(reason);
  expect(existsSync(file)).toBe(false);
});

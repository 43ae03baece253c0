import { chmodSync, chownSync, existsSync, lchownSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { type Message, system } from '../../../src/hint.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { type ConfigFile, readConfig, updateConfig } from '../../../src/storage/config-file.ts';
import { errorOf, TestFolder, useFolder } from '../../helpers/files.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const NAME = 'config.json';
const folder = useFolder();
const read = (warnings: Message[] = []) => readConfig(folder.at(NAME), (message) => warnings.push(message));
const update = (change: (file: ConfigFile) => void = () => {}) => updateConfig(folder.at(NAME), change);
const store = (content: string | Uint8Array, mode?: number) => folder.write(NAME, content, mode);

describe('the config file', () => {
  it('reads a missing file as empty and creates no folder', () => {
    folder.path = folder.at('none');
    expect(read()).toEqual({});
    expect(existsSync(folder.path)).toBe(false);
  });

  it('saves changes in a private file and leaves no other file', async () => {
    folder.path = folder.at('a/restaurant');
    const profiles = { default: { key: 'sk_service_1', 'dotted.name': 1 } };
    const settings = { city: 'Zürich' };
    await update((file) => Object.assign(file, { profiles }));
    await update((file) => Object.assign(file, { settings }));
    expect(read()).toEqual({ profiles, settings });
    expect([folder.modes('', NAME), folder.list()]).toEqual([['700', '600'], [NAME]]);
    expect(folder.read(NAME).endsWith('}\n')).toBe(true);
  });

  it('keeps unknown fields, also with unusual names', async () => {
    const before =
      '{"version":9,"__proto__":{"a":1},"profiles":{"x":{"new":[1]}},"later":{"deep":[{"b":null}]}}';
    store(before);
    await update((file) => Object.assign(file, { settings: {} }));
    expect(JSON.parse(folder.read(NAME))).toEqual(JSON.parse(`${before.slice(0, -1)},"settings":{}}`));
  });

  it('deletes the temporary file of a killed writer, which may hold a key', async () => {
    store('{}');
    folder.write(`${NAME}.tmp-1234567890abcdef`, 'sk_service_old');
    await update();
    expect(folder.list()).toEqual([NAME]);
  });

  it('saves nothing when the change fails', async () => {
    store('{"settings":{"city":"Bern"}}');
    const failing = update((file) => {
      file.settings = {};
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect([folder.read(NAME), folder.list()]).toEqual(['{"settings":{"city":"Bern"}}', [NAME]]);
  });

  it('warns when other users can read the file, and changes no permission', () => {
    chmodSync(folder.path, 0o755);
    const path = store('{}', 0o644);
    const warnings: Message[] = [];
    expect(read(warnings)).toEqual({});
    expect(folder.modes('', NAME)).toEqual(['755', '644']);
    expect(warnings).toEqual([{ text: `other users can read ${path}`, command: system('chmod 600', path) }]);
  });

  it('ignores a file that other users can write to', () => {
    const path = store('{"profiles":{}}', 0o666);
    expect(errorOf(read)).toMatchObject({
      code: 'bad_config',
      message: `cannot use the config file ${path}: other users can write to it`,
      details: { hint: { command: system('chmod 600', path) } },
    });
    expect(folder.modes(NAME)).toEqual(['666']);
  });

  it.runIf(process.getuid?.() === 0)('ignores a file or link of another user', async () => {
    const path = store('{"profiles":{}}');
    chownSync(path, 65534, 65534);
    const message = `refusing to use ${path}: it belongs to user 65534`;
    expect(errorOf(read)).toMatchObject({ code: 'bad_config', message });
    const tool = new TestFolder().write('tool', '{}', 0o755);
    folder.path = folder.at('links');
    mkdirSync(folder.path);
    symlinkSync(tool, folder.at(NAME));
    lchownSync(folder.at(NAME), 65534, 65534);
    expect(errorOf(read)).toMatchObject({ code: 'bad_config' });
    await expect(update()).rejects.toMatchObject({ code: 'bad_config' });
    expect(folder.read(NAME)).toBe('{}');
  });

  it('writes through a symbolic link', async () => {
    const elsewhere = new TestFolder();
    symlinkSync(elsewhere.at('real.json'), folder.at(NAME));
    await update((file) => Object.assign(file, { settings: { city: 'Bern' } }));
    expect(lstatSync(folder.at(NAME)).isSymbolicLink()).toBe(true);
    expect(elsewhere.list()).toEqual(['real.json']);
    expect(read()).toEqual({ settings: { city: 'Bern' } });
  });
});

describe('a damaged config file', () => {
  it.each<[string, string | Uint8Array, string]>([
    ['empty', '', 'it is empty'],
    ['truncated', '{"profiles":{"default":{"key":"sk_service_secret', 'it is not JSON'],
    ['an array', '[]', 'it is not a JSON object'],
    ['a number', '7', 'it is not a JSON object'],
    ['null', 'null', 'it is not a JSON object'],
    ['binary', Uint8Array.of(0x7f, 0x45, 0xff, 0xfe), 'it is not UTF-8 text'],
    ['too large', ' '.repeat(1_048_577), 'the file is too large'],
    ['settings of another shape', '{"settings":[]}', '"settings" is not an object'],
    ['profiles of another shape', '{"profiles":"x"}', '"profiles" is not an object'],
    ['a profile of another shape', '{"profiles":{"me":null}}', 'profiles["me"] is not an object'],
    ['a key of another shape', '{"profiles":{"me":{"key":5}}}', 'profiles["me"].key is not a string'],
    ['headers in a list', '{"profiles":{"me":{"headers":[]}}}', 'profiles["me"].headers is not an object'],
    ['a header', '{"profiles":{"me":{"headers":{"X":5}}}}', 'profiles["me"].headers["X"] is not a string'],
  ])('%s: is reported and left unchanged', async (_name, content, why) => {
    const path = store(content);
    const before = folder.read(NAME);
    const error = errorOf(read);
    expect(error).toMatchObject({
      code: 'bad_config',
      message: `cannot use the config file ${path}: ${why}`,
    });
    expect(hintText(hintFor(error))).toContain(`mv ${path} ${path}.bak; then: restaurant login`);
    expect(`${error.stack} ${error.cause}`).not.toContain('secret');
    await expect(update()).rejects.toMatchObject({ code: 'bad_config' });
    expect([folder.read(NAME), folder.list()]).toEqual([before, [NAME]]);
  });

  it('may begin with a byte order mark', () => {
    store('\ufeff{"settings":{}}');
    expect(read()).toEqual({ settings: {} });
  });
});

describe('several processes', () => {
  const LOGIN = `
    import { updateConfig } from '../../../src/storage/config-file.ts';
    const [folder, name] = process.argv.slice(2);
    try {
      await updateConfig(folder + '/config.json', (file) => {
        file.profiles = { ...file.profiles, [name]: { key: 'sk_service_' + name.repeat(1000) } };
      });
      console.log('saved');
    } catch (error) {
      console.log(error.code, error.message);
    }`;

  it('keep all of twenty concurrent logins in one valid file', async () => {
    folder.path = folder.at('new');
    const worker = await bundleWorker(LOGIN);
    const names = Array.from({ length: 20 }, (_, i) => `p${i}`).sort();
    const children = names.map((name) => startWorker(worker, [folder.path, name]));
    for (const child of children)
      expect(await child.ended).toMatchObject({ exit: 0, stdout: 'saved\n', stderr: '' });
    expect(Object.keys(read().profiles ?? {}).sort()).toEqual(names);
    expect(folder.list()).toEqual([NAME]);
  });

  it('leave the old file when the disk fills up', async () => {
    const path = store('{"profiles":{"old":{"key":"sk_service_old"}}}');
    const worker = await bundleWorker(LOGIN);
    const { stdout, stderr } = await startWorker(worker, [folder.path, 'pq'], { limit: '-f 2' }).ended;
    expect([stdout, stderr]).toEqual([expect.stringContaining(`io_error cannot write ${path}: `), '']);
    expect(folder.read(NAME)).toBe('{"profiles":{"old":{"key":"sk_service_old"}}}');
    expect(folder.list()).toEqual([NAME]);
  });
});

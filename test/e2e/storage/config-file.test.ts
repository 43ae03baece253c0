import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { type Message, system } from '../../../src/hint.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { type ConfigFile, parseConfig, readConfig, updateConfig } from '../../../src/storage/config-file.ts';
import { errorOf, modeOf } from '../../helpers/files.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

let folder = '';
let path = '';
let warnings: Message[] = [];
beforeEach(() => {
  useFolder(tempFolder());
});

function useFolder(own: string): void {
  folder = own;
  path = join(folder, 'config.json');
  warnings = [];
}
const read = () => readConfig(path, (message) => warnings.push(message));
const update = (change: (file: ConfigFile) => void = () => {}) => updateConfig(path, change);
const store = (content: string | Uint8Array) => writeFileSync(path, content, { mode: 0o600 });
const text = () => readFileSync(path, 'utf8');

describe('the config file', () => {
  it('reads a missing file as empty and creates no folder', () => {
    useFolder(join(folder, 'none'));
    expect(read()).toEqual({});
    expect(existsSync(folder)).toBe(false);
  });

  it('saves changes in a private file and leaves no other file', async () => {
    useFolder(join(folder, 'a/restaurant'));
    const profiles = { default: { key: 'sk_service_1', 'dotted.name': 1 } };
    const settings = { city: 'Zürich' };
    await update((file) => Object.assign(file, { profiles }));
    await update((file) => Object.assign(file, { settings }));
    expect(read()).toEqual({ profiles, settings });
    expect([modeOf(folder), modeOf(path), readdirSync(folder)]).toEqual(['700', '600', ['config.json']]);
    expect(text().endsWith('}\n')).toBe(true);
  });

  it('keeps unknown fields, also with unusual names', async () => {
    const before =
      '{"version":9,"__proto__":{"a":1},"profiles":{"x":{"new":[1]}},"later":{"deep":[{"b":null}]}}';
    store(before);
    await update((file) => Object.assign(file, { settings: {} }));
    expect(JSON.parse(text())).toEqual(JSON.parse(`${before.slice(0, -1)},"settings":{}}`));
  });

  it('deletes the temporary file of a killed writer, which may hold a key', async () => {
    store('{}');
    writeFileSync(`${path}.tmp-1234567890abcdef`, 'sk_service_old');
    await update();
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  it('saves nothing when the change fails', async () => {
    store('{"settings":{"city":"Bern"}}');
    const failing = update((file) => {
      file.settings = {};
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(text()).toBe('{"settings":{"city":"Bern"}}');
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  it('warns when other users can read the file, and changes no permission', async () => {
    chmodSync(folder, 0o755);
    store('{}');
    chmodSync(path, 0o644);
    expect(read()).toEqual({});
    expect([modeOf(folder), modeOf(path)]).toEqual(['755', '644']);
    expect(warnings).toEqual([{ text: `other users can read ${path}`, command: system('chmod 600', path) }]);
  });

  it('ignores a file that other users can write to', () => {
    store('{"profiles":{}}');
    chmodSync(path, 0o666);
    expect(errorOf(read)).toMatchObject({
      code: 'bad_config',
      message: `cannot use the config file ${path}: other users can write to it`,
      details: { hint: { command: system('chmod 600', path) } },
    });
    expect(modeOf(path)).toBe('666');
  });

  it.runIf(process.getuid?.() === 0)('ignores a file or link of another user', async () => {
    store('{"profiles":{}}');
    chownSync(path, 65534, 65534);
    expect(errorOf(read)).toMatchObject({
      code: 'bad_config',
      message: `refusing to use ${path}: it belongs to user 65534`,
    });
    const tool = join(tempFolder(), 'tool');
    writeFileSync(tool, '{}', { mode: 0o755 });
    rmSync(path);
    symlinkSync(tool, path);
    lchownSync(path, 65534, 65534);
    expect(errorOf(read)).toMatchObject({ code: 'bad_config' });
    await expect(update()).rejects.toMatchObject({ code: 'bad_config' });
    expect([modeOf(tool), readFileSync(tool, 'utf8')]).toEqual(['755', '{}']);
  });

  it('writes through a symbolic link', async () => {
    const elsewhere = tempFolder();
    symlinkSync(join(elsewhere, 'real.json'), path);
    await update((file) => Object.assign(file, { settings: { city: 'Bern' } }));
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readdirSync(elsewhere)).toEqual(['real.json']);
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
    store(content);
    const before = readFileSync(path);
    const error = errorOf(read);
    expect(error).toMatchObject({
      code: 'bad_config',
      message: `cannot use the config file ${path}: ${why}`,
    });
    expect(hintText(hintFor(error))).toContain(`mv ${path} ${path}.bak && restaurant login`);
    expect(`${error.stack} ${error.cause}`).not.toContain('secret');
    await expect(update()).rejects.toMatchObject({ code: 'bad_config' });
    expect([readFileSync(path).equals(before), readdirSync(folder)]).toEqual([true, ['config.json']]);
  });

  it('may begin with a byte order mark', () => {
    store('\ufeff{"settings":{}}');
    expect(read()).toEqual({ settings: {} });
  });

  it('quotes a path with blanks in its hint', () => {
    const error = errorOf(() => parseConfig("/my home/it's", ''));
    expect(hintText(hintFor(error))).toContain("mv '/my home/it'\\''s' ");
  });

  it('may be a folder', () => {
    mkdirSync(path);
    expect(errorOf(() => readConfig(path))).toMatchObject({
      code: 'bad_config',
      message: `cannot use the config file ${path}: it is not a regular file`,
    });
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
    useFolder(join(folder, 'new'));
    const worker = await bundleWorker(LOGIN);
    const names = Array.from({ length: 20 }, (_, i) => `p${i}`).sort();
    const children = names.map((name) => startWorker(worker, [folder, name]));
    for (const child of children)
      expect(await child.ended).toMatchObject({ exit: 0, stdout: 'saved\n', stderr: '' });
    expect(Object.keys(read().profiles ?? {}).sort()).toEqual(names);
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  it('leave the old file when the disk fills up', async () => {
    store('{"profiles":{"old":{"key":"sk_service_old"}}}');
    const worker = await bundleWorker(LOGIN);
    const { stdout, stderr } = await startWorker(worker, [folder, 'pq'], { limit: '-f 2' }).ended;
    expect([stdout, stderr]).toEqual([expect.stringContaining(`io_error cannot write ${path}: `), '']);
    expect(text()).toBe('{"profiles":{"old":{"key":"sk_service_old"}}}');
    expect(readdirSync(folder)).toEqual(['config.json']);
  });
});

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
import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { type Message, system } from '../../../src/hint.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { type ConfigFile, parseConfig, readConfig, updateConfig } from '../../../src/storage/config-file.ts';
import { errorOf, modeOf } from '../../helpers/files.ts';
import { start } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

/** The config file of a folder. */
function openConfig(folder: string, warnings: Message[] = []) {
  const path = join(folder, 'config.json');
  return {
    path,
    read: () => readConfig(path, (message) => warnings.push(message)),
    update: (change: (file: ConfigFile) => void) => updateConfig(path, change),
  };
}

function storeWith(content: string | Uint8Array) {
  const folder = tempFolder();
  writeFileSync(join(folder, 'config.json'), content, { mode: 0o600 });
  return openConfig(folder);
}

describe('the config file', () => {
  it('reads a missing file as empty and creates no folder', () => {
    const folder = join(tempFolder(), 'none');
    const store = openConfig(folder);
    expect(store.read()).toEqual({});
    expect(existsSync(folder)).toBe(false);
    expect(store.path).toBe(join(folder, 'config.json'));
  });

  it('saves changes in a private file and leaves no other file', async () => {
    const folder = join(tempFolder(), 'a/restaurant');
    const store = openConfig(folder);
    await store.update((file) => {
      file.profiles = { default: { key: 'sk_service_1', 'dotted.name': 1 } };
    });
    await store.update((file) => {
      file.settings = { city: 'Zürich' };
    });
    expect(store.read()).toEqual({
      profiles: { default: { key: 'sk_service_1', 'dotted.name': 1 } },
      settings: { city: 'Zürich' },
    });
    expect(modeOf(folder)).toBe('700');
    expect(modeOf(store.path)).toBe('600');
    expect(readdirSync(folder)).toEqual(['config.json']);
    expect(readFileSync(store.path, 'utf8').endsWith('}\n')).toBe(true);
  });

  it('keeps unknown fields, also with unusual names', async () => {
    const text =
      '{"version":9,"__proto__":{"a":1},"profiles":{"x":{"new":[1]}},"later":{"deep":[{"b":null}]}}';
    const store = storeWith(text);
    await store.update((file) => {
      file.settings = {};
    });
    expect(JSON.parse(readFileSync(store.path, 'utf8'))).toEqual(
      JSON.parse(`${text.slice(0, -1)},"settings":{}}`),
    );
  });

  it('deletes the temporary file of a killed writer, which may hold a key', async () => {
    const store = storeWith('{}');
    writeFileSync(`${store.path}.tmp-1234567890abcdef`, 'sk_service_old');
    await store.update(() => {});
    expect(readdirSync(join(store.path, '..'))).toEqual(['config.json']);
  });

  it('saves nothing when the change fails', async () => {
    const store = storeWith('{"settings":{"city":"Bern"}}');
    await expect(
      store.update((file) => {
        file.settings = {};
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(readFileSync(store.path, 'utf8')).toBe('{"settings":{"city":"Bern"}}');
    expect(existsSync(`${store.path}.lock`)).toBe(false);
  });

  it('warns when other users can read the file, and changes no permission', async () => {
    const warnings: Message[] = [];
    const folder = tempFolder();
    chmodSync(folder, 0o755);
    const store = openConfig(folder, warnings);
    writeFileSync(store.path, '{}');
    chmodSync(store.path, 0o644);
    expect(store.read()).toEqual({});
    expect([modeOf(folder), modeOf(store.path)]).toEqual(['755', '644']);
    expect(warnings).toEqual([
      { text: `other users can read ${store.path}`, command: system('chmod 600', store.path) },
    ]);
  });

  it('ignores a file that other users can write to', () => {
    const store = storeWith('{"profiles":{}}');
    chmodSync(store.path, 0o666);
    expect(errorOf(() => store.read())).toMatchObject({
      code: 'bad_config',
      message: `cannot use the config file ${store.path}: other users can write to it`,
      details: { hint: { command: system('chmod 600', store.path) } },
    });
    expect(modeOf(store.path)).toBe('666');
  });

  it.runIf(process.getuid?.() === 0)('ignores a file or link of another user', async () => {
    const store = storeWith('{"profiles":{}}');
    chownSync(store.path, 65534, 65534);
    expect(errorOf(() => store.read())).toMatchObject({
      code: 'bad_config',
      message: `refusing to use ${store.path}: it belongs to user 65534`,
    });
    const tool = join(tempFolder(), 'tool');
    writeFileSync(tool, '{}', { mode: 0o755 });
    rmSync(store.path);
    symlinkSync(tool, store.path);
    lchownSync(store.path, 65534, 65534);
    expect(errorOf(() => store.read())).toMatchObject({ code: 'bad_config' });
    await expect(store.update(() => {})).rejects.toMatchObject({ code: 'bad_config' });
    expect(modeOf(tool)).toBe('755');
    expect(readFileSync(tool, 'utf8')).toBe('{}');
  });

  it('writes through a symbolic link', async () => {
    const folder = tempFolder();
    const elsewhere = tempFolder();
    symlinkSync(join(elsewhere, 'real.json'), join(folder, 'config.json'));
    const store = openConfig(folder);
    await store.update((file) => {
      file.settings = { city: 'Bern' };
    });
    expect(lstatSync(store.path).isSymbolicLink()).toBe(true);
    expect(readdirSync(elsewhere)).toEqual(['real.json']);
    expect(openConfig(folder).read()).toEqual({ settings: { city: 'Bern' } });
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
    const store = storeWith(content);
    const before = readFileSync(store.path);
    const error = errorOf(() => store.read());
    expect(error).toMatchObject({
      code: 'bad_config',
      message: `cannot use the config file ${store.path}: ${why}`,
    });
    expect(hintText(hintFor(error))).toContain(`mv ${store.path} ${store.path}.bak && restaurant login`);
    expect(`${error.stack} ${error.cause}`).not.toContain('secret');
    await expect(store.update(() => {})).rejects.toMatchObject({ code: 'bad_config' });
    expect(readFileSync(store.path).equals(before)).toBe(true);
    expect(readdirSync(join(store.path, '..'))).toEqual(['config.json']);
  });

  it('may begin with a byte order mark', () => {
    expect(storeWith('\ufeff{"settings":{}}').read()).toEqual({ settings: {} });
  });

  it('quotes a path with blanks in its hint', () => {
    expect(hintText(hintFor(errorOf(() => parseConfig("/my home/it's", ''))))).toContain(
      "mv '/my home/it'\\''s' ",
    );
  });

  it('may be a folder', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'config.json'));
    expect(errorOf(() => readConfig(join(folder, 'config.json')))).toMatchObject({
      code: 'bad_config',
      message: `cannot use the config file ${join(folder, 'config.json')}: it is not a regular file`,
    });
  });
});

const LOGIN = `
  import { updateConfig } from '../../../src/storage/config-file.ts';
  const [folder, name] = process.argv.slice(2);
  try {
    await updateConfig(folder + '/config.json', (file) => {
      file.profiles = { ...file.profiles, [name]: { key: 'sk_service_' + name.repeat(1000) } };
    });
    console.log('saved');
  } catch (error) {
    console.log(error.code, error.message, error.details.hint.text);
  }
`;

describe('several processes', () => {
  it('keep all of twenty concurrent logins in one valid file', async () => {
    const folder = join(tempFolder(), 'new');
    const worker = await bundleWorker(tempFolder(), LOGIN);
    const children = Array.from({ length: 20 }, (_, i) => startWorker(worker, [folder, `p${i}`]));
    for (const child of children)
      expect(await child.ended).toMatchObject({ exit: 0, stdout: 'saved\n', stderr: '' });
    const names = Object.keys(openConfig(folder).read().profiles ?? {});
    expect(names.sort()).toEqual(Array.from({ length: 20 }, (_, i) => `p${i}`).sort());
    expect(readdirSync(folder)).toEqual(['config.json']);
  });

  it('leave the old file when the disk fills up', async () => {
    const folder = tempFolder();
    const path = join(folder, 'config.json');
    writeFileSync(path, '{"profiles":{"old":{"key":"sk_service_old"}}}', { mode: 0o600 });
    const worker = await bundleWorker(tempFolder(), LOGIN);
    const command = `ulimit -f 2; exec "${process.execPath}" "${worker}" "${folder}" pq`;
    const { stdout, stderr } = await start('bash', ['-c', command], { env: { HOME: folder } }).ended;
    expect(stderr).toBe('');
    expect(stdout).toMatch(`io_error cannot write ${path}: `);
    expect(readFileSync(path, 'utf8')).toBe('{"profiles":{"old":{"key":"sk_service_old"}}}');
    expect(readdirSync(folder)).toEqual(['config.json']);
  });
});

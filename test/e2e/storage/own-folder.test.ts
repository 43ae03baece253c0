import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../../src/storage/config-file.ts';
import { sweepTemps, whenFree } from '../../../src/storage/files.ts';
import { OwnFolder } from '../../../src/storage/store.ts';
import { errorOf, onWindows, useFolder } from '../../helpers/files.ts';

const folder = useFolder();
const own = (name = 'own') => new OwnFolder(folder.at(name));
/** Returns why a folder cannot be created. */
const refusal = (name: string) => errorOf(() => own(name).create()).message;

describe('OwnFolder.create', () => {
  it('creates a chain of folders with mode 0700', () => {
    own('a/b/c').create();
    own('a/b/c').create();
    expect(folder.modes('a', 'a/b', 'a/b/c')).toEqual(['700', '700', '700']);
  });

  it('keeps the mode of an existing folder, also behind a link', () => {
    mkdirSync(folder.at('shared'));
    chmodSync(folder.at('shared'), 0o755);
    symlinkSync('shared', folder.at('link'));
    for (const name of ['shared', 'link']) own(name).create();
    expect(folder.modes('shared')).toEqual(['755']);
  });

  it.runIf(process.getuid?.() === 0)('rejects a folder or link of another user', () => {
    const [home, target] = [folder.at('home'), folder.at('target')];
    for (const path of [home, target]) mkdirSync(path);
    symlinkSync('../target', join(home, 'link'));
    lchownSync(join(home, 'link'), 65534, 65534);
    expect(refusal('home/link/a')).toBe(
      `refusing to use ${home}/link/a: the symbolic link ${home}/link belongs to user 65534`,
    );
    chownSync(home, 65534, 65534);
    expect(refusal('home/a/b')).toBe(`refusing to use ${home}/a/b: ${home} belongs to user 65534`);
    expect([folder.list('target'), folder.list('home')]).toEqual([[], ['link']]);
  });

  it.runIf(existsSync('/proc/self'))('fails when a folder cannot be created in an existing parent', () => {
    const reason = errorOf(() => new OwnFolder('/proc/restaurant/a').create()).message;
    expect(reason).toContain('no such file or folder');
    symlinkSync('nowhere', folder.at('dangling'));
    expect(errorOf(() => own('dangling/a').create()).code).toBe('io_error');
  });

  it('reports a file in the place of a folder', () => {
    const path = folder.write('file');
    expect(refusal('file')).toContain(`create the folder ${path}: it exists`);
    expect(errorOf(() => own('file/sub').create()).code).toBe('io_error');
  });
});

describe('sweepTemps', () => {
  const age = (path: string) => utimesSync(path, Date.now() / 1000 - 7200, Date.now() / 1000 - 7200);

  it('deletes our temporary files older than an hour and nothing else', () => {
    const old = ['.restaurant-0123456789abcdef.tmp', '.restaurant-0123456789abcdef.lock'];
    for (const name of [...old, 'config.json', '.restaurant-x.tmp']) age(folder.write(name));
    folder.write('.restaurant-fedcba9876543210.tmp');
    sweepTemps(folder.path);
    expect(folder.list()).toEqual(['.restaurant-fedcba9876543210.tmp', '.restaurant-x.tmp', 'config.json']);
  });

  it('deletes the others when one has vanished or is a folder', () => {
    const names = [...'0123456789abcdef'].map((digit) => `.restaurant-${digit.repeat(16)}.tmp`);
    for (const [index, name] of names.entries()) {
      if (index < 3) symlinkSync('vanished', folder.at(name));
      else if (index < 6) mkdirSync(folder.at(name));
      else folder.write(name);
      if (index >= 3) age(folder.at(name));
    }
    sweepTemps(folder.path);
    expect(folder.list()).toEqual(names.slice(0, 6));
  });

  it('ignores a missing folder', () => {
    expect(() => sweepTemps('/does/not/exist')).not.toThrow();
  });
});

describe('OwnFolder', () => {
  it('accepts a folder that its private group can write to, and none that others can', () => {
    folder.write('a/state/f', 'text');
    const [parent, state] = [folder.at('a'), folder.at('a/state')];
    const read = () => own('a/state').read('f', 99)?.bytes.toString();
    chmodSync(parent, 0o775);
    const { uid, gid } = statSync(state);
    if (uid === gid) expect(read()).toBe('text');
    chmodSync(parent, 0o777);
    expect(errorOf(read).message).toBe(`refusing to use ${state}: other users can write to ${parent}`);
    chmodSync(parent, 0o1777);
    expect(read()).toBe('text');
    chmodSync(parent, 0o755);
    chmodSync(state, 0o1777);
    expect(errorOf(read).message).toBe(`refusing to use ${state}: other users can write to ${state}`);
  });

  it('does not follow a link in a sticky folder, where others can put one that is ours', () => {
    chmodSync(folder.path, 0o1777);
    mkdirSync(folder.at('real'));
    symlinkSync('real', folder.at('link'));
    own('real/x').create();
    expect(refusal('link/y')).toContain(`other users can write to ${folder.path}`);
  });

  it('says nothing about a missing file, wherever it would be', () => {
    chmodSync(folder.path, 0o777);
    expect(own('').read('f', 99)).toBeUndefined();
  });

  it('deletes files of its own names only, and then the folder if it is empty', () => {
    for (const name of ['1.json', '2.json', 'mine']) own().write(name, name);
    mkdirSync(folder.at('own/3.json'));
    expect(own().clear(/^\d\.json$/)).toBe(2);
    expect(folder.list('own')).toEqual(['3.json', 'mine']);
    expect(own().clear(/mine/)).toBe(1);
    expect(folder.list()).toEqual(['own']);
  });

  it('sets a damaged file aside under a name that is free', () => {
    const path = folder.write('own/f', 'noise');
    mkdirSync(folder.at('own/f.damaged/tree'), { recursive: true });
    const warnings: string[] = [];
    own().setAside('f', (text) => warnings.push(text));
    const [other, kept = '', ...more] = folder.list('own');
    expect([other, kept, more]).toEqual([
      'f.damaged',
      expect.stringMatching(/^f\.damaged-[0-9a-f]{16}$/),
      [],
    ]);
    expect(warnings).toEqual([`${path} was damaged; renamed it to ${folder.at('own', kept)}`]);
    expect(folder.list('own/f.damaged')).toEqual(['tree']);
  });
});

describe('on Windows, where files have neither owners nor modes', () => {
  it('every folder and file is accepted, without a warning', () => {
    folder.write('a/own/f', 'text', 0o666);
    const config = folder.write('config.json', '{"settings":{}}', 0o666);
    for (const name of ['', 'a', 'a/own']) chmodSync(folder.at(name), 0o777);
    onWindows();
    expect(own('a/own').read('f', 99)?.bytes.toString()).toBe('text');
    const warn = vi.fn();
    expect(readConfig(config, warn)).toEqual({ settings: {} });
    expect(warn).not.toHaveBeenCalled();
  });

  it('a rename is tried again while the file is in use', () => {
    folder.write('a', 'text');
    const rename = vi.fn(() => {
      if (rename.mock.calls.length < 4) throw Object.assign(new Error('busy'), { code: 'EBUSY' });
      renameSync(folder.at('a'), folder.at('b'));
    });
    expect(() => whenFree(rename)).toThrow('busy');
    onWindows();
    rename.mockClear();
    whenFree(rename);
    expect(folder.read('b')).toBe('text');
  });
});

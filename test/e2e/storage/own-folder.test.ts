import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readConfig } from '../../../src/storage/config-file.ts';
import { whenFree } from '../../../src/storage/files.ts';
import { OwnFolder } from '../../../src/storage/own-folder.ts';
import { errorOf, modeOf } from '../../helpers/files.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

let folder = '';
beforeEach(() => {
  folder = tempFolder();
});

describe('OwnFolder.create', () => {
  it('creates a chain of folders with mode 0700', () => {
    new OwnFolder(join(folder, 'a/b/c')).create();
    new OwnFolder(join(folder, 'a/b/c')).create();
    for (const part of ['a', 'a/b', 'a/b/c']) expect(modeOf(join(folder, part))).toBe('700');
  });

  it('keeps the mode of an existing folder, also behind a link', () => {
    mkdirSync(join(folder, 'shared'));
    chmodSync(join(folder, 'shared'), 0o755);
    symlinkSync('shared', join(folder, 'link'));
    new OwnFolder(join(folder, 'shared')).create();
    new OwnFolder(join(folder, 'link')).create();
    expect(modeOf(join(folder, 'shared'))).toBe('755');
  });

  it.runIf(process.getuid?.() === 0)('rejects a folder or link of another user', () => {
    mkdirSync(join(folder, 'home'));
    mkdirSync(join(folder, 'target'));
    symlinkSync('../target', join(folder, 'home/link'));
    lchownSync(join(folder, 'home/link'), 65534, 65534);
    expect(errorOf(() => new OwnFolder(join(folder, 'home/link/a')).create()).message).toBe(
      `refusing to use ${folder}/home/link/a: the symbolic link ${folder}/home/link belongs to user 65534`,
    );
    chownSync(join(folder, 'home'), 65534, 65534);
    expect(errorOf(() => new OwnFolder(join(folder, 'home/a/b')).create()).message).toBe(
      `refusing to use ${folder}/home/a/b: ${folder}/home belongs to user 65534`,
    );
    expect(readdirSync(join(folder, 'target'))).toEqual([]);
    expect(readdirSync(join(folder, 'home'))).toEqual(['link']);
  });

  it.runIf(existsSync('/proc/self'))('fails when a folder cannot be created in an existing parent', () => {
    expect(errorOf(() => new OwnFolder('/proc/restaurant/a').create()).message).toContain(
      'no such file or folder',
    );
    symlinkSync('nowhere', join(folder, 'dangling'));
    expect(errorOf(() => new OwnFolder(join(folder, 'dangling/a')).create()).code).toBe('io_error');
  });

  it('reports a file in the place of a folder', () => {
    const path = join(folder, 'file');
    writeFileSync(path, '');
    expect(errorOf(() => new OwnFolder(path).create()).message).toContain(
      `create the folder ${path}: it exists`,
    );
    expect(errorOf(() => new OwnFolder(join(path, 'sub')).create()).code).toBe('io_error');
  });
});

describe('OwnFolder.sweepTemps', () => {
  it('deletes our temporary files older than an hour and nothing else', () => {
    const names = [
      '.restaurant-0123456789abcdef.tmp',
      '.restaurant-0123456789abcdef.lock',
      '.restaurant-fedcba9876543210.tmp',
      'config.json',
      '.restaurant-x.tmp',
    ];
    for (const name of names) writeFileSync(join(folder, name), '');
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const name of names) if (!name.includes('fedc')) utimesSync(join(folder, name), old, old);
    new OwnFolder(folder).sweepTemps();
    expect(readdirSync(folder).sort()).toEqual([
      '.restaurant-fedcba9876543210.tmp',
      '.restaurant-x.tmp',
      'config.json',
    ]);
  });

  it('deletes the others when one has vanished or is a folder', () => {
    const nameOf = (digit: string) => join(folder, `.restaurant-${digit.repeat(16)}.tmp`);
    const old = new Date(Date.now() - 2 * 3_600_000);
    for (const digit of '0123456789abcdef') {
      const path = nameOf(digit);
      if (digit < '3') symlinkSync('vanished', path);
      else if (digit < '6') mkdirSync(path);
      else writeFileSync(path, '');
      if (digit >= '3') utimesSync(path, old, old);
    }
    new OwnFolder(folder).sweepTemps();
    expect(
      readdirSync(folder)
        .sort()
        .map((name) => join(folder, name)),
    ).toEqual([...'012345'].map(nameOf));
  });

  it('ignores a missing folder', () => {
    expect(() => new OwnFolder('/does/not/exist').sweepTemps()).not.toThrow();
  });
});

describe('OwnFolder', () => {
  it('accepts a folder that its private group can write to, and none that others can', () => {
    const state = join(folder, 'a/state');
    mkdirSync(state, { recursive: true });
    writeFileSync(join(state, 'f'), 'text');
    const read = () => new OwnFolder(state).read('f', 99)?.bytes.toString();
    chmodSync(join(folder, 'a'), 0o775);
    const { uid, gid } = statSync(state);
    if (uid === gid) expect(read()).toBe('text');
    chmodSync(join(folder, 'a'), 0o777);
    expect(errorOf(read).message).toBe(`refusing to use ${state}: other users can write to ${folder}/a`);
    chmodSync(join(folder, 'a'), 0o1777);
    expect(read()).toBe('text');
    chmodSync(join(folder, 'a'), 0o755);
    chmodSync(state, 0o1777);
    expect(errorOf(read).message).toBe(`refusing to use ${state}: other users can write to ${state}`);
  });

  it('does not follow a link in a sticky folder, where others can put one that is ours', () => {
    chmodSync(folder, 0o1777);
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, 'link'));
    new OwnFolder(join(folder, 'real/x')).create();
    expect(errorOf(() => new OwnFolder(join(folder, 'link/y')).create()).message).toContain(
      `other users can write to ${folder}`,
    );
  });

  it('says nothing about a missing file, wherever it would be', () => {
    chmodSync(folder, 0o777);
    expect(new OwnFolder(folder).read('f', 99)).toBeUndefined();
  });

  it('deletes files of its own names only, and then the folder if it is empty', () => {
    const own = new OwnFolder(join(folder, 'own'));
    for (const name of ['1.json', '2.json', 'mine']) own.write(name, name);
    mkdirSync(join(own.path, '3.json'));
    expect(own.clear(/^\d\.json$/)).toBe(2);
    expect(readdirSync(own.path).sort()).toEqual(['3.json', 'mine']);
    expect(own.clear(/mine/)).toBe(1);
    expect(existsSync(own.path)).toBe(true);
  });

  it('sets a damaged file aside under a name that is free', () => {
    const own = new OwnFolder(join(folder, 'own'));
    own.create();
    mkdirSync(join(own.path, 'f.damaged/tree'), { recursive: true });
    own.write('f', 'noise');
    const warnings: string[] = [];
    own.setAside('f', (text) => warnings.push(text));
    const [kept = '', ...more] = readdirSync(own.path).filter((name) => name !== 'f.damaged');
    expect([kept, more]).toEqual([expect.stringMatching(/^f\.damaged-[0-9a-f]{16}$/), []]);
    expect(warnings).toEqual([`${own.path}/f was damaged; renamed it to ${own.path}/${kept}`]);
    expect(existsSync(join(own.path, 'f.damaged/tree'))).toBe(true);
  });
});

describe('on Windows, where files have neither owners nor modes', () => {
  const onWindows = () => {
    const { geteuid } = process;
    Object.defineProperty(process, 'geteuid', { value: undefined, configurable: true });
    onTestFinished(
      () => void Object.defineProperty(process, 'geteuid', { value: geteuid, configurable: true }),
    );
  };

  it('every folder and file is accepted, without a warning', () => {
    const own = new OwnFolder(join(folder, 'a/own'));
    own.write('f', 'text');
    for (const path of [folder, join(folder, 'a'), own.path, join(own.path, 'f')]) chmodSync(path, 0o777);
    onWindows();
    expect(new OwnFolder(own.path).read('f', 99)?.bytes.toString()).toBe('text');
    const config = join(folder, 'config.json');
    writeFileSync(config, '{"settings":{}}');
    chmodSync(config, 0o666);
    const warn = vi.fn();
    expect(readConfig(config, warn)).toEqual({ settings: {} });
    expect(warn).not.toHaveBeenCalled();
  });

  it('a rename is tried again while the file is in use', () => {
    writeFileSync(join(folder, 'a'), 'text');
    const rename = vi.fn(() => {
      if (rename.mock.calls.length < 4) throw Object.assign(new Error('busy'), { code: 'EBUSY' });
      renameSync(join(folder, 'a'), join(folder, 'b'));
    });
    expect(() => whenFree(rename)).toThrow('busy');
    onWindows();
    rename.mockClear();
    whenFree(rename);
    expect(readFileSync(join(folder, 'b'), 'utf8')).toBe('text');
  });
});

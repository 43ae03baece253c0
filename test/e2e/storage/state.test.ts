import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openProtocolStore, readLastResults, saveLastResults } from '../../../src/storage/state.ts';
import { tempFolder } from '../../helpers/worker.ts';

const FIND = {
  endpoint: 'https://x.example/api/mcp',
  at: 1_700_000_000_000,
  ids: ['a', 'b'],
  names: ['A', 'Bé'],
};

describe('the last find', () => {
  it('comes back as it was saved, from a private file', () => {
    const folder = join(tempFolder(), 'state/restaurant');
    expect(readLastResults(folder)).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    saveLastResults(folder, FIND);
    expect(readLastResults(folder)).toEqual(FIND);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'last-find.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['last-find.json']);
  });

  it.each([
    ['', 'empty'],
    ['{"endpoint":"x","at":1,"ids":["a"', 'truncated'],
    ['null', 'null'],
    ['[]', 'an array'],
    ['{"endpoint":"x","at":1,"ids":["a"],"names":[]}', 'rows without names'],
    ['{"endpoint":"x","at":1,"ids":[7],"names":["a"]}', 'an id that is a number'],
  ])('sets a damaged file aside: %s (%s)', (content) => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'last-find.json'), content);
    const told: string[] = [];
    expect(readLastResults(folder, (message) => told.push(message))).toBeUndefined();
    expect(told).toHaveLength(1);
    expect(readFileSync(join(folder, 'last-find.json.damaged'), 'utf8')).toBe(content);
    saveLastResults(folder, FIND);
    expect(readLastResults(folder)).toEqual(FIND);
  });

  it('does without a state folder', () => {
    expect(() => saveLastResults(undefined, FIND)).not.toThrow();
    expect(readLastResults(undefined)).toBeUndefined();
  });

  it('tells what failed and does not throw', () => {
    const path = join(tempFolder(), 'file');
    writeFileSync(path, '');
    const told: string[] = [];
    saveLastResults(join(path, 'sub'), FIND, (message) => told.push(message));
    expect(readLastResults(join(path, 'sub'), (message) => told.push(message))).toBeUndefined();
    expect(told).toEqual([
      `cannot create the folder ${join(path, 'sub')}: a part of the path is not a folder`,
    ]);
  });

  it('sets aside what is no file', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'last-find.json'));
    const told: string[] = [];
    expect(readLastResults(folder, (message) => told.push(message))).toBeUndefined();
    saveLastResults(folder, FIND, (message) => told.push(message));
    expect(told).toEqual([
      `${join(folder, 'last-find.json')} is damaged and was set aside as ${join(folder, 'last-find.json')}.damaged`,
    ]);
    expect(readLastResults(folder)).toEqual(FIND);
  });
});

describe('the learned protocol', () => {
  it('is kept for each endpoint by itself', () => {
    const folder = tempFolder();
    const one = openProtocolStore(folder, 'https://one.example/api/mcp');
    const two = openProtocolStore(folder, 'https://two.example/api/mcp');
    expect(one.read()).toBeUndefined();
    one.write({ era: 'legacy', version: '2025-11-25' });
    two.write({ era: 'bare' });
    expect(one.read()).toEqual({ era: 'legacy', version: '2025-11-25' });
    expect(openProtocolStore(folder, 'https://two.example/api/mcp').read()).toEqual({ era: 'bare' });
    one.forget();
    one.forget();
    expect(one.read()).toBeUndefined();
    expect(two.read()).toEqual({ era: 'bare' });
  });

  it('is not taken from a damaged file or from another endpoint', () => {
    const folder = tempFolder();
    const memory = openProtocolStore(folder, 'https://one.example/');
    memory.write({ era: 'bare' });
    const [name = ''] = readdirSync(join(folder, 'protocol'));
    const path = join(folder, 'protocol', name);
    writeFileSync(path, '{"endpoint":"https://other.example/","era":"modern"}');
    expect(memory.read()).toBeUndefined();
    writeFileSync(path, '{"endpoint":"https://one.example/","era":5}');
    expect(memory.read()).toBeUndefined();
    expect(readdirSync(join(folder, 'protocol'))).toEqual([`${name}.damaged`]);
  });

  it('does without a folder it may write', () => {
    const told: string[] = [];
    const path = join(tempFolder(), 'file');
    writeFileSync(path, '');
    const memory = openProtocolStore(path, 'https://one.example/', (message) => told.push(message));
    memory.write({ era: 'bare' });
    expect(memory.read()).toBeUndefined();
    memory.forget();
    expect(told[0]).toContain('a part of the path is not a folder');
    const none = openProtocolStore(undefined, 'https://one.example/');
    none.write({ era: 'bare' });
    none.forget();
    expect(none.read()).toBeUndefined();
  });

  it('tightens a folder that was open to others', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'protocol'));
    chmodSync(join(folder, 'protocol'), 0o755);
    openProtocolStore(folder, 'https://one.example/').write({ era: 'bare' });
    expect(statSync(join(folder, 'protocol')).mode & 0o777).toBe(0o700);
  });
});

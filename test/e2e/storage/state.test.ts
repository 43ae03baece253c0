import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openResultsStore, restaurantsOf } from '../../../src/app/last-results.ts';
import { openProtocolStore } from '../../../src/storage/state.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const FIND = {
  endpoint: 'https://x.example/api/mcp',
  at: 1_700_000_000_000,
  query: { name: 'Bé', city: 'Bern' },
  rows: [
    { service_id: 'a', name: 'A' },
    { service_id: 'b', name: 'Bé' },
  ],
};
function open(stateDir: string | undefined, warnings: string[] = [], terminal?: string) {
  return openResultsStore(stateDir, terminal, (message) => warnings.push(message));
}

describe('the last results', () => {
  it('are returned as saved, from a private file', () => {
    const folder = join(tempFolder(), 'state/restaurant');
    expect(open(folder).read()).toBeUndefined();
    expect(existsSync(folder)).toBe(false);
    open(folder).write(FIND);
    expect(open(folder).read()).toEqual(FIND);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'last-find.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['last-find.json']);
  });

  it.each([
    ['', 'empty'],
    ['{"endpoint":"x","at":1,"ids":["a"', 'truncated'],
    ['null', 'null'],
    ['[]', 'an array'],
    ['{"endpoint":"x","at":1,"query":{"name":"a","city":"b"}}', 'no rows'],
    ['{"endpoint":"x","at":1,"query":{"name":"a"},"rows":[]}', 'a search without a city'],
  ])('renames a damaged file: %s (%s)', (content) => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'last-find.json'), content);
    const warnings: string[] = [];
    expect(open(folder, warnings).read()).toBeUndefined();
    expect(warnings).toHaveLength(1);
    expect(readFileSync(join(folder, 'last-find.json.damaged'), 'utf8')).toBe(content);
    open(folder).write(FIND);
    expect(open(folder).read()).toEqual(FIND);
  });

  it('are not stored without a state folder', () => {
    expect(() => open(undefined).write(FIND)).not.toThrow();
    expect(open(undefined).read()).toBeUndefined();
  });

  it('cause a warning when they cannot be saved', () => {
    const path = join(tempFolder(), 'file');
    writeFileSync(path, '');
    const warnings: string[] = [];
    open(join(path, 'sub'), warnings).write(FIND);
    expect(open(join(path, 'sub'), warnings).read()).toBeUndefined();
    expect(warnings).toEqual([
      `cannot create the folder ${join(path, 'sub')}: a part of the path is not a folder; ` +
        'RESTAURANT_STATE_DIR=<folder> sets another folder',
    ]);
  });

  it('replace and rename anything that is not a file', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'last-find.json'));
    const warnings: string[] = [];
    expect(open(folder, warnings).read()).toBeUndefined();
    open(folder, warnings).write(FIND);
    expect(warnings).toEqual([
      `${join(folder, 'last-find.json')} was damaged; renamed it to ${join(folder, 'last-find.json')}.damaged`,
    ]);
    expect(open(folder).read()).toEqual(FIND);
  });

  it('are stored per terminal; another terminal gets the latest of the user', () => {
    const folder = tempFolder();
    const other = { ...FIND, rows: [{ service_id: 'c', name: 7 }] };
    open(folder, [], 'one').write(FIND);
    open(folder, [], 'two').write(other);
    expect(open(folder, [], 'one').read()).toEqual(FIND);
    expect(open(folder, [], 'two').read()).toEqual(other);
    expect(open(folder, [], 'three').read()).toEqual(other);
    expect(open(folder).read()).toEqual(other);
    expect(restaurantsOf(other)).toEqual([{ id: 'c', name: '' }]);
  });

  it('are kept when a search finds nothing', () => {
    const folder = tempFolder();
    open(folder, [], 'one').write(FIND);
    open(folder, [], 'one').write({ ...FIND, rows: [] });
    expect(open(folder, [], 'one').read()).toEqual(FIND);
  });

  it('of a terminal are deleted a month later', () => {
    const folder = tempFolder();
    open(folder, [], 'one').write(FIND);
    const [name = ''] = readdirSync(join(folder, 'terminals'));
    const old = new Date(Date.now() - 31 * 86_400_000);
    utimesSync(join(folder, 'terminals', name), old, old);
    open(folder, [], 'two').write(FIND);
    expect(readdirSync(join(folder, 'terminals'))).not.toContain(name);
  });
});

describe('terminalId', () => {
  it.runIf(process.platform === 'linux')(
    'is the same for the commands of a session and differs between sessions',
    async () => {
      const worker = await bundleWorker(
        tempFolder(),
        `import { terminalId } from '../../../src/storage/process.ts'; console.log(terminalId({ TERM_SESSION_ID: 'x' }));`,
      );
      const printed = async (detached: boolean) => (await startWorker(worker, [], { detached }).ended).stdout;
      const here = await printed(false);
      // The session of this run may have begun outside its container: the id is 0 then.
      expect(here).toMatch(/^(session [1-9]\d*( \d+)?|TERM_SESSION_ID x)\n$/);
      expect(await printed(false)).toBe(here);
      expect(await printed(true)).toMatch(/^session [1-9]\d* \d+\n$/);
      expect(await printed(true)).not.toBe(here);
    },
  );
});

describe('the detected protocol', () => {
  it('is stored for each endpoint', () => {
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

  it('is not read from a damaged file', () => {
    const folder = tempFolder();
    const memory = openProtocolStore(folder, 'https://one.example/');
    memory.write({ era: 'bare' });
    const [name = ''] = readdirSync(join(folder, 'protocol'));
    const path = join(folder, 'protocol', name);
    writeFileSync(path, '{"endpoint":"https://one.example/","era":5}');
    expect(memory.read()).toBeUndefined();
    expect(readdirSync(join(folder, 'protocol'))).toEqual([`${name}.damaged`]);
  });

  it('is not stored if no folder can be written', () => {
    const warnings: string[] = [];
    const path = join(tempFolder(), 'file');
    writeFileSync(path, '');
    const memory = openProtocolStore(path, 'https://one.example/', (message) => warnings.push(message));
    memory.write({ era: 'bare' });
    expect(memory.read()).toBeUndefined();
    memory.forget();
    expect(warnings[0]).toContain('a part of the path is not a folder');
    const none = openProtocolStore(undefined, 'https://one.example/');
    none.write({ era: 'bare' });
    none.forget();
    expect(none.read()).toBeUndefined();
  });

  it.runIf(process.getuid?.() === 0)('is not read from a file of another user', () => {
    const folder = tempFolder();
    const store = openProtocolStore(folder, 'https://one.example/');
    store.write({ era: 'bare' });
    const [name = ''] = readdirSync(join(folder, 'protocol'));
    chownSync(join(folder, 'protocol', name), 65534, 65534);
    expect(store.read()).toBeUndefined();
  });
});

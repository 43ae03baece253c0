import { chownSync, existsSync, utimesSync } from 'node:fs';
import { join, relative } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openProtocolMemory } from '../../../src/app/address.ts';
import { openResultsStore, restaurantsOf } from '../../../src/app/last-results.ts';
import { useFolder } from '../../helpers/files.ts';
import { filesOf } from '../../helpers/leaks.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const RESULTS = {
  endpoint: 'https://x.example/api/mcp',
  at: 1_700_000_000_000,
  query: { name: 'Bé', city: 'Bern' },
  rows: [
    { service_id: 'a', name: 'A' },
    { service_id: 'b', name: 'Bé' },
  ],
};

const folder = useFolder();
let warnings: string[] = [];
beforeEach(() => {
  folder.path = folder.at('state/restaurant');
  warnings = [];
});
const warn = (message: string) => warnings.push(message);
const results = (terminal?: string) => openResultsStore(folder.path, terminal, warn);
const protocol = (endpoint: string) => openProtocolMemory(folder.path, endpoint, warn);

/** Returns the name of the only file in the folder. */
function onlyFile(): string {
  const files = filesOf(folder.path);
  expect(files).toHaveLength(1);
  return relative(folder.path, files[0] ?? '');
}

describe('the last results', () => {
  it('are returned as saved, from a private file', () => {
    expect(results().read()).toBeUndefined();
    expect(existsSync(folder.path)).toBe(false);
    results().write(RESULTS);
    expect(results().read()).toEqual(RESULTS);
    expect(folder.modes('', onlyFile())).toEqual(['700', '600']);
  });

  it.each([
    '',
    '{"endpoint":"x","at":1,"query":{"name":"a","city":"b"}}',
    '{"endpoint":"x","at":1,"query":{"name":"a"},"rows":[]}',
  ])('are not read from a damaged file, which is renamed: %s', (text) => {
    results().write(RESULTS);
    const name = onlyFile();
    const file = folder.write(name, text);
    expect(results().read()).toBeUndefined();
    expect(folder.read(`${name}.damaged`)).toBe(text);
    expect(warnings).toEqual([`${file} was damaged; renamed it to ${file}.damaged`]);
    results().write(RESULTS);
    expect(results().read()).toEqual(RESULTS);
  });

  it.runIf(process.getuid?.() === 0)('are not read from a file of another user', () => {
    results().write(RESULTS);
    chownSync(folder.at(onlyFile()), 65534, 65534);
    expect(results().read()).toBeUndefined();
  });

  it.each([
    [undefined, []],
    [
      join(import.meta.filename, 'sub'),
      [
        `cannot create the folder ${import.meta.filename}/sub: a part of the path is not a folder; ` +
          'RESTAURANT_STATE_DIR=<folder> sets another folder',
      ],
    ],
  ])('are not stored in the folder %s', (stateDir, expected) => {
    const store = openResultsStore(stateDir, undefined, warn);
    store.write(RESULTS);
    expect(store.read()).toBeUndefined();
    expect(warnings).toEqual(expected);
  });

  it('are stored per terminal; another terminal gets the latest of the user', () => {
    const other = { ...RESULTS, rows: [{ service_id: 'c', name: 7 }] };
    results('one').write(RESULTS);
    results('two').write(other);
    expect(results('one').read()).toEqual(RESULTS);
    for (const terminal of ['two', 'three', undefined]) expect(results(terminal).read()).toEqual(other);
    expect(restaurantsOf(other)).toEqual([{ id: 'c', name: '' }]);
  });

  it('are kept when a search finds nothing', () => {
    results('one').write(RESULTS);
    results('one').write({ ...RESULTS, rows: [] });
    expect(results('one').read()).toEqual(RESULTS);
  });

  it('of a terminal are deleted a month later', () => {
    results('one').write(RESULTS);
    const [name = ''] = folder.list('terminals');
    const old = new Date(Date.now() - 31 * 86_400_000);
    utimesSync(folder.at('terminals', name), old, old);
    results('two').write(RESULTS);
    expect(folder.list('terminals')).not.toContain(name);
  });
});

describe('the detected protocol', () => {
  it('is stored for each endpoint, until it is forgotten', () => {
    const [one, two] = [protocol('https://one.example/'), protocol('https://two.example/')];
    expect(one.read()).toBeUndefined();
    one.write({ era: 'legacy', version: '2025-11-25' });
    two.write({ era: 'bare' });
    expect(one.read()).toEqual({ era: 'legacy', version: '2025-11-25' });
    one.forget();
    one.forget();
    expect([one.read(), protocol('https://two.example/').read()]).toEqual([undefined, { era: 'bare' }]);
  });

  it('is not read from a damaged file, which is renamed', () => {
    const store = protocol('https://one.example/');
    store.write({ era: 'bare' });
    const name = onlyFile();
    folder.write(name, '{"endpoint":"https://one.example/","era":5}');
    expect(store.read()).toBeUndefined();
    expect(onlyFile()).toBe(`${name}.damaged`);
  });
});

it.runIf(process.platform === 'linux')(
  'a terminal has one ID in all commands of a session, and another in other sessions',
  async () => {
    const worker = await bundleWorker(
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

import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { SavedStore } from '../../../src/storage/saved-store.ts';
import type { Change } from '../../../src/util/changes.ts';
import { useFolder } from '../../helpers/files.ts';
import { fewOrAll } from '../../helpers/full.ts';
import { bundleWorker, startWorker } from '../../helpers/worker.ts';

const KILLS = fewOrAll(10, 300);

/** Counts in a saved restaurant, and records each step as a change, until it is killed or has done its turns. */
const COUNTER = `
import { SavedStore } from '../../../src/storage/saved-store.ts';
const [folder, turns] = process.argv.slice(2);
const store = new SavedStore(folder);
for (let turn = 0; turn < Number(turns); turn += 1) {
  await store.update(([one]) => {
    const before = one?.details.n ?? 0;
    const change = { when: new Date().toISOString(), id: 'a', name: 'A', field: 'n', before, after: before + 1 };
    const details = { n: before + 1, filler: 'x'.repeat(20_000) };
    return { restaurants: [{ id: 'a', service: 's', saved_at: 't', details }], changes: [change] };
  });
  if (turn === 0) console.log('started');
  // So that the other process gets the lock.
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
}`;

const LOG = 'changes.ndjson';
const SAVED = 'saved.json';
const folder = useFolder();
const open = (): SavedStore => new SavedStore(folder.path);
const AT = '2026-01-01T00:00:00.000Z';
const one = { id: 'a', service: 's', saved_at: AT };
const STEP = { when: AT, id: 'a', name: 'A', field: 'n' };
const change = (after: number): Change => ({ ...STEP, before: after - 1, after });
const lineOf = (after: number) => `${JSON.stringify(change(after))}\n`;
/** Records a change. */
const record = (after: number) => open().update((restaurants) => ({ restaurants, changes: [change(after)] }));

describe('the saved restaurants', () => {
  it('are private, and replaced as a whole', async () => {
    folder.path = folder.at('a/b');
    expect([open().read(), open().changes(), existsSync(folder.path)]).toEqual([[], [], false]);
    await open().update(() => ({ restaurants: [one], changes: [change(1)] }));
    await open().update((restaurants) => ({ restaurants, changes: [change(2), change(3)] }));
    expect([open().read(), open().changes()]).toEqual([[one], [change(1), change(2), change(3)]]);
    expect(folder.list()).toEqual([LOG, SAVED]);
    expect(folder.modes('', SAVED, LOG)).toEqual(['700', '600', '600']);
  });

  it.each([
    ['', 'it is empty'],
    ['{"version":1,"restaurants":[', 'it is not JSON'],
    ['\xff', 'it is not JSON'],
    ['[]', 'it is not a list of saved restaurants'],
    ['{"version":1,"restaurants":[{"id":1}]}', 'it is not a list of saved restaurants'],
    ['{"version":1,"restaurants":[],"pending":{"at":-1,"lines":""}}', '"pending" is not valid'],
    ['{"version":2}', 'a newer version of this program wrote it'],
  ])('are left alone when the file is damaged: %j', async (text, reason) => {
    const path = folder.write(SAVED, Buffer.from(text, 'latin1'));
    const before = folder.read(SAVED);
    const error = expect.objectContaining({ code: 'io_error', message: `cannot use ${path}: ${reason}` });
    expect(() => open().read()).toThrow(error);
    await expect(open().update(() => ({ restaurants: [] }))).rejects.toEqual(error);
    expect([folder.read(SAVED), folder.list()]).toEqual([before, [SAVED]]);
  });

  it('are not read from a file of the wrong kind', () => {
    mkdirSync(folder.at(SAVED));
    expect(() => open().read()).toThrow(`cannot use ${folder.at(SAVED)}: it is not a regular file`);
  });

  it('keep a record of changes in which a line that was cut off counts for nothing', async () => {
    await record(1);
    folder.write(LOG, `${lineOf(1)}{"when":"2026-01-0`);
    expect(open().changes()).toEqual([change(1)]);
    await record(2);
    expect(open().changes()).toEqual([change(1), change(2)]);
    // Only the line break is missing, as after an edit.
    folder.write(LOG, lineOf(1).trimEnd());
    await record(3);
    expect(open().changes()).toEqual([change(1), change(3)]);
  });

  it.each([0, 1, 40, 1000])('finish a write that ended after %i bytes of the record', async (written) => {
    const lines = lineOf(2) + lineOf(3);
    const pending = { at: lineOf(1).length, lines };
    folder.write(SAVED, JSON.stringify({ version: 1, restaurants: [one], pending }));
    folder.write(LOG, lineOf(1) + lines.slice(0, written));
    expect(open().changes()).toEqual([change(1), change(2), change(3)]);
    await record(4);
    expect(folder.read(LOG)).toBe(lineOf(1) + lines + lineOf(4));
    expect(folder.read(SAVED)).not.toContain('pending');
  });

  it.runIf(process.getuid?.() === 0)('are not read from a folder that others can change', () => {
    chmodSync(folder.path, 0o777);
    folder.write(SAVED, '{"version":1,"restaurants":[]}');
    expect(() => open().read()).toThrow(/^refusing to use /);
  });
});

describe('processes that change the saved restaurants', () => {
  let worker = '';
  beforeAll(async () => {
    worker = await bundleWorker(COUNTER);
  });
  /** Every step must be recorded once, and be the last one stored. */
  function expectNoGap(): number {
    const steps = open()
      .changes()
      .map(({ after }) => after);
    expect(steps).toEqual(steps.map((_, index) => index + 1));
    expect(open().read()[0]?.details?.n ?? 0).toBe(steps.length);
    return steps.length;
  }

  it('lose no change and record none twice when they are killed at any moment', async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      const runs = Array.from({ length: kill % 5 === 0 ? 2 : 1 }, () =>
        startWorker(worker, [folder.path, '1e9']),
      );
      await Promise.all(runs.map((run) => run.printed('started')));
      await sleep(Math.random() * 20);
      for (const run of runs) run.process.kill('SIGKILL');
      await Promise.all(runs.map((run) => run.ended));
      expectNoGap();
    }
    expect(expectNoGap()).toBeGreaterThanOrEqual(KILLS);
    await open().update((restaurants) => ({ restaurants }));
    expect(folder.list().filter((name) => name.endsWith('.tmp'))).toEqual([]);
  }, 900_000);

  it('wait for each other', async () => {
    const runs = [1, 2, 3].map(() => startWorker(worker, [folder.path, '20']));
    for (const run of runs) expect(await run.ended).toMatchObject({ exit: 0, stderr: '' });
    expect(expectNoGap()).toBe(60);
  });
});

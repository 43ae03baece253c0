import type { App } from '../../app/app.ts';
import { tryLock } from '../../storage/lock.ts';
import { plural } from '../../util/format.ts';
import { readCheckedTimes, writeCheckedTimes } from '../write/list-state.ts';
import { recordChanges } from './changes-file.ts';
import { FinishedList, type ListFlags } from './finished-list.ts';
import { Journal } from './journal.ts';

/** Changes of a run that was killed are written first. @throws {AppError} `in_use`, `bad_input`, `io_error` */
export async function changeList<T>(
  app: App,
  file: string,
  flags: ListFlags,
  work: (list: FinishedList, journal: Journal) => Promise<T>,
): Promise<T> {
  const list = await FinishedList.open(app, file, flags);
  const lock = tryLock(list.path);
  const journal = new Journal(list.path);
  try {
    const pending = journal.latest.size;
    if (pending > 0) {
      await commit(app, list, journal);
      await app.notes.note(`${plural(pending, 'row')} of an interrupted run added to ${list.name}`);
    }
    try {
      return await work(list, journal);
    } finally {
      await commit(app, list, journal);
    }
  } finally {
    journal.close();
    lock.release();
  }
}

async function commit(app: App, list: FinishedList, journal: Journal): Promise<void> {
  if (journal.entries.length === 0) return;
  const { stateDir } = app.paths;
  // Before the list is replaced, because the times belong to the present file.
  const times = readCheckedTimes(stateDir, list.path);
  await journal.apply(list);
  recordChanges(journal.entries, app.globals.rawCsv !== true);
  const checked = journal.entries.flatMap(({ id, at }) => (id === undefined ? [] : [[id, at] as const]));
  const ids = { ...times.ids, ...Object.fromEntries(checked) };
  if (Object.keys(ids).length > 0) writeCheckedTimes(stateDir, list.path, { ...times, ids });
  journal.remove();
}

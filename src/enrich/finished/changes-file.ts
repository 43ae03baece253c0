import { existsSync } from 'node:fs';
import { AppError } from '../../errors.ts';
import { again, slot } from '../../hint.ts';
import { csvRow } from '../../output/csv.ts';
import { toCell } from '../../output/records.ts';
import { writeFileAtomic } from '../../storage/atomic.ts';
import { ioError, readRegularFile } from '../../storage/files.ts';
import type { JournalEntry } from './journal.ts';

const MAX_BYTES = 512 * 1024 * 1024;
const HEADER = 'row,id,name,field,before,after,when\n';

export function openChangesFile(path: string, name: string): void {
  if (!existsSync(path)) {
    writeFileAtomic(path, HEADER, { mode: 0o644, replace: true });
    return;
  }
  if (read(path).startsWith(HEADER)) return;
  throw new AppError('usage', `${name} exists and does not contain changes`, {
    hint: { text: 'name another file', command: again({ '--changes': slot('file') }) },
  });
}

/**
 * Adds the changes to their files. Repeating it after a kill changes nothing. A journal may come from somebody else, so it
 * never creates a file, and adds only to files of changes.
 */
export function recordChanges(entries: readonly JournalEntry[], guard: boolean): void {
  const files = new Set(entries.flatMap(({ changesFile }) => changesFile ?? []));
  for (const path of files) {
    const lines = entries
      .filter(({ changesFile }) => changesFile === path)
      .flatMap((entry) => linesOf(entry, guard))
      .join('');
    if (lines === '') continue;
    const text = existsSync(path) ? read(path) : '';
    if (!text.startsWith(HEADER)) throw noChangesFile(path);
    if (!text.endsWith(lines)) writeFileAtomic(path, text + lines, { mode: 0o644, replace: true });
  }
}

const noChangesFile = (path: string): AppError =>
  new AppError('bad_input', `${path} is missing, to which an interrupted run adds changes`, {
    hint: { text: 'create it', command: again({ '--refresh': true, '--changes': path }) },
  });

const linesOf = ({ row, id = '', name = '', changes = [], at }: JournalEntry, guard: boolean): string[] =>
  changes.map(
    ({ field, before, after }) =>
      `${csvRow([row, id, name, field, toCell(before), toCell(after), new Date(at).toISOString()], guard)}\n`,
  );

function read(path: string): string {
  try {
    return readRegularFile(path, MAX_BYTES).bytes.toString('utf8');
  } catch (error) {
    throw ioError('read', path, error);
  }
}

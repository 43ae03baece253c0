import { failure, usage } from '../../errors.ts';
import { again, type Hint } from '../../hint.ts';
import { encodeRecord } from '../../util/csv.ts';
import { LimitedWorker, LimitReached } from '../../util/worker.ts';
import { worker as WORKER } from './asset.js';
import { UnreadableFile } from './limits.ts';
import type { TableRecord, TableSource } from './table.ts';
import type { Sheets, TypedMessage, TypedRow, TypedTask } from './typed-rows.ts';

/** Limits of the worker: its heap, which holds the texts that cells share, and its time. */
const MAX_HEAP_MB = 512;
const TIMEOUT_MS = 60_000;

const HINTS: Readonly<Record<TypedTask['kind'], Hint>> = {
  xlsx: [
    { text: 'in Excel: File > Save As > CSV UTF-8' },
    { text: 'then', command: again({}, { operands: ['list.csv'] }) },
  ],
  parquet: { text: 'save it as CSV', command: again({}, { operands: ['list.csv'] }) },
};

/**
 * Reads a workbook or a Parquet file, in a worker with limits of memory and time.
 * @param name as the user named the file
 * @throws {AppError} `bad_input` if it cannot be read, `usage` if it has no such sheet; the signal's reason
 */
export async function openTyped(
  name: string,
  task: TypedTask,
  delimiter: string,
  signal: AbortSignal,
): Promise<Pick<TableSource, 'records' | 'sheets'>> {
  const worker = new LimitedWorker<TypedTask, TypedMessage>(WORKER, MAX_HEAP_MB);
  const records: TableRecord[] = [];
  const onRow = ({ row, ...others }: TypedRow): void => {
    const text = encodeRecord(others.cells, delimiter);
    records.push({ ...others, line: row, row, text, end: '\n' });
  };
  try {
    const sheets = await readAll(
      name,
      task.sheet,
      worker.messages(task, { timeoutMs: TIMEOUT_MS, signal }),
      onRow,
    );
    return { records: takeAll(records), sheets };
  } catch (cause) {
    if (!(cause instanceof UnreadableFile || cause instanceof LimitReached)) throw cause;
    const problem = cause instanceof LimitReached ? `it needs too much ${cause.limit}` : cause.message;
    throw failure('bad_input', `${name} cannot be read: ${problem}`, HINTS[task.kind], cause);
  } finally {
    await worker.close();
  }
}

async function readAll(
  name: string,
  wanted: string | undefined,
  messages: AsyncIterable<TypedMessage>,
  onRow: (row: TypedRow) => void,
): Promise<Sheets> {
  for await (const message of messages) {
    if ('end' in message) return message.end;
    if ('problem' in message) throw new UnreadableFile(message.problem);
    if ('noSheet' in message) throw noSheet(name, wanted, message.noSheet);
    message.rows.forEach(onRow);
  }
  throw new UnreadableFile('it is damaged');
}

function noSheet(name: string, wanted: string | undefined, sheets: readonly string[]): Error {
  const [first] = sheets;
  const hint = first === undefined ? undefined : { command: again({ '--sheet': first }) };
  const names = sheets.map((sheet) => `'${sheet}'`).join(', ');
  return usage(`${name} has no sheet '${wanted}'; it has ${names || 'none'}`, hint);
}

/** Returns the records, and forgets each one that was returned. */
async function* takeAll(records: (TableRecord | undefined)[]): AsyncGenerator<TableRecord> {
  for (const [index, record] of records.entries()) {
    records[index] = undefined;
    if (record !== undefined) yield record;
  }
}

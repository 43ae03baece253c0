import { failure, usage } from '../../errors.ts';
import { again, type Hint } from '../../hint.ts';
import { LimitedWorker, LimitReached } from '../../util/worker.ts';
import type { Sheets } from '../row.ts';
import { worker as WORKER } from './asset.js';
import { UnreadableFile } from './limits.ts';
import type { TypedMessage, TypedRow, TypedTask } from './typed-rows.ts';

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

interface TypedRows {
  readonly records: readonly TypedRow[];
  readonly sheets: Sheets;
}

/** @throws {AppError} `bad_input` if it cannot be read, `usage` if it has no such sheet; the signal's reason */
export async function readTyped(name: string, task: TypedTask, signal: AbortSignal): Promise<TypedRows> {
  const worker = new LimitedWorker<TypedTask, TypedMessage>(WORKER, MAX_HEAP_MB);
  try {
    const messages = worker.messages(task, { timeoutMs: TIMEOUT_MS, signal });
    const read = await readMessages(messages);
    if (task.sheet === undefined || read.sheets.sheet !== undefined) return read;
    throw noSheet(name, task.sheet, read.sheets.sheets);
  } catch (cause) {
    if (!(cause instanceof UnreadableFile || cause instanceof LimitReached)) throw cause;
    const problem = cause instanceof LimitReached ? `it needs too much ${cause.limit}` : cause.message;
    throw failure('bad_input', `${name} cannot be read: ${problem}`, HINTS[task.kind], cause);
  } finally {
    await worker.close();
  }
}

async function readMessages(messages: AsyncIterable<TypedMessage>): Promise<TypedRows> {
  const records: TypedRow[] = [];
  for await (const message of messages) {
    if ('end' in message) return { records, sheets: message.end };
    if ('problem' in message) throw new UnreadableFile(message.problem);
    for (const row of message.rows) records.push(row);
  }
  throw new UnreadableFile('it is damaged');
}

function noSheet(name: string, wanted: string, sheets: readonly string[]): Error {
  const [first] = sheets;
  const hint = {
    command: first === undefined ? again({}, { without: ['--sheet'] }) : again({ '--sheet': first }),
  };
  const names = sheets.map((sheet) => `'${sheet}'`).join(', ');
  return usage(`${name} has no sheet '${wanted}'; it has ${names || 'none'}`, hint);
}

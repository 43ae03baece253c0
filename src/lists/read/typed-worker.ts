import { parentPort } from 'node:worker_threads';
import { UnreadableFile } from './limits.ts';
import { readParquet } from './parquet.ts';
import { NoSheet, RowSink, type Sheets, type TypedMessage, type TypedTask } from './typed-rows.ts';
import { readWorkbook } from './xlsx/workbook.ts';

const READERS: Readonly<Record<TypedTask['kind'], (task: TypedTask, sink: RowSink) => Promise<Sheets>>> = {
  xlsx: readWorkbook,
  parquet: readParquet,
};

const reply = (message: TypedMessage): void => parentPort?.postMessage(message);

async function answer(task: TypedTask): Promise<TypedMessage> {
  const sink = new RowSink((rows) => reply({ rows }));
  try {
    const end = await READERS[task.kind](task, sink);
    sink.flush();
    return { end };
  } catch (error) {
    if (error instanceof UnreadableFile) return { problem: error.message };
    if (error instanceof NoSheet) return { noSheet: error.sheets };
    throw error;
  }
}

parentPort?.on('message', async (task: TypedTask) => reply(await answer(task)));

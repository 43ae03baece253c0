import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import {
  type TableCell,
  type TableCellKind,
  type TableColumn,
  type TableFile,
  textOf,
} from './table-file.ts';

/** Limits of a row group, which is kept in memory: rows, and characters of text. */
const MAX_ROWS = 5000;
const MAX_CHARACTERS = 4 * 1024 * 1024;

const TYPES = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  number: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  date: { type: 'INT32', converted_type: 'DATE' },
  time: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  mixed: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
} as const satisfies Readonly<Record<TableCellKind, object>>;

export async function* parquetBytes({ columns, rows }: TableFile): AsyncGenerator<Uint8Array> {
  const bytes = new ByteWriter();
  const schema = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, kind }) => ({ name, repetition_type: 'OPTIONAL' as const, ...TYPES[kind] })),
  ];
  const writer = new ParquetWriter({ writer: bytes, schema, createdBy: 'restaurant', statistics: false });
  let group: (readonly TableCell[])[] = [];
  let characters = 0;
  for await (const cells of rows) {
    group.push(cells);
    for (const cell of cells) characters += typeof cell === 'string' ? cell.length : 0;
    if (group.length < MAX_ROWS && characters < MAX_CHARACTERS) continue;
    await writeGroup(writer, columns, group);
    yield takeBytes(bytes);
    group = [];
    characters = 0;
  }
  if (group.length > 0) await writeGroup(writer, columns, group);
  await writer.finish();
  yield takeBytes(bytes);
}

async function writeGroup(
  writer: ParquetWriter,
  columns: readonly TableColumn[],
  rows: readonly (readonly TableCell[])[],
): Promise<void> {
  const columnData = columns.map(({ name, kind }, index) => ({
    name,
    data: rows.map((cells) => cellOf(cells[index] ?? null, kind)),
  }));
  await writer.write({ columnData, rowGroupSize: rows.length });
}

/** A column has one type, so cells of several kinds become text. */
const cellOf = (cell: TableCell, kind: TableCellKind): TableCell =>
  kind === 'mixed' && cell !== null ? textOf(cell) : cell;

/** Takes the bytes that are written, and lets the writer use its memory again. */
function takeBytes(writer: ByteWriter): Uint8Array {
  const bytes = writer.getBytes().slice();
  writer.index = 0;
  return bytes;
}

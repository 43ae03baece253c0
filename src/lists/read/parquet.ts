import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type Compressors, parquetMetadata, parquetRead, parquetSchema, type SchemaTree } from 'hyparquet';
import { MAX_BYTES, UnreadableFile } from './limits.ts';
import type { Cell, FileRow, TypedFile, TypedTask } from './typed-rows.ts';

const BLOCK = 10_000;

const unpack =
  (decompress: typeof gunzipSync) =>
  (bytes: Uint8Array, length: number): Uint8Array =>
    decompress(bytes, { maxOutputLength: Math.min(length, MAX_BYTES) });
const COMPRESSORS: Compressors = { GZIP: unpack(gunzipSync), BROTLI: unpack(brotliDecompressSync) };

/** A column without columns of its own. The columns of a struct have dotted names. */
interface Leaf {
  readonly path: readonly string[];
  readonly isDay: boolean;
}

/** Reads the rows of a Parquet file, with a header. @throws {UnreadableFile} */
export async function readParquet({ bytes }: TypedTask): Promise<TypedFile> {
  return { sheets: [], rows: rowsOf(bytes.buffer as ArrayBuffer) };
}

async function* rowsOf(file: ArrayBuffer): AsyncGenerator<FileRow> {
  try {
    const metadata = parquetMetadata(file, { geoparquet: false });
    const columns = parquetSchema(metadata).children.map((child) => leavesOf(child));
    yield { row: 1, cells: columns.flat().map(({ path }) => [path.join('.')]) };
    const options = { file, metadata, compressors: COMPRESSORS, geoparquet: false };
    let row = 1;
    for (let rowStart = 0; rowStart < metadata.num_rows; rowStart += BLOCK) {
      const rows: unknown[][] = [];
      const rowEnd = Math.min(rowStart + BLOCK, Number(metadata.num_rows));
      const onComplete = (block: unknown[][]) => rows.push(...block);
      await parquetRead({ ...options, rowStart, rowEnd, onComplete });
      for (const values of rows) {
        row += 1;
        const cells = columns.flatMap((leaves, index) => leaves.map((leaf) => cellOf(values[index], leaf)));
        yield { row, cells };
      }
    }
  } catch (cause) {
    throw new UnreadableFile('it is damaged, or packed in a way that this program does not know', { cause });
  }
}

function leavesOf({ children, element, path }: SchemaTree): Leaf[] {
  const isStruct = children.length > 0 && element.converted_type === undefined;
  if (isStruct && element.repetition_type !== 'REPEATED') return children.flatMap(leavesOf);
  return [{ path, isDay: element.converted_type === 'DATE' || element.logical_type?.type === 'DATE' }];
}

function cellOf(column: unknown, { path, isDay }: Leaf): Cell {
  const value = path.slice(1).reduce<unknown>((holder, key) => memberOf(holder, key), column);
  if (value === undefined || value === null || value instanceof Uint8Array) return [''];
  if (typeof value === 'string') return [value];
  if (typeof value === 'boolean') return [String(value), 'b'];
  if (typeof value === 'number') return Number.isFinite(value) ? [String(value), 'n'] : [''];
  if (typeof value === 'bigint') return [String(value), Number.isSafeInteger(Number(value)) ? 'n' : 't'];
  if (!(value instanceof Date)) return [nestedText(value)];
  if (Number.isNaN(value.getTime())) return [''];
  return [value.toISOString().slice(0, isDay ? 'yyyy-mm-dd'.length : 'yyyy-mm-ddThh:mm:ss'.length), 'd'];
}

const memberOf = (holder: unknown, key: string): unknown =>
  typeof holder === 'object' && holder !== null && Object.hasOwn(holder, key)
    ? (holder as Record<string, unknown>)[key]
    : undefined;

/** A list of simple values is joined; other values are JSON, with large integers as strings. */
function nestedText(value: unknown): string {
  const isSimple = (each: unknown) => typeof each !== 'object' || each === null;
  if (Array.isArray(value) && value.every(isSimple))
    return value.map((each) => String(each ?? '')).join('; ');
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? String(each) : each));
}

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet';

const SCRIPT = `
import json, sys, zipfile
from xml.etree import ElementTree as xml
main = '{http://schemas.openxmlformats.org/spreadsheetml/2006/main}'
with zipfile.ZipFile(sys.argv[1]) as book:
    assert book.testzip() is None
    for name in book.namelist():
        xml.fromstring(book.read(name))
    rows = []
    for row in xml.fromstring(book.read('xl/worksheets/sheet1.xml')).iter(main + 'row'):
        cells = {}
        for cell in row.iter(main + 'c'):
            assert cell.find(main + 'f') is None
            column = cell.get('r').rstrip('0123456789')
            text = ''.join(each.text or '' for each in cell.iter(main + 't'))
            value = cell.find(main + 'v')
            cells[column] = text if cell.get('t') == 'inlineStr' else float(value.text)
        rows.append(cells)
print(json.dumps(rows))
`;

/** Whether Python, which reads workbooks with other code than ours, is installed. */
export const HAS_PYTHON = spawnSync('python3', ['--version']).status === 0;

/** Reads the rows of a workbook with Python. @returns the cells of each row, by their column */
export function workbookRows(path: string): Record<string, string | number>[] {
  const { stdout, stderr } = spawnSync('python3', ['-c', SCRIPT, path], { encoding: 'utf8' });
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout);
}

export async function parquetRows(path: string): Promise<Record<string, unknown>[]> {
  const { buffer, byteOffset, byteLength } = readFileSync(path);
  return parquetReadObjects({ file: buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer });
}

/** Returns the columns of a Parquet file with their types. */
export function parquetTypes(path: string): Record<string, string | undefined> {
  const { buffer, byteOffset, byteLength } = readFileSync(path);
  const file = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
  const { children } = parquetSchema(parquetMetadata(file));
  return Object.fromEntries(children.map(({ element }) => [element.name, element.type]));
}

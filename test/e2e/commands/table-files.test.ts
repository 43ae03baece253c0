import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useService } from '../../helpers/service.ts';
import { HAS_PYTHON, parquetRows, parquetTypes, workbookRows } from '../../helpers/table-files.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const NAME = '=HYPERLINK("http://x","<b>") _x0041_\u0007 ☕😀';
const service = useService({
  restaurants: ['A', null].map((grade, index) => ({
    service_id: `id-${index}`,
    name: index === 0 ? NAME : 'Plain',
    city: 'Testville',
    coordinates: { lat: 1.5 + index, lng: -2 },
    cuisine_tags: ['a', 'b'],
    grade,
  })) as never,
});
const cwd = tempFolder();
const find = (file: string, ...words: string[]) =>
  service.run(['find', 'in', '--city', 'Testville', '-o', file, ...words], { cwd });

describe('find', () => {
  it.skipIf(!HAS_PYTHON)('writes a workbook, with text that is never a formula', async () => {
    expect(await find('out.xlsx', '--columns', 'name,grade,lat,cuisine_tags')).toMatchObject({
      exit: 0,
      stdout: '',
    });
    expect(workbookRows(join(cwd, 'out.xlsx'))).toEqual([
      { A: 'name', B: 'grade', C: 'lat', D: 'cuisine_tags' },
      { A: NAME.replace('_x', '_x005F_x').replace('\u0007', '^G'), B: 'A', C: 1.5, D: 'a; b' },
      { A: 'Plain', C: 2.5, D: 'a; b' },
    ]);
    const first = readFileSync(join(cwd, 'out.xlsx'));
    await find('out.xlsx', '--columns', 'name,grade,lat,cuisine_tags', '--force');
    expect(readFileSync(join(cwd, 'out.xlsx')).equals(first)).toBe(true);
  });

  it('writes a Parquet file with typed columns', async () => {
    expect((await find('out.parquet')).exit).toBe(0);
    expect(parquetTypes(join(cwd, 'out.parquet'))).toMatchObject({
      name: 'BYTE_ARRAY',
      lat: 'DOUBLE',
      lng: 'DOUBLE',
    });
    expect(await parquetRows(join(cwd, 'out.parquet'))).toMatchObject([
      { service_id: 'id-0', grade: 'A', lat: 1.5, lng: -2 },
      { service_id: 'id-1', grade: null, lat: 2.5 },
    ]);
  });
});

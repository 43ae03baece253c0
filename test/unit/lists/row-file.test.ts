import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { OutputRecords } from '../../../src/lists/write/checkpoint.ts';
import { RowFile } from '../../../src/lists/write/row-file.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const CSV = { header: '', delimiter: ',', terminator: '\n' };

let path = '';
beforeEach(() => {
  path = join(tempFolder(), 'out.csv');
});

describe('a file of rows', () => {
  it('contains every row as soon as it is appended', () => {
    const file = RowFile.create(path);
    file.append('é1\n');
    file.append('row 2\n');
    expect(readFileSync(path, 'utf8')).toBe('é1\nrow 2\n');
    expect(new OutputRecords(file, CSV).next()).toBe('é1\n');
    file.cut(4);
    file.append('x\n');
    expect(readFileSync(path, 'utf8')).toBe('é1\nx\n');
    expect(statSync(path).mode & 0o777).toBe(0o644);
    file.flush();
    file.close();
  });

  it('is not created if it exists', () => {
    RowFile.create(path).close();
    expect(() => RowFile.create(path)).toThrow(expect.objectContaining({ code: 'io_error' }));
    const old = RowFile.open(path);
    expect(old.size).toBe(0);
    old.close();
  });

  it('reports that another program deleted it', () => {
    const file = RowFile.create(path);
    file.append('row\n');
    rmSync(path);
    expect(() => file.flush()).toThrow(/was deleted during the run/);
    file.close();
  });

  it('returns rows that are longer than a chunk', () => {
    const file = RowFile.create(path);
    const long = `"${'x\n'.repeat(100_000)}"\n`;
    file.append(`${long}short\n`);
    const rows = new OutputRecords(file, CSV);
    expect(rows.next()).toBe(long);
    expect(rows.next()).toBe('short\n');
    file.close();
  });
});

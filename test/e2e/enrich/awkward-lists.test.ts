import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useService } from '../../helpers/service.ts';

const service = useService();

/** Writes a list with this content into the home of the test. */
function list(content: string): string {
  const path = join(service.home, 'list.csv');
  writeFileSync(path, content);
  return path;
}

describe('enrich', () => {
  it('keeps a header line with repeated or empty names', async () => {
    const path = list('name,city,note,note,,\nNopa,SF,x,y,1,2\n');
    const { exit, stdout } = await service.run(['enrich', path]);
    expect(exit).toBe(0);
    const [header = '', row = ''] = stdout.split('\n');
    expect(header).toMatch(/^name,city,note,note,,,restaurant_status,restaurant_match,/);
    expect(row).toMatch(/^Nopa,SF,x,y,1,2,matched,exact,/);
    const nested = await service.run(['enrich', path, '--format', 'ndjson']);
    expect(nested.exit).toBe(2);
    expect(nested.stderr).toContain("two columns 'note'");
  });

  it('rejects an output extension of another format', async () => {
    const path = list('name,city\nNopa,SF\n');
    for (const file of ['out.json', 'out.html']) {
      const { exit, stderr } = await service.run(['enrich', path, '-o', join(service.home, file)]);
      expect(exit).toBe(2);
      expect(stderr).toMatch(/rows are written as csv, tsv, ndjson\nhint: restaurant enrich/);
    }
  });

  it('rejects a delimiter that is not accepted', async () => {
    const { exit, stderr } = await service.run(['enrich', list('name,city\n'), '--delimiter', ':']);
    expect(exit).toBe(2);
    expect(stderr).toMatch(/^error: --delimiter ':': expected comma, semicolon, tab, or pipe/);
  });

  it('accepts its own output as input and leaves it unchanged', async () => {
    const path = list('name,city\nNopa,SF\n');
    await service.run(['enrich', path]);
    expect(readFileSync(path, 'utf8')).toBe('name,city\nNopa,SF\n');
  });
});

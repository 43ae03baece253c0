import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PageDocument } from '../../../src/output/html/document.ts';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const service = useService();

/** Creates a folder with a list and a function that runs `enrich` in it. */
function workplace(list = 'name,city,note\nNopa,San Francisco,"=a </script> b"\nNobody Knows,Paris,x\n') {
  const cwd = tempFolder();
  writeFileSync(join(cwd, 'list.csv'), list);
  return {
    enrich: (...words: string[]) => service.run(['enrich', 'list.csv', ...words], { cwd }),
    file: (name: string) => join(cwd, name),
    page(name = 'out.html'): { head: Omit<PageDocument, 'rows'>; rows: PageDocument['rows']; html: string } {
      const html = readFileSync(join(cwd, name), 'utf8');
      const parts = [...html.matchAll(/<script type="application\/json"[^>]*>([\s\S]*?)<\/script>/g)];
      const [head, rows] = parts.map(([, text = '']) => JSON.parse(text));
      return { head, rows, html };
    },
  };
}

describe('enrich --report', () => {
  it.each(['csv', 'tsv', 'ndjson'])('creates a page from a finished list in %s', async (format) => {
    const { enrich, page, file } = workplace();
    const output = `out.${format}`;
    const words = ['-o', output, '--report', 'out.html', '--fields', 'standard', '--add', 'tel=phone'];
    const { exit, stdout } = await enrich(...words);
    expect([exit, stdout]).toEqual([0, '']);
    const { head, rows } = page();
    expect(head).toMatchObject({ kind: 'Enriched list', heading: 'list.csv' });
    expect(head.notes).toEqual(['2 rows', '1 matched, 0 ambiguous, 1 not found, 0 errors']);
    expect(rows).toHaveLength(2);
    expect(rows[0]?.cells).toEqual([
      'Nopa',
      'San Francisco',
      'matched',
      'Nopa',
      'A',
      'californian',
      expect.stringContaining('560 Divisadero'),
    ]);
    expect(rows[0]?.point).toEqual([37.7749, -122.4376]);
    const details = new Map(rows[0]?.details);
    expect(details.get('In the list')).toEqual({
      pairs: [
        ['name', 'Nopa'],
        ['city', 'San Francisco'],
        ['note', '=a </script> b'],
      ],
    });
    expect(details.get('Tel')).toEqual({ href: 'tel:+14155550195', text: '+1 415-555-0195' });
    expect(details.get('Details')).toMatchObject({ pairs: expect.arrayContaining([['Grade', 'A']]) });
    expect(rows[1]).toMatchObject({
      cells: ['Nobody Knows', 'Paris', 'not_found', null, null, null, null],
    });
    expect(rows[1]?.point).toBeUndefined();
    expect(existsSync(file(output))).toBe(true);
  });

  it('creates it from a finished list without a request, and replaces an earlier page', async () => {
    const { enrich, page } = workplace();
    await enrich('-o', 'out.csv');
    service.sent();
    for (let run = 0; run < 2; run += 1) {
      const { exit, stdout } = await enrich('-o', 'out.csv', '--resume', '--report', 'out.html', '--json');
      expect(exit).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ report: 'out.html', requests: 0, earlier: 2 });
    }
    expect(service.sent()).toBe(0);
    expect(page().rows).toHaveLength(2);
  });

  it('replaces no other file, not even with --resume, and checks before the first request', async () => {
    const { enrich, file } = workplace();
    await enrich('-o', 'out.csv');
    writeFileSync(file('mine.html'), '<!doctype html>mine');
    service.sent();
    const refused = [
      [['-o', 'out.csv', '--resume', '--report', 'mine.html'], 'mine.html exists'],
      [['-o', 'new.csv', '--report', 'mine.html'], 'mine.html exists'],
      [['-o', 'out.csv', '--resume', '--report', 'page.csv'], 'the report is an HTML page'],
      [['--report', 'out.html'], 'needs a file of rows'],
      [['--open'], 'needs a file of rows'],
      [['-o', '/dev/null', '--report', 'out.html'], 'needs a file of rows'],
    ] as const;
    for (const [words, said] of refused) {
      const { exit, stderr } = await enrich(...words);
      expect([exit, stderr]).toEqual([2, expect.stringContaining(said)]);
    }
    for (const words of [
      ['-o', 'x.html'],
      ['-o', 'x.csv', '--format', 'html'],
    ]) {
      const { exit, stderr } = await enrich(...words);
      expect([exit, stderr]).toEqual([2, expect.stringContaining('-o out.csv --report out.html')]);
    }
    expect(service.sent()).toBe(0);
    expect(readFileSync(file('mine.html'), 'utf8')).toBe('<!doctype html>mine');
  });

  it('keeps a page for --open and prints its path; writes none for a stopped run', async () => {
    const { enrich, page } = workplace();
    const { exit, stdout } = await enrich('-o', 'out.csv', '--open', '--no-input');
    expect(exit).toBe(0);
    expect(readFileSync(stdout.trim(), 'utf8')).toContain('<h1 dir="auto">list.csv</h1>');
    const spent = await enrich('-o', 'more.csv', '--report', 'out.html', '--per-day', '1', '--city', 'SF');
    expect(spent).toMatchObject({ exit: 5, stderr: expect.stringContaining('--report out.html') });
    expect(() => page()).toThrow();
  });
});

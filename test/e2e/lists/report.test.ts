import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import type { PageDocument } from '../../../src/output/html/document.ts';
import { useLists } from '../../helpers/enrich.ts';

const { service, read, write, ...lists } = useLists({});
const enrich = (words: string) => lists.enrich(`in.csv ${words}`);
beforeEach(() => {
  write('in.csv', 'name,city,note\nNopa,San Francisco,"=a </script> b"\nNobody Knows,Paris,x\n');
});

/** The data of the page. */
function page(): { head: Omit<PageDocument, 'rows'>; rows: PageDocument['rows'] } {
  const parts = [...read('out.html').matchAll(/<script type="application\/json"[^>]*>([\s\S]*?)<\/script>/g)];
  const [head, rows] = parts.map(([, text = '']) => JSON.parse(text));
  return { head, rows };
}

describe('enrich --report', () => {
  it.each(['csv', 'tsv', 'ndjson'])('creates a page from a finished list in %s', async (format) => {
    const output = `-o out.${format} --report out.html`;
    const { exit, stdout } = await enrich(`${output} --fields standard --add tel=phone`);
    expect([exit, stdout]).toEqual([0, '']);
    const { head, rows } = page();
    expect(head).toMatchObject({ kind: 'Enriched list', heading: 'in.csv' });
    expect(head.notes).toEqual(['2 rows', '1 matched, 0 ambiguous, 1 not found, 0 errors']);
    expect(rows).toHaveLength(2);
    const found = ['matched', 'Nopa', 'A', 'californian', '560 Divisadero St, San Francisco, CA 94117'];
    expect(rows[0]?.cells).toEqual(['Nopa', 'San Francisco', ...found]);
    expect(rows[0]?.point).toEqual([37.7749, -122.4376]);
    const details = new Map(rows[0]?.details);
    expect(details.get('In the list')).toEqual({
      pairs: [
        ['name', 'Nopa'],
        ['city', 'San Francisco'],
        ['note', '=a </script> b'],
      ],
    });
    expect(details.get('Tel')).toBe('+1 415-555-0195');
    expect(details.get('Details')).toMatchObject({ pairs: expect.arrayContaining([['Grade', 'A']]) });
    expect(rows[1]).toMatchObject({
      cells: ['Nobody Knows', 'Paris', 'not_found', null, null, null, null],
    });
    expect(rows[1]?.point).toBeUndefined();
    expect(read(`out.${format}`)).not.toBe('');
  });

  it('creates it from a finished list without a request, and replaces an earlier page', async () => {
    await enrich('-o out.csv');
    service.sent();
    for (let run = 0; run < 2; run += 1) {
      const { exit, stdout } = await enrich('-o out.csv --resume --report out.html --json');
      expect(exit).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ report: 'out.html', requests: 0, earlier: 2 });
    }
    expect(service.sent()).toBe(0);
    expect(page().rows).toHaveLength(2);
  });

  it('replaces no other file, not even with --resume, and checks before the first request', async () => {
    await enrich('-o out.csv');
    write('mine.html', '<!doctype html>mine');
    service.sent();
    for (const [words, said] of [
      ['-o out.csv --resume --report mine.html', 'mine.html exists'],
      ['-o new.csv --report mine.html', 'mine.html exists'],
      ['-o out.csv --resume --report page.csv', 'the report is an HTML page'],
      ['--report out.html', 'needs a file of rows'],
      ['--open', 'needs a file of rows'],
      ['-o /dev/null --report out.html', 'needs a file of rows'],
      ['-o x.html', '-o out.csv --report out.html'],
      ['-o x.csv --format html', '-o out.csv --report out.html'],
    ] as const) {
      const { exit, stderr } = await enrich(words);
      expect([exit, stderr]).toEqual([2, expect.stringContaining(said)]);
    }
    expect(service.sent()).toBe(0);
    expect(read('mine.html')).toBe('<!doctype html>mine');
  });

  it('keeps a page for --open and prints its path; writes none for a stopped run', async () => {
    const { exit, stdout } = await enrich('-o out.csv --open --no-input');
    expect(exit).toBe(0);
    expect(readFileSync(stdout.trim(), 'utf8')).toContain('<h1 dir="auto">in.csv</h1>');
    const spent = await enrich('-o more.csv --report out.html --per-day 1 --city SF');
    expect(spent).toMatchObject({ exit: 5, stderr: expect.stringContaining('--report out.html') });
    expect(() => page()).toThrow();
  });
});

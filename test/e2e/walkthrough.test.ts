import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { sampleRestaurants } from '../../src/sandbox/restaurants.ts';
import { useService } from '../helpers/service.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { textRow, workbookParts, zip } from '../helpers/workbook.ts';

const PAGE = fileURLToPath(new URL('../../docs/walkthrough.md', import.meta.url));
const ROWS = [
  ['Lokal', 'Ort', 'Kunde seit'],
  ['Nopa', 'San Francisco', '2019'],
  ['Golden Crane', 'San Francisco', '2021'],
  ['Taquería', 'San Francisco', '2022'],
  ['Copper Laddle GmbH', 'San Francisco', '2024'],
  ['Zum Anker', 'San Francisco', '2025'],
];
const WEEK_MS = 7 * 86_400_000;
/** A block of commands with their output, or of a file, with the comment before it. */
const BLOCK = /(?:<!-- (?<comment>.*) -->\n\n)?```(?<kind>console|csv)\n(?<text>[\s\S]*?)```/g;

const restaurants = sampleRestaurants();
const service = useService({ restaurants });

/** `UPDATE_DOCS=1` writes the output of the commands into the page. */
it('the walkthrough shows what its commands print', async () => {
  const folder = tempFolder();
  const rows = ROWS.map((texts) => textRow(...texts)).join('');
  writeFileSync(join(folder, 'customers.xlsx'), zip(workbookParts({ Kunden: rows })));
  let clock = Date.UTC(2026, 10, 23, 9);
  const page = readFileSync(PAGE, 'utf8');
  const parts: string[] = [];
  let end = 0;
  for (const match of page.matchAll(BLOCK)) {
    const { comment = '', kind, text = '' } = match.groups ?? {};
    if (comment === 'later') {
      clock += WEEK_MS;
      Object.assign(restaurants.find(({ name }) => name === 'Nopa') ?? {}, { grade: 'A-' });
    }
    const lines: string[] = [];
    for (const command of text.match(/^\$ .*/gm) ?? []) {
      const keys = /keys: ([^;]*)/.exec(comment)?.[1];
      const typed = /text: (.*)/.exec(comment)?.[1] ?? '';
      const tty = { stdin: true, stderr: true, columns: 78 };
      const { stdout, stderr } = await service.run(command.split(' ').slice(2), {
        cwd: folder,
        env: { HOME: folder, NO_COLOR: '1', RESTAURANT_MAX_AGE: undefined },
        now: () => clock,
        ...(keys === undefined ? {} : { tty, answers: { keys, text: [typed, ''] } }),
      });
      lines.push(`${command}\n${(stdout + stderr).replaceAll(/ +$/gm, '')}`);
    }
    const shown = kind === 'csv' ? readFileSync(join(folder, 'changes.csv'), 'utf8') : lines.join('\n');
    const start = match.index + match[0].length - text.length - 3;
    parts.push(page.slice(end, start), shown);
    end = start + text.length;
  }
  expect(existsSync(join(folder, 'found.xlsx'))).toBe(true);
  const whole = [...parts, page.slice(end)].join('');
  if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, whole);
  else expect(page).toBe(whole);
});

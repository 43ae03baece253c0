import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { useService } from '../helpers/service.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const PAGE = fileURLToPath(new URL('../../docs/walkthrough.md', import.meta.url));
const LIST = fileURLToPath(new URL('../../docs/customers.xlsx', import.meta.url));
/** A block of commands with their output, with the comment before it. */
const BLOCK = /(?:<!-- (?<comment>.*) -->\n\n)?```console\n(?<text>[\s\S]*?)```/g;

const service = useService();

/** `UPDATE_DOCS=1` writes the output of the commands into the page. */
it('the walkthrough shows what its commands print', async () => {
  const folder = tempFolder();
  copyFileSync(LIST, join(folder, 'customers.xlsx'));
  const page = readFileSync(PAGE, 'utf8');
  const parts: string[] = [];
  let end = 0;
  for (const match of page.matchAll(BLOCK)) {
    const { comment = '', text = '' } = match.groups ?? {};
    const lines: string[] = [];
    for (const command of text.match(/^\$ .*/gm) ?? []) {
      const keys = /keys: ([^;]*)/.exec(comment)?.[1];
      const typed = /text: (.*)/.exec(comment)?.[1] ?? '';
      const tty = { stdin: true, stderr: true, columns: 100 };
      const { stdout, stderr } = await service.run(command.split(' ').slice(2), {
        cwd: folder,
        env: { HOME: folder, NO_COLOR: '1', RESTAURANT_MAX_AGE: undefined },
        ...(keys === undefined ? {} : { tty, answers: { keys, text: [typed, ''] } }),
      });
      lines.push(`${command}\n${(stdout + stderr).replaceAll(/ +$/gm, '')}`);
    }
    const shown = lines.join('\n');
    const start = match.index + match[0].length - text.length - 3;
    parts.push(page.slice(end, start), shown);
    end = start + text.length;
  }
  expect(existsSync(join(folder, 'found.xlsx'))).toBe(true);
  const whole = [...parts, page.slice(end)].join('');
  if (process.env.UPDATE_DOCS === '1') writeFileSync(PAGE, whole);
  else expect(page).toBe(whole);
});

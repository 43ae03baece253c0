import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { run } from '../../../src/run.ts';
import { shell, startRestaurant } from '../../helpers/process.ts';
import { contextOf, newHome, runCli } from '../../helpers/program.ts';
import { resetFolder, splitWords } from '../../helpers/runs.ts';
import { PAID, useService } from '../../helpers/service.ts';
import { textRow, workbookParts, zip } from '../../helpers/workbook.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const service = useService();
const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

const pages = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const commandsOf = (page: string): string[] =>
  [...read(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'));

/** Pages whose examples have their own tests. */
const TESTED_ELSEWHERE: readonly string[] = ['docs/library.md', 'docs/performance.md', 'docs/walkthrough.md'];

/** Creates a folder with the files that the commands read, and an empty home. */
function workplace() {
  const { home, env } = newHome();
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  resetFolder(cwd);
  writeFileSync(join(cwd, 'venues.csv'), 'Venue,Seats,Lat,Lon\nBlue Door,40,51.5,-0.1\n');
  const rows = textRow('Name', 'City') + textRow('Nopa', 'San Francisco');
  writeFileSync(join(cwd, 'customers.xlsx'), zip(workbookParts({ Customers: rows })));
  return { cwd, env: { ...service.env, ...env } };
}

/** Returns the arguments of a line that only runs this program; undefined if it needs a shell. */
function plainWords(line: string): string[] | undefined {
  if (!line.startsWith('restaurant ') || /[|<>&;$`\\*~]/.test(line)) return undefined;
  return splitWords(line);
}

/** Lines that already ran in a separate process. */
const ran = new Set<string>();

/** Runs a line; in this process if it needs no shell, since that is cheaper. */
async function outcomeOf(line: string, options: ReturnType<typeof workplace>) {
  // A server runs until it is stopped; the port may be in use.
  if (line.startsWith('restaurant sandbox')) {
    const words = plainWords(line.replace('--port 4010', '--port 0')) ?? [];
    const running = startRestaurant(words, options);
    await running.printed('http://127.0.0.1');
    running.process.kill('SIGINT');
    const { exit, stderr } = await running.ended;
    return { exit: exit === 130 ? 0 : exit, stderr };
  }
  // No one can type the key, and the service does not exist.
  const login = line.startsWith('restaurant login');
  // No one can view the page.
  const shows = line.includes(' --open');
  const words = plainWords(login ? `${line} --key-stdin --no-verify` : shows ? `${line} --no-input` : line);
  if (words !== undefined) return runCli(words, { ...options, ...(login ? { stdin: PAID } : {}) });
  return shell(withoutFzf(line), options);
}

/** No one can choose: fzf is replaced by a loop that runs its preview for every line. */
const withoutFzf = (line: string): string =>
  line.replace(
    /fzf .*--preview '(.*)'$/,
    (_, preview: string) =>
      `while read -r id rest; do ${preview.replace('{1}', '"$id"')} < /dev/null || exit 1; done`,
  );

/** Returns what a command prints in a terminal of 80 columns, without colors. */
async function screenOf(
  line: string,
  now: number,
  { cwd, env }: ReturnType<typeof workplace>,
): Promise<string> {
  let text = '';
  const screen = {
    get stdout() {
      return text;
    },
    set stdout(all) {
      text = all;
    },
    get stderr() {
      return text;
    },
    set stderr(all) {
      text = all;
    },
  };
  const tty = { stdout: true, stderr: true, columns: 80 };
  await run(
    splitWords(line),
    contextOf({ cwd, env: { ...env, NO_COLOR: '1' }, tty, now: () => now }, screen),
  );
  return text;
}

describe.each(['README.md', ...pages])('%s', (page) => {
  // The scripts of the package run outside of this test, and in CI on a clean clone.
  const commands = commandsOf(page).filter((line) => !line.startsWith('npm '));

  // In order, since a lookup by row number refers to an earlier search.
  it('has only commands that run', async () => {
    const place = workplace();
    if (!TESTED_ELSEWHERE.includes(page)) expect(commands).not.toEqual([]);
    for (const line of commands) {
      // A process is slow to start: the same line is not run again for another page.
      if (plainWords(line) === undefined || line.startsWith('restaurant sandbox')) {
        if (ran.has(line)) continue;
        ran.add(line);
      }
      const outcome = await outcomeOf(line, place);
      expect({ line, ...outcome }).toMatchObject({ line, exit: 0 });
    }
  });

  it('has only working links', () => {
    const targets = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)(#[^)]*)?\)/g)];
    for (const [, target = ''] of targets) {
      expect(() => readFileSync(join(ROOT, page, '..', target))).not.toThrow();
    }
    const { scripts } = JSON.parse(read('package.json'));
    const named = [...read(page).matchAll(/npm run ([a-z:]+)/g)].map(([, name]) => name);
    expect(Object.keys(scripts)).toEqual(expect.arrayContaining(named));
  });
});

describe('README', () => {
  it('starts with the commands that run the demo and the tests', () => {
    expect(commandsOf('README.md').slice(0, 2)).toEqual(['npm ci && npm run demo', 'npm ci && npm test']);
  });

  it('shows what its commands print in a terminal of 80 columns', async () => {
    const place = workplace();
    const blocks = read('README.md').matchAll(/^```console\n\$ (restaurant [^\n]+)\n([\s\S]*?)^```$/gm);
    const shown = [...blocks].map(([, line = '', printed = '']) => ({ line, printed }));
    expect(shown.map(({ line }) => line)).toContain('restaurant find Nopa --city SF --demo');
    // Somebody who reads takes twenty seconds between two commands.
    const start = Date.now();
    for (const [index, { line, printed }] of shown.entries()) {
      const actual = await screenOf(line, start + index * 20_000, place);
      expect({ line, printed: actual }).toEqual({ line, printed });
    }
  });

  it('links to every page', () => {
    const readme = read('README.md');
    expect(pages.filter((page) => !readme.includes(`](${page})`))).toEqual([]);
  });
});

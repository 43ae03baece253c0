import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { baseEnv, shell, startRestaurant } from '../../helpers/process.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { resetFolder } from '../../helpers/runs.ts';
import { PAID, useService } from '../../helpers/service.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const service = useService();
const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

const pages = readdirSync(join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const commandsOf = (page: string): string[] =>
  [...read(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'));

interface Place {
  readonly cwd: string;
  readonly env: Record<string, string | undefined>;
}

/** A folder with the files that the commands read, and a home where nothing happened before. */
function workplace(): Place {
  const { home, env } = newHome();
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  resetFolder(cwd);
  writeFileSync(join(cwd, 'venues.csv'), 'Venue,Seats\nBlue Door,40\n');
  return { cwd, env: { ...service.env, ...env } };
}

/** The words of a command line of this program alone; undefined where a shell has more to do. */
function plainWords(line: string): string[] | undefined {
  if (!line.startsWith('restaurant ') || /[|<>&;$`\\*~]/.test(line)) return undefined;
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? [];
  return words.slice(1).map((word) => word.replaceAll(/["']/g, ''));
}

/** Lines that had a process of their own. */
const ran = new Set<string>();

/** Runs a line as it stands; in this process where no shell is needed, since that is cheap. */
async function outcomeOf(
  line: string,
  { cwd, env }: Place,
): Promise<{ exit: number | null; stderr: string }> {
  // A server runs until it is stopped; the port may be taken.
  if (line.startsWith('restaurant sandbox')) {
    const words = plainWords(line.replace('--port 4010', '--port 0')) ?? [];
    const running = startRestaurant(words, { cwd, env });
    await running.printed('http://127.0.0.1');
    running.process.kill('SIGINT');
    const { exit, stderr } = await running.ended;
    return { exit: exit === 130 ? 0 : exit, stderr };
  }
  // There is nobody to type the key, and no such service.
  const login = line.startsWith('restaurant login');
  // Nor anybody who would look at a page.
  const shows = line.includes(' --open');
  const words = plainWords(login ? `${line} --key-stdin --no-verify` : shows ? `${line} --no-input` : line);
  if (words !== undefined) return runCli(words, { cwd, env, ...(login ? { stdin: PAID } : {}) });
  return shell(line, { cwd, env: { ...baseEnv(), ...env } });
}

describe.each(['README.md', ...pages])('%s', (page) => {
  // The package's own scripts are run by whoever runs this, and by CI on a clean clone.
  const commands = commandsOf(page).filter((line) => !line.startsWith('npm '));

  // In order, since a lookup by row number follows a search.
  it('is true: every command runs', async () => {
    const place = workplace();
    // The examples of the library have a test of their own.
    if (page !== 'docs/library.md') expect(commands).not.toEqual([]);
    for (const line of commands) {
      // A process is dear: the same line is not run again for another page.
      if (plainWords(line) === undefined || line.startsWith('restaurant sandbox')) {
        if (ran.has(line)) continue;
        ran.add(line);
      }
      const outcome = await outcomeOf(line, place);
      expect({ line, ...outcome }).toMatchObject({ line, exit: 0 });
    }
  }, 60_000);

  it('leads to what exists', () => {
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
  it('begins with trying it and testing it', () => {
    expect(commandsOf('README.md').slice(0, 2)).toEqual(['npm ci && npm run demo', 'npm ci && npm test']);
  });

  it('leads to every page', () => {
    const readme = read('README.md');
    expect(pages.filter((page) => !readme.includes(`](${page})`))).toEqual([]);
  });
});

// Draws docs/*.svg: the output of the built program in a terminal, with sample data. With --check, fails if a picture is out
// of date.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { generate, path } from './project.js';
import { svg } from './svg.js';

const home = mkdtempSync(join(tmpdir(), 'restaurant-pictures-'));
// CI disables the spinner, so that a slow response does not change the output.
const env = { HOME: home, PATH: process.env.PATH, LANG: 'C.UTF-8', TERM: 'xterm', CI: 'true' };
const COLUMNS = 100;

const PICTURES = {
  demo: {
    title: 'restaurant find and restaurant lookup: search restaurants, then show the first one as a card',
    commands: ['find Nopa --city SF --demo', 'lookup 1 --demo'],
  },
  find: {
    title: 'restaurant find: a numbered table of restaurants',
    commands: ['find "a" --city Tokyo --demo', 'find "Nopa" --city SF --demo'],
  },
  lookup: {
    title: 'restaurant lookup: the details of one restaurant, as a card',
    commands: ['lookup 1 --fields standard --demo'],
  },
  compare: {
    title: 'restaurant lookup with several ids: restaurants side by side',
    commands: ['lookup 1 2 3 --fields standard --demo'],
  },
  enrich: {
    title: 'restaurant enrich: the summary of a finished list',
    commands: ['enrich places.csv -o enriched.csv --demo'],
  },
  error: {
    title: 'Errors of restaurant: what is wrong, and a command that helps',
    commands: ['fnd "Nopa" --city SF', 'lookup 9 --demo'],
  },
};

const SHELL = `restaurant() { '${process.execPath}' '${path('bin/restaurant.js')}' "$@"; }\n`;

/** Writes a list to enrich: restaurants of two cities, and one that does not exist. */
const PLACES = `${SHELL}
places() { restaurant find a --city "$1" --demo --columns name,city --format csv; }
{ places 'San Francisco'; places London | tail -n +2; echo 'Chez Nobody,Paris'; } > places.csv`;

/** Printed after the last output, which may arrive after the event of the shell's exit. */
const END = '\u001b]end\u0007';

/** Runs command lines in a terminal. @returns the lines on its screen */
async function session(commands) {
  const typed = commands.map(
    (words) =>
      `printf '\\033[2m$\\033[22m \\033[1mrestaurant %s\\033[22m\\n' '${words}'; restaurant ${words}`,
  );
  const script = `${SHELL}${typed.join('; echo; ')}; printf '${END}'`;
  const terminal = spawn('sh', ['-c', script], { cols: COLUMNS, rows: 100, cwd: home, env });
  let output = '';
  await new Promise((resolve) => {
    terminal.onData((part) => {
      output += part;
      if (output.endsWith(END)) resolve();
    });
  });
  const text = output.slice(0, -END.length).trimEnd();
  // The age of the last search depends on the speed of the machine.
  return text.replaceAll(/\b\d+s ago\b/g, '1s ago').split('\r\n');
}

try {
  execFileSync('sh', ['-c', PLACES], { cwd: home, env });
  for (const [name, { title, commands }] of Object.entries(PICTURES))
    generate(`docs/${name}.svg`, svg({ title, lines: await session(commands), columns: COLUMNS }));
} finally {
  rmSync(home, { recursive: true, force: true });
}

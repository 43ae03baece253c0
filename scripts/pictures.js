// Draws docs/*.svg: the output of the built program in a terminal, with sample data. With --check, fails if a picture is out
// of date.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from '@lydell/node-pty';
import { svg } from './svg.js';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
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

/** A list to enrich: restaurants of two cities, and one that does not exist. */
function places() {
  const rows = ['San Francisco', 'London'].flatMap((city) => {
    const words = ['find', 'a', '--city', city, '--demo', '--columns', 'name,city', '--format', 'csv'];
    const text = execFileSync(process.execPath, [path('bin/restaurant.js'), ...words], {
      env,
      encoding: 'utf8',
    });
    return text.trim().split('\n').slice(1);
  });
  return ['name,city', ...rows, 'Chez Nobody,Paris', ''].join('\n');
}

/** Printed after the last output of a command, which may arrive after the event of its exit. */
const END = '\u001b]end\u0007';

/** Returns the lines that a command prints on the screen. */
function screen(command) {
  const words = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
  const script = ['-c', `"$@"; printf '${END}'`, 'sh', process.execPath, path('bin/restaurant.js'), ...words];
  const terminal = spawn('sh', script, { cols: COLUMNS, rows: 100, cwd: home, env });
  return new Promise((resolve) => {
    let output = '';
    terminal.onData((part) => {
      output += part;
      if (!output.endsWith(END)) return;
      // The age of the last search depends on the speed of the machine.
      const text = output.slice(0, -END.length).trimEnd();
      resolve(text.replaceAll(/\b\d+s ago\b/g, '1s ago').split('\r\n'));
    });
  });
}

/** Runs command lines in one session. @returns each as typed, with its output */
async function session(commands) {
  const lines = [];
  for (const command of commands) {
    if (lines.length > 0) lines.push('');
    lines.push(`\u001b[2m$\u001b[22m \u001b[1mrestaurant ${command}\u001b[22m`, ...(await screen(command)));
  }
  return lines;
}

try {
  writeFileSync(join(home, 'places.csv'), places());
  for (const [name, { title, commands }] of Object.entries(PICTURES)) {
    const picture = svg({ title, lines: await session(commands), columns: COLUMNS });
    const file = path(`docs/${name}.svg`);
    if (!process.argv.includes('--check')) writeFileSync(file, picture);
    else if (readFileSync(file, 'utf8') !== picture) {
      process.stderr.write(`docs/${name}.svg does not show what the program shows: npm run pictures\n`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}

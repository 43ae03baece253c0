// Draws docs/*.svg: the output of the built program in a terminal, with data of the sandbox. With --check, fails if a picture
// is out of date.
import { execFileSync, spawn as spawnProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { spawn } from '@lydell/node-pty';
import { rolldown } from 'rolldown';
import { PROMPT, svg } from './svg.js';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'restaurant-pictures-'));
// CI disables the spinner, so that a slow response does not change the output.
const env = { HOME: home, PATH: process.env.PATH, LANG: 'C.UTF-8', TERM: 'xterm', CI: 'true' };

/** A list to enrich: restaurants of two cities, and one that does not exist. */
function places() {
  const found = ['San Francisco', 'London'].map((city) => {
    const words = ['find', 'a', '--city', city, '--demo', '--columns', 'name,city', '--format', 'csv'];
    return execFileSync(process.execPath, [path('bin/restaurant.js'), ...words], { env, encoding: 'utf8' });
  });
  const rows = found.flatMap((text) => text.trim().split('\n').slice(1));
  return ['name,city', ...rows, 'Chez Nobody,Paris', ''].join('\n');
}

/** Returns the lines that a command prints on the screen. */
function screen(words, columns, variables) {
  return new Promise((resolve, reject) => {
    const pty = spawn(process.execPath, [path('bin/restaurant.js'), ...words], {
      cols: columns,
      rows: 100,
      cwd: home,
      env: { ...env, ...variables },
    });
    let output = '';
    pty.onData((text) => {
      output += text;
    });
    pty.onExit(() =>
      // The last output may arrive after the exit event.
      setTimeout(() => {
        // The age of the last search depends on the speed of the machine.
        const lines = output
          .trimEnd()
          .replaceAll(/\b\d+s ago\b/g, '1s ago')
          .split('\r\n');
        if (output === '') reject(new Error(`${words.join(' ')} shows nothing`));
        else resolve(lines);
      }, 100),
    );
  });
}

/** Starts a sandbox. The variables of its address and key make `--demo` unnecessary in the pictures. */
async function startSandbox() {
  const server = spawnProcess(process.execPath, [path('bin/restaurant.js'), 'sandbox', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const url of createInterface({ input: server.stdout })) {
    const variables = { RESTAURANT_BASE_URL: url, RESTAURANT_API_KEY: 'sk_service_demo_free' };
    const ended = once(server, 'exit');
    const stop = async () => {
      server.kill();
      await ended;
    };
    return { variables, stop };
  }
  throw new Error('the sandbox did not start');
}

/** Runs command lines in one session. @returns each as typed, with its output */
async function session(commands, columns, variables) {
  const parts = [];
  for (const command of commands) {
    const words = (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
    const lines = await screen(words, columns, variables);
    parts.push([`${PROMPT}\u001b[1mrestaurant ${command}\u001b[22m`, ...lines]);
  }
  return parts.flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

/**
 * Returns the progress bar in the middle of the run that has this summary, drawn by the program's own code with a fixed
 * clock.
 */
async function bar(summary) {
  const [total, matched, ambiguous] = (summary.match(/\d+(?= rows| matched| ambiguous)/g) ?? []).map(Number);
  const half = (count) => Math.floor(count / 2);
  const outfile = join(home, 'bar.mjs');
  const bundle = await rolldown({
    cwd: path(''),
    input: 'bar',
    platform: 'node',
    plugins: [
      {
        name: 'bar',
        resolveId: (id) => (id === 'bar' ? path('src/bar.ts') : null),
        load: (id) => (id === path('src/bar.ts') ? BAR_SOURCE : null),
      },
    ],
    resolve: { mainFields: ['module', 'main'] },
  });
  await bundle.write({ format: 'esm', file: outfile, codeSplitting: false });
  await bundle.close();
  const { barProgress, palette } = await import(pathToFileURL(outfile).href);
  let time = 0;
  let shown = '';
  let drawn = () => {};
  const done = new Promise((resolve) => {
    drawn = resolve;
  });
  const facts = {
    total,
    counts: () => ({
      matched: half(matched),
      ambiguous: half(ambiguous),
      not_found: 0,
      error: 0,
      done: half(matched) + half(ambiguous),
      earlier: 0,
      likely: 0,
      skipped: 0,
    }),
    leftToday: () => undefined,
    requests: () => half(total),
    perMinute: 100,
  };
  const context = {
    now: () => time,
    stderr: { columns: COLUMNS },
    sleep: async () => {
      if (shown !== '') return new Promise(() => {});
      time += 9000;
    },
  };
  barProgress(
    context,
    async (text) => {
      shown += text;
      drawn();
    },
    facts,
    palette(1),
  );
  await done;
  return shown.replaceAll('\r', '').trimEnd();
}

const BAR_SOURCE = `export { barProgress } from './enrich/progress/progress.ts'; export { palette } from './output/color.ts';`;
const COLUMNS = 100;
const pictures = {
  demo: {
    title: 'restaurant find and restaurant lookup: search restaurants, then show the first one as a card',
    commands: ['find Nopa --city SF', 'lookup 1'],
    animated: true,
  },
  find: {
    title: 'restaurant find: a numbered table of restaurants',
    commands: ['find "a" --city Tokyo --demo', 'find "Nopa" --city SF --demo'],
  },
  lookup: {
    title: 'restaurant lookup: all that is known of one restaurant, as a card',
    commands: ['lookup 1 --fields standard --demo'],
  },
  compare: {
    title: 'restaurant lookup with several ids: restaurants side by side',
    commands: ['lookup 1 2 3 --fields standard --demo'],
  },
  enrich: {
    title: 'restaurant enrich: progress while a long list is worked on, and the summary at its end',
    commands: ['enrich places.csv -o enriched.csv --demo'],
    before: bar,
  },
  error: {
    title: 'Errors of restaurant: what is wrong, and a command that helps',
    commands: ['fnd "Nopa" --city SF', 'lookup 9 --demo'],
  },
};

const check = process.argv.includes('--check');
const sandbox = await startSandbox();
try {
  writeFileSync(join(home, 'places.csv'), places());
  mkdirSync(path('docs'), { recursive: true });
  for (const [name, { title, commands, before, animated }] of Object.entries(pictures)) {
    const lines = await session(commands, COLUMNS, animated ? sandbox.variables : {});
    if (before !== undefined) lines.splice(1, 0, await before(lines[1]));
    const picture = svg({ title, lines, columns: COLUMNS, animated });
    const file = path(`docs/${name}.svg`);
    if (!check) writeFileSync(file, picture);
    else if (readFileSync(file, 'utf8') !== picture) {
      process.stderr.write(`docs/${name}.svg does not show what the program shows: npm run pictures\n`);
      process.exitCode = 1;
    }
  }
} finally {
  await sandbox.stop();
  rmSync(home, { recursive: true, force: true });
}

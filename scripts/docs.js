// Generates documents from the command tree: parts of README.md and docs/, the manual page, and the skill. With --check,
// fails if one is out of date. Builds first, so that it never describes an old build.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { argumentTerm, everyCommand, manual } from './man.js';
import { completeTree } from './tree.js';
import './build.js';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const restaurant = (...words) =>
  execFileSync(process.execPath, [path('bin/restaurant.js'), ...words], { encoding: 'utf8' });

const cell = (text) => (text.startsWith('`') ? text : text.replaceAll('<', '&lt;')).replaceAll('|', '\\|');
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

const commandTable = (commands) =>
  table(
    ['command', 'purpose'],
    everyCommand(commands).map(({ name, summary, arguments: args }) => [
      `\`${[name, ...args.map(argumentTerm)].join(' ')}\``,
      summary,
    ]),
  );

function optionTable(options) {
  const rows = options
    .filter(({ name }) => name !== '--version')
    .map(({ flags, description, environment }) => [
      `\`${flags}\``,
      description,
      environment === undefined ? '' : `\`${environment}\``,
    ]);
  return table(['option', 'meaning', 'variable'], rows);
}

function exitTable(kinds) {
  const rows = kinds.map(({ exit, codes, meaning: about }) => [
    exit === 130 ? '130, 143' : String(exit),
    codes.map(({ code }) => `\`${code}\``).join(', '),
    about ?? codes.map(({ meaning }) => meaning).join('; '),
  ]);
  return table(['exit', '`code` in JSON', 'meaning'], rows);
}

const schema = (...words) => JSON.parse(restaurant('schema', ...words));
const tree = await completeTree(schema(), (words) => schema(...words));
const parts = {
  commands: commandTable(tree.commands),
  options: optionTable(tree.options),
  exits: exitTable(tree.exit_codes),
};

const placed = new Set();

/** Returns a page with its generated parts filled in. */
function filled(page) {
  return Object.entries(parts).reduce(
    (text, [name, part]) => {
      const place = new RegExp(`(<!-- ${name} -->\\n)[\\s\\S]*?(<!-- /${name} -->)`);
      if (place.test(text)) placed.add(name);
      return text.replace(place, (_all, start, end) => `${start}${part}\n${end}`);
    },
    readFileSync(path(page), 'utf8'),
  );
}

const { description } = JSON.parse(readFileSync(path('package.json'), 'utf8'));
const tasks = readdirSync(path('docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', ...tasks.map((name) => `docs/${name}`)];
const skill = restaurant('skill', 'print');
const documents = {
  ...Object.fromEntries(pages.map((page) => [page, filled(page)])),
  'man/restaurant.1': manual(tree, description),
  'skills/restaurant/SKILL.md': skill,
  'plugin/skills/restaurant/SKILL.md': skill,
};
const missing = Object.keys(parts).filter((name) => !placed.has(name));
if (missing.length > 0) throw new Error(`no page has a place for ${missing.join(', ')}`);

for (const [name, text] of Object.entries(documents)) {
  if (existsSync(path(name)) && readFileSync(path(name), 'utf8') === text) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${name} is out of date: npm run fix\n`);
    process.exitCode = 1;
    continue;
  }
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
}

// Writes the generated parts of README.md from the program's own command tree; with --check says whether they are true.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const path = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
const restaurant = (...words) =>
  execFileSync(process.execPath, [path('bin/restaurant.js'), ...words], { encoding: 'utf8' });

const cell = (text) => (text.startsWith('`') ? text : text.replaceAll('<', '&lt;')).replaceAll('|', '\\|');
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

function commandTable(commands) {
  const row = ({ name, summary, arguments: args }) => [
    `\`${[name, ...args.map(argumentTerm)].join(' ')}\``,
    summary,
  ];
  // A group of commands that does nothing by itself obeys no options.
  const rows = commands.flatMap((command) => [
    ...(command.commands === undefined || command.global_options.length > 0 ? [row(command)] : []),
    ...(command.commands ?? []).map(row),
  ]);
  return table(['command', 'what it does'], rows);
}

function argumentTerm({ name, required, variadic }) {
  const term = `${name}${variadic ? '...' : ''}`;
  return required ? `<${term}>` : `[${term}]`;
}

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
  const rows = kinds.map(({ exit, codes }) => [
    exit === 130 ? '130, 143' : String(exit),
    codes.map(({ code }) => `\`${code}\``).join(', '),
    codes.map(({ meaning }) => meaning).join('; '),
  ]);
  return table(
    ['exit', '`code` in JSON', 'meaning'],
    [['0', '', 'success; nothing found is a success too'], ...rows],
  );
}

const tree = JSON.parse(restaurant('schema'));
const parts = {
  commands: commandTable(tree.commands),
  options: optionTable(tree.options),
  exits: exitTable(tree.exit_codes),
};

const before = readFileSync(path('README.md'), 'utf8');
const after = Object.entries(parts).reduce((text, [name, part]) => {
  const place = new RegExp(`(<!-- ${name} -->\n)[\\s\\S]*?(<!-- /${name} -->)`);
  if (!place.test(text)) throw new Error(`README.md has no place for ${name}`);
  return text.replace(place, (_all, start, end) => `${start}${part}\n${end}`);
}, before);

if (!process.argv.includes('--check')) writeFileSync(path('README.md'), after);
else if (before !== after) {
  process.stderr.write('README.md does not say what the program does: npm run fix\n');
  process.exitCode = 1;
}

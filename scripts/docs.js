// Generates documents from the command tree: parts of README.md and docs/, the manual page, and the skill. With --check,
// fails if one is out of date. Builds first, so that it never describes an old build.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { manual } from './man.js';
import { generate, manifest, path, read } from './project.js';
import { argumentTerm, completeTree, everyCommand } from './tree.js';
import './build.js';

const restaurant = (...words) =>
  execFileSync(process.execPath, [path('bin/restaurant.js'), ...words], { encoding: 'utf8' });

const code = (text) => `\`${text}\``;
const cell = (text) => (text.startsWith('`') ? text : text.replaceAll('<', '&lt;')).replaceAll('|', '\\|');
const table = (head, rows) =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |\n`).join('');

const schema = (...words) => JSON.parse(restaurant('schema', ...words));
const tree = await completeTree(schema(), (words) => schema(...words));

const commands = everyCommand(tree.commands).map(({ name, summary, arguments: args }) => [
  code([name, ...args.map(argumentTerm)].join(' ')),
  summary,
]);
const options = tree.options
  .filter(({ name }) => name !== '--version')
  .map(({ flags, description, environment }) => [
    code(flags),
    description,
    environment === undefined ? '' : code(environment),
  ]);
const exits = tree.exit_codes.map(({ exit, codes, meaning: success }) => [
  exit === 130 ? '130, 143' : String(exit),
  codes.map((each) => code(each.code)).join(', '),
  success ?? codes.map(({ meaning }) => meaning).join('; '),
]);
/** Parts of pages, each between the comments `name` and `/name`. */
const parts = new Map([
  ['commands', table(['command', 'purpose'], commands)],
  ['options', table(['option', 'meaning', 'variable'], options)],
  ['exits', table(['exit', '`code` in JSON', 'meaning'], exits)],
]);

const guides = readdirSync(path('docs')).filter((name) => name.endsWith('.md'));
for (const page of ['README.md', ...guides.map((name) => `docs/${name}`)]) {
  const filled = read(page).replace(/(<!-- (\w+) -->\n)[\s\S]*?(?=<!-- \/\2 -->)/g, (_all, start, name) => {
    const part = parts.get(name);
    parts.delete(name);
    return start + part;
  });
  generate(page, filled);
}
if (parts.size > 0) throw new Error(`no page has a place for ${[...parts.keys()].join(', ')}`);

generate('man/restaurant.1', manual(tree, manifest.description));
for (const folder of ['skills', 'plugin/skills'])
  generate(`${folder}/restaurant/SKILL.md`, restaurant('skill', 'print'));

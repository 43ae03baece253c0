// The manual page, man/restaurant.1, from the program's own command tree: roff with the man macros (groff_man(7)).

const SPECIAL = {
  '\\': '\\e',
  '-': '\\-',
  "'": '\\(aq',
  '`': '\\(ga',
  '^': '\\(ha',
  '~': '\\(ti',
  '"': '\\(dq',
};

const hex = (char) => char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

/** Text as roff prints it, whatever is in it; a dot at the start of a line is no request. */
const plain = (text) =>
  text
    .replace(/[\\\-'`^~"]/g, (char) => SPECIAL[char])
    .replace(/[^\n -~]/gu, (char) => `\\[u${hex(char)}]`)
    .replace(/^(?=\.)/gm, '\\&');

const bold = (text) => `\\fB${plain(text)}\\fR`;
const section = (title, ...lines) => [`.SH "${plain(title)}"`, ...lines];
const entry = (term, text) => ['.TP', bold(term), plain(text)];
const asTyped = (lines) => ['.PP', '.nf', ...lines.map((line) => plain(line)), '.fi'];

/** Paragraphs; one that is indented keeps its lines. */
const paragraphs = (text) =>
  text
    .split(/\n{2,}/)
    .flatMap((part) =>
      part.startsWith('  ') ? asTyped(part.split('\n')) : ['.PP', plain(part.replaceAll('\n', ' '))],
    );

/** A command line that fits into 80 columns, continued the way a shell takes it. */
function folded(line) {
  const words = line.match(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g) ?? [];
  const lines = [''];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== '' && last.length + word.length > 64) lines.push(`  ${word}`);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.map((each, index) => (index < lines.length - 1 ? `${each} \\` : each));
}

const argumentTerm = ({ name, required, variadic }) => {
  const term = `${name}${variadic ? '...' : ''}`;
  return required ? `<${term}>` : `[${term}]`;
};

const everyCommand = (commands) =>
  commands.flatMap((command) => [
    ...(command.commands === undefined || command.global_options.length > 0 ? [command] : []),
    ...everyCommand(command.commands ?? []),
  ]);

function commandPart({ name, summary, arguments: args, options, global_options: shared, details = '' }) {
  const also = shared.length === 0 ? [] : ['.PP', `Obeys also ${shared.map(bold).join(', ')}.`];
  return [
    `.SS "${plain(['restaurant', name, ...args.map(argumentTerm)].join(' '))}"`,
    plain(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`),
    ...args.flatMap((argument) => entry(argumentTerm(argument), argument.description)),
    ...options.flatMap(({ flags, description }) => entry(flags, description)),
    ...(details === '' ? [] : paragraphs(details)),
    ...also,
  ];
}

const FILES = [
  ['~/.config/restaurant/config.json', 'settings and saved keys, for you alone to read'],
  [
    '~/.local/state/restaurant',
    'the ledger of requests, the rows of the last find, what an endpoint speaks, options that lists were begun with',
  ],
  [
    '~/.cache/restaurant',
    'answers, for ten minutes unless --max-age says otherwise; pages that were shown; compiled code',
  ],
];

/** The page. @param tree what `restaurant schema` prints @param about the package's description */
export function manual(tree, about) {
  const commands = everyCommand(tree.commands);
  const lines = [
    '.\\" Made by scripts/docs.js from the command tree.',
    `.TH RESTAURANT 1 "" "restaurant ${plain(tree.version)}" "User Commands"`,
    '.nh',
    '.ad l',
    ...section('NAME', `restaurant \\- ${plain(about.charAt(0).toLowerCase() + about.slice(1))}`),
    ...section('SYNOPSIS', `${bold('restaurant')} <command> [arguments] [options]`),
    ...section('DESCRIPTION', ...paragraphs(DESCRIPTION)),
    ...section('COMMANDS', ...commands.flatMap(commandPart)),
    ...section(
      'OPTIONS',
      plain('They may stand before or after the command; each command names those that it obeys.'),
      ...tree.options.flatMap(({ flags, description }) => entry(flags, description)),
      ...entry('-h, --help', 'show the help of a command'),
    ),
    ...section('ENVIRONMENT', ...tree.environment.flatMap(({ name, meaning }) => entry(name, meaning))),
    ...section('FILES', ...FILES.flatMap(([path, what]) => entry(path, what))),
    ...section(
      'EXIT STATUS',
      ...tree.exit_codes.flatMap(({ exit, codes }) =>
        entry(
          exit === 130 ? '130, 143' : String(exit),
          exit === 0
            ? 'success; nothing found is a success too'
            : codes.map(({ code, meaning }) => `${code}: ${meaning}`).join('; '),
        ),
      ),
    ),
    ...section('EXAMPLES', ...commands.flatMap(({ examples }) => asTyped(examples.flatMap(folded)))),
    ...section('SEE ALSO', plain('curl(1), jq(1); restaurant help <command>; restaurant schema')),
  ];
  return `${lines.join('\n')}\n`;
}

const DESCRIPTION = `restaurant searches restaurants and reads their details from a restaurant data service that speaks JSON-RPC 2.0 in the style of MCP. It prints tables on a terminal, tab-separated lines in a pipe, and JSON with --json. Data goes to stdout, everything else to stderr.

restaurant login saves the address of the service and the API key; the variables below do the same for scripts. The commands that call the service work without a key, on sample data, with --demo.`;

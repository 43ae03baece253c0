import { CODES, EXIT_CODES } from '../errors.ts';
import { OTHER_VARIABLES, SETTING_NAMES, SETTINGS, type Setting } from '../settings/catalogue.ts';

/** Two columns, the second one wrapped. */
function aligned(rows: readonly (readonly [string, string])[], width: number): string {
  const indent = 2;
  const widest = Math.max(...rows.map(([term]) => term.length));
  const left = Math.min(widest, 28, width >> 1);
  return rows
    .map(([term, text]) => {
      const room = width - indent - left - 2;
      const lines = wrapped(text, room);
      const head = `${' '.repeat(indent)}${term.padEnd(left)}  `;
      const rest = ' '.repeat(indent + left + 2);
      const start =
        term.length > left ? [`${' '.repeat(indent)}${term}`, `${rest}${lines[0]}`] : [`${head}${lines[0]}`];
      return [...start, ...lines.slice(1).map((line) => rest + line)].join('\n').trimEnd();
    })
    .join('\n');
}

function wrapped(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

function environment(width: number): string {
  const settings = SETTING_NAMES.map((name) => {
    const setting: Setting<unknown> = SETTINGS[name];
    const shown = setting.defaultText ?? setting.default;
    const text = shown === undefined ? setting.description : `${setting.description} (default ${shown})`;
    return [setting.env, text] as const;
  });
  return [
    ...wrapped(
      'Environment variables. An option overrides them; they override the config file. An empty variable counts as unset.',
      width,
    ),
    '',
    aligned(settings, width),
    '',
    aligned(OTHER_VARIABLES, width),
    '',
    ...wrapped('restaurant status shows each setting and its source.', width),
    '',
  ].join('\n');
}

function exitCodes(width: number): string {
  const rows = Object.entries(EXIT_CODES).flatMap(([kind, exit]) => {
    const codes = Object.entries(CODES).filter(([, entry]) => entry.kind === kind);
    const shown = kind === 'interrupted' ? `${exit}, 143` : String(exit);
    return codes.map(([code, { meaning }], index) => [index === 0 ? shown : '', code, meaning] as const);
  });
  const all = [['0', '', 'success, also when nothing was found'], ...rows] as const;
  const lines = all.map(([exit, code, meaning]) => {
    const [start = '', ...rest] = wrapped(meaning, width - 26);
    const more = rest.map((line) => `\n${' '.repeat(26)}${line}`).join('');
    return `  ${exit.padEnd(9)}${code.padEnd(15)}${start}${more}`;
  });
  return [
    ...wrapped('Exit codes, and the code strings of JSON errors.', width),
    '',
    ...lines,
    '',
    ...wrapped('With --json, an error is one line on stderr:', width),
    '  {"error":{"code":"no_key","message":"…","hint":"…","retryable":false}}',
    ...wrapped('plus, when known: status, retry_after (s), restaurant_id, rpc_code, request_id.', width),
    '',
  ].join('\n');
}

function formats(width: number): string {
  const rows: [string, string][] = [
    ['table', 'for a terminal: fits its width; the default there'],
    ['tsv', 'one record a line, tab-separated, no header, nothing cut; the default in a pipe'],
    ['json', 'one document, as the service gave it; pretty on a terminal'],
    ['ndjson', 'one JSON record a line, each as soon as it is there'],
    [
      'csv',
      'RFC 4180 with a header line; arrays joined with "; ", nested keys dotted; cells that a spreadsheet would run begin with \' (--raw-csv leaves them)',
    ],
    ['geojson', 'RFC 7946: a FeatureCollection of Points, for a map'],
    ['html', 'find, lookup: one page with a list and a map, which needs nothing beside it; --open shows it'],
  ];
  return [
    ...wrapped('Output formats: --format <format>, or the extension of --output.', width),
    '',
    aligned(rows, width),
    '',
    'Columns of find in tsv and csv, in this order:',
    ...wrapped(
      'service_id, name, grade, cuisine_tags, neighborhood, city, address, lat, lng, coverage_level',
      width - 2,
    ).map((line) => `  ${line}`),
    '',
    '  $ restaurant find "Nopa" --city SF --demo | cut -f 2,3',
    '  $ restaurant find "Nopa" --city SF --demo --json | jq -r ".results[0].name"',
    '  $ restaurant find "Nopa" --city SF --demo --columns name,grade,lat,lng',
    '',
  ].join('\n');
}

/** The help topics that are no commands, laid out for a width. */
export const TOPICS: Readonly<Record<string, (width: number) => string>> = {
  environment,
  'exit-codes': exitCodes,
  formats,
};

import { existsSync } from 'node:fs';
import { cityForHint } from '../../app/city.ts';
import { fullPath, otherName } from '../../app/output-file.ts';
import { seenResults } from '../../app/seen-results.ts';
import { EXTENSIONS } from '../../output/formats.ts';
import { isSameName } from '../../util/fold.ts';
import type { JsonObject } from '../../util/json.ts';
import { nearest } from '../../util/nearest.ts';
import { SUMMARY_COLUMNS } from '../../util/restaurant.ts';
import { strayWords, valueTaker } from '../check.ts';
import type { LineError } from '../command.ts';
import { accepts } from '../options.ts';
import { OPTIONS, ourWords, SUGGESTIONS } from '../words.ts';
import {
  EXAMPLE,
  MEANT,
  type Reading,
  replace,
  replaceOption,
  type SlipRule,
  type SlipRules,
  simple,
  type TriedLine,
  valuesFor,
  WITHOUT,
  when,
} from './reading.ts';

/** `find Nopa --city` */
const missingValue: SlipRule = (long, line) => {
  const { innermost } = line.program;
  const option = innermost.findOption(long);
  const city = long === '--city' ? cityForHint(line.app) : undefined;
  const value = typeof city === 'string' ? city : (valuesFor(innermost, option)[0] ?? option?.example);
  return value === undefined
    ? []
    : [long, option?.short ?? long].map((flag) => replace(line, [flag], [flag, value], EXAMPLE));
};

/** `--fields name,phone`, `--sort gade`, `--limit ten` */
const invalidValue: SlipRule = (text, line) => {
  const { innermost } = line.program;
  const { option, argument = '' } = line.error as LineError;
  const choices = valuesFor(innermost, option, argument);
  const near = nearestChoice(text, choices);
  if (option === undefined) return [when(near, replace(line, [text], [near ?? ''], MEANT))];
  const { long } = option;
  const hasCity = innermost.typed.some((each) => each.option.long === '--city');
  const isPlace = long === '--near' && /\p{L}/u.test(text) && !/^(?:me|here)$/i.test(text);
  const isArea = isPlace && seenResults(line.app).restaurants.some((each) => isNeighborhood(text, each));
  const isColumns = long === '--fields' && text.split(',').some((each) => SUMMARY_COLUMNS.includes(each));
  const areSummary = text.split(',').every((each) => SUMMARY_COLUMNS.includes(each));
  // A row has no phone; only for lookup, because find looks up each result.
  const details = innermost.path === 'lookup' && !areSummary ? ['--fields', 'standard'] : [];
  const value = near ?? choices[0] ?? option.example ?? '';
  return [
    ...inOtherWords(long, text, line),
    when(isArea, replaceOption(line, long, text, ['--neighborhood', text], MEANT)),
    // The city is the last part of a place: `--near 'Union Square, SF'`.
    when(
      isPlace && !hasCity,
      replaceOption(line, long, text, ['--city', text.split(',').at(-1)?.trim() ?? ''], MEANT),
    ),
    when(
      isColumns && accepts(innermost, '--columns'),
      replaceOption(line, long, text, ['--columns', text, ...details], MEANT),
    ),
    when(value, replaceOption(line, long, text, [long, value], near === undefined ? EXAMPLE : MEANT)),
  ];
};

const isNeighborhood = (text: string, { neighborhood }: JsonObject): boolean =>
  typeof neighborhood === 'string' && isSameName(text, neighborhood);

/** `--format jsonl`, `--format yaml`, `--fields phone`: the value of an option is an option of another tool. */
const inOtherWords = (long: string, text: string, line: TriedLine): (Reading | undefined)[] =>
  [OPTIONS, SUGGESTIONS].map((table) => {
    const [ours = ''] = ourWords(table, line.program.innermost.path, simple(text));
    const isValue = ours.startsWith(`${long} `) || (long === '--format' && ours === '--json');
    return when(
      isValue,
      replaceOption(line, long, text, ours.split(' '), table === OPTIONS ? undefined : MEANT),
    );
  });

/** `hnag:0.2` is `hang:0.2`. */
function nearestChoice(text: string, choices: readonly string[]): string | undefined {
  const [kind = '', ...rest] = text.split(':');
  const [near] = nearest(kind, choices, 1);
  return near && [near, ...rest].join(':');
}

/** `config set city=SF`, `find --cuisine italian`, `enrich in.csv out.csv`, `saved nopa` */
const wrongArguments: SlipRule = (word, line) => {
  const { path, args, typed, registeredArguments, isReading } = line.program.innermost;
  const cuisine = typed.find(({ option }) => option.long === '--cuisine')?.text;
  if (path === 'find' && cuisine !== undefined) {
    const { words } = replaceOption(line, '--cuisine', undefined, []);
    return [{ words: [...words, cuisine], offer: 'by name' }];
  }
  const [, name, value] = /^([\w-]+)=(.+)$/s.exec(word) ?? [];
  if (path === 'config set' && name !== undefined && value !== undefined)
    return [replace(line, args, [name, value])];
  const extra = args.slice(registeredArguments.length);
  const [, file = ''] = args;
  const isFile =
    path === 'enrich' && args.length === 2 && typed.every(({ option }) => option.long !== '--output');
  const isNew = isFile && !existsSync(fullPath(line.app.context, file));
  return [
    when(isNew, replace(line, [file], ['-o', file])),
    when(isFile, replace(line, [file], ['-o', otherName(file)], `${file} exists; write another file`)),
    when(isReading && extra.length > 0, replace(line, extra, [], WITHOUT)),
  ];
};

const TEXT_OPTIONS = ['--city', '--cuisine', '--neighborhood', '--note'];

/** `--json name,grade`, `--city San Francisco`, `nopa --limit 5 corner` */
const wordsApart: SlipRule = (word, { words, program }) => {
  const { at = 0, group = [], flag = '', value, end = 0 } = strayWords(program) ?? {};
  const meant = valueTaker(flag, word);
  const before = words[at - 1] ?? '';
  const isReplaced = flag === '--quiet' && [flag, '-q'].includes(before);
  const rest = words.toSpliced(at, group.length);
  if (meant !== undefined)
    return [
      {
        words: words.toSpliced(isReplaced ? at - 1 : at, isReplaced ? 1 : 0, meant),
        offer: meant === '--jq' ? 'to filter with jq' : 'to choose columns',
      },
    ];
  return TEXT_OPTIONS.includes(flag) && value !== undefined
    ? [{ words: rest.with(at - 1, [before, ...group].join(' ')), offer: 'quote a value of several words' }]
    : [{ words: rest.toSpliced(end, 0, ...group), offer: 'keep the name together' }];
};

/** `-o json`, `-o md` */
const formatAsFile: SlipRule = (name, line) => {
  const format = EXTENSIONS.get(name) ?? name;
  return [replaceOption(line, '--output', name, format === 'json' ? ['--json'] : ['--format', format])];
};

export const VALUE_RULES: SlipRules = {
  'commander.optionMissingArgument': missingValue,
  'commander.missingArgument': wrongArguments,
  'commander.excessArguments': wrongArguments,
  stray: wordsApart,
  bareFormat: formatAsFile,
  value: invalidValue,
};

import { nearestOnes } from '../util/nearest.ts';

/** Ours, and the words of other tools that mean the same. */
type Words = Readonly<Record<string, string>>;

/** By the command that they follow; `''` is the program itself, or every command. */
export type WordTable = Readonly<Record<string, Words>>;

/**
 * Other names of commands, with the options that they imply. `auth-login` is `auth login`; ` vs` is between the restaurants
 * that a command takes.
 */
export const VERBS: WordTable = {
  '': {
    find: 'search query find-restaurant suche suchen chercher buscar cerca 検索',
    'lookup vs': 'compare diff',
    lookup:
      'show get view info details describe compare lookup-restaurant look-up menu hours phone address website reviews ' +
      'directions photos prices',
    'lookup --open': 'open map',
    last: 'history recent',
    save: 'add star bookmark favorite favourite fav like',
    saved: 'ls list favorites favourites favs bookmarks starred',
    unsave: 'unstar unlike unfavorite',
    changes: 'diff',
    enrich: 'batch bulk import match',
    tools: 'tool list-tools',
    call: 'run exec invoke call-tool',
    raw: 'request rpc api',
    sandbox: 'server serve mock',
    login: 'signin sign-in setup init auth auth-login',
    logout: 'signout sign-out auth-logout',
    status: 'whoami quota limits usage credits auth-status',
    'status --check': 'doctor check ping test health',
    config: 'settings preferences',
    'config profiles': 'profiles',
    'config set': 'set',
    completion: 'completions autocomplete',
    schema: 'spec',
    'find Nopa --city SF --demo': 'demo',
    '--help': 'commands man docs manual example examples tutorial hilfe aide ayuda',
    '--version': 'version',
  },
  config: { list: 'show ls all', set: 'add', unset: 'rm remove delete' },
  cache: { clear: 'rm remove delete purge empty' },
  mcp: { config: 'install add setup init', '': 'serve start run stdio' },
  help: {
    environment: 'env variables',
    'exit-codes': 'errors codes',
    formats: 'json csv output format columns',
  },
};

/**
 * Other names of commands that do not run at once: what they mean is near, or what they delete is not shown first. `<>`
 * stands for the words after the restaurants.
 */
export const NEAR_VERBS: WordTable = {
  '': {
    unsave: 'rm remove delete del',
    saved: 'export',
    'enrich --dry-run': 'cost estimate',
    'save --note <>': 'note',
    'find --help': 'cities cuisines neighborhoods grades',
    login: 'signup sign-up register key get-key api-key apikey token account password',
    '--version': '-v',
  },
};

const ORDERS = 'sort-by order order-by';

/** Those of the filters that `find`, `last`, and `pick` share. */
const FILTERS: Words = {
  '--neighborhood': 'neighbourhood area district',
  '--cuisine': 'food category type tag cuisines',
  '--limit': 'max max-results count top num',
  '--sort': ORDERS,
};

const SEARCH: Words = {
  ...FILTERS,
  '--city': 'location town place where in ville ciudad stadt',
  '--fields': 'level',
};

/**
 * Options of other tools. A value on our side means that theirs has none; `<>` stands for the argument of the command.
 */
export const OPTIONS: WordTable = {
  '': {
    '--format csv': 'csv',
    '--format tsv': 'tsv',
    '--format ndjson': 'ndjson jsonl',
    '--format markdown': 'markdown md',
    '--format geojson': 'geojson',
    '--format table': 'table',
    '--columns': 'select cols column',
    '--output': 'out outfile save-to',
    '--force': 'overwrite',
    '--open': 'browser web map html w',
    '--base-url': 'url host server',
    '--header': 'headers',
    '--demo': 'sample sample-data',
    '--verbose': 'debug trace v',
    '--version': 'v',
    '--quiet': 'silent s',
    '--no-color': 'no-colour nocolor color=never colour=never color=off color=false',
    '--no-input': 'non-interactive',
    '--max-age 0': 'no-cache fresh',
  },
  find: { ...SEARCH, '<>': 'name query term restaurant' },
  last: FILTERS,
  pick: SEARCH,
  saved: { '--sort': ORDERS },
  lookup: {
    '<>': 'id restaurant-id service-id name row',
    '--fields': 'level',
    '--fields basic': 'basic',
    '--fields standard': 'standard',
    '--fields premium': 'premium',
  },
  save: { '<>': 'id restaurant-id row name', '--note': 'message comment notes m' },
  unsave: { '<>': 'id restaurant-id row name' },
  call: { '<>': 'tool', '--args': 'data json-data arguments params d' },
  'mcp config': { '<>': 'client app' },
  login: { '--key-stdin': 'with-token token-stdin stdin' },
  enrich: { '<>': 'input list file i', '--first': 'limit max n' },
  raw: { '<>': 'method', '--include': 'head' },
};

const NO_FILTERS: Words = {
  '': 'rating min-rating stars radius distance page offset price max-price zip open-now reverse asc desc',
};

/**
 * Options that are suggested and do not run, because they cost requests, have no exact counterpart, or belong to earlier
 * versions; an empty one is left out. Of two for one word, the first one that takes the value counts.
 */
export const SUGGESTIONS: WordTable = {
  '': { '--json': 'yaml pretty' },
  find: {
    ...NO_FILTERS,
    '--limit': 'first',
    '--limit 1000': 'all',
    '--max-age 0': 'refresh',
    '--fields standard': 'details hours phone website menu reviews',
  },
  last: { ...NO_FILTERS, '--limit': 'first' },
  pick: NO_FILTERS,
  save: { '': 'list tag folder collection' },
  lookup: {
    '--fields premium': 'full all details hours phone website menu reviews',
    '--max-age 0': 'refresh',
  },
  enrich: {
    '': 'resume retry-errors concurrency no-details',
    '--older': 'refresh',
    '--older 0s': 'refresh',
    '--output': 'export report',
  },
};

type Row = readonly [theirs: string, ours: string];

/** The words of other tools that can follow a command, each with ours; those for this command alone come first. */
const rowsOf = (table: WordTable, path: string): Row[] =>
  [...new Set([path, ''])].flatMap((each) =>
    Object.entries(table[each] ?? {}).flatMap(([ours, theirs]) =>
      theirs.split(' ').map((word): Row => [word, ours]),
    ),
  );

/** Returns our words for one of another tool, most specific first. */
export const ourWords = (table: WordTable, path: string, word: string): string[] =>
  rowsOf(table, path).flatMap(([theirs, ours]) => (theirs === word ? [ours] : []));

/** Returns the nearest words, ours or likely ones of another tool, one for each of ours. */
export function nearWords(
  word: string,
  own: readonly Row[],
  theirs: { readonly table: WordTable; readonly path: string; readonly isLikely: (word: string) => boolean },
): Row[] {
  const rows = rowsOf(theirs.table, theirs.path).filter(([each]) => theirs.isLikely(each));
  const ours = new Map([...rows.reverse(), ...own]);
  const near = nearestOnes(word, [...ours.keys()]).map((each): Row => [each, ours.get(each) ?? each]);
  return near.filter(([, one], index) => near.findIndex(([, other]) => one === other) === index);
}

type Synonyms = Readonly<Record<string, string>>;

/** By group of commands and our command, with the options that it needs. */
export const OTHER_VERBS: Readonly<Record<string, Synonyms>> = {
  '': {
    find: 'search query list ls all best top good near nearby where restaurants food cuisines cities random',
    'find Nopa --city SF --demo': 'demo example examples try tutorial',
    lookup:
      'get show view info details describe compare menu menus hours book reserve reservation reservations ' +
      'reviews phone address directions photos price prices website',
    'lookup --open': 'open map',
    last: 'history recent again',
    save: 'star bookmark favorite like',
    saved: 'favorites bookmarks starred',
    unsave: 'unstar unlike',
    'last --format csv': 'export download',
    enrich: 'import batch bulk',
    'cache clear': 'clear',
    raw: 'request rpc api curl',
    call: 'run exec invoke',
    tools: 'tool',
    login: 'signin setup init auth account',
    logout: 'signout',
    status: 'whoami me quota limits usage',
    'status --check': 'doctor check ping test health',
    config: 'settings',
    'config profiles': 'profiles',
    'config set': 'set',
    'config get': 'env',
    sandbox: 'server serve',
    schema: 'spec openapi',
    '--help': 'commands man',
    '--version': 'version update upgrade',
  },
  config: { list: 'show ls all', set: 'add', unset: 'rm remove delete' },
  mcp: { config: 'install add setup init' },
  cache: { clear: 'rm remove delete purge empty' },
};

/** Groups of commands in other tools, such as `gh auth login`. */
export const OTHER_GROUPS = ['auth', 'account'];

/**
 * By our option. A value in angle brackets replaces the value of theirs; with another value, theirs takes none.
 * `<city>` is the city of the last search.
 */
export const OTHER_OPTIONS: Synonyms = {
  '--version': 'v',
  '--city': 'location town where in at',
  '--city <city>': 'zip zipcode postcode postal-code',
  '--neighborhood': 'area district neighbourhood',
  '--cuisine': 'tag food type category cuisines categories',
  '--min-grade <B>': 'rating min-rating stars',
  '--limit': 'max top count max-results l',
  '--limit <100>': 'page p offset',
  '--limit 1000': 'all',
  '--near <37.77,-122.43>': 'radius distance',
  '--sort': 'order order-by',
  '--sort grade': 'reverse desc asc',
  '--fields': 'level',
  '--fields standard': 'details standard open-now hours phone cheap menu reviews photos website address',
  '--fields premium': 'premium full all',
  '--fields <standard>': 'price max-price',
  '--columns': 'select cols fields',
  '--json': 'yaml pretty',
  '--key-stdin': 'with-token stdin',
  '--format table': 'table',
  '--format csv': 'csv',
  '--format tsv': 'tsv',
  '--format ndjson': 'jsonl ndjson',
  '--format markdown': 'markdown md',
  '--format geojson': 'geojson',
  '--output': 'file out',
  '--base-url': 'url host server',
  '--force': 'overwrite yes',
  '--open': 'browser web map html',
  '--verbose': 'debug v',
  '--quiet': 'silent s',
  '--max-age 0': 'refresh no-cache',
  '--no-color': 'no-colour',
};

export const OTHER_TOPICS: Synonyms = {
  environment: 'env variables',
  'exit-codes': 'errors codes exit status-codes',
  formats: 'json csv output format columns jq',
};

export const OTHER_ARGUMENTS: Synonyms = {
  file: 'input',
  name: 'query restaurant term q',
  id: 'restaurant-id service-id name row',
};

/** Words for food that are rarely a cuisine themselves, by the cuisine to try. */
export const FOOD: Synonyms = {
  american: 'burger hamburger steak wings bbq',
  chinese: 'dumpling wonton dimsum',
  indian: 'curry naan tandoori biryani',
  italian: 'pizza pizzeria pasta risotto lasagna trattoria',
  japanese: 'sushi ramen sashimi tempura udon izakaya',
  korean: 'bibimbap kimchi bulgogi',
  mediterranean: 'falafel hummus gyro shawarma kebab',
  mexican: 'taco burrito taqueria enchilada quesadilla',
  spanish: 'tapas paella',
  thai: 'curry',
  vietnamese: 'pho banh-mi',
  french: 'crepe bistro brasserie',
  breakfast: 'brunch pancake waffle',
  cafe: 'coffee espresso tea',
  bakery: 'bread pastry cake croissant',
  vegetarian: 'vegan veggie',
  seafood: 'fish oyster',
};

export const FILLERS =
  'a an the some any all me my for to of and eat eats food foods dinner lunch meal restaurant restaurants place places ' +
  'spot spots list ls show search query find nearby near here where what whats is are me random cuisines cities cuisine cheap open now ' +
  'tonight today';
export const PRAISE = 'best top good great nice';

/** First words of cities that no city is called by themselves: San Francisco, New York. */
export const CITY_START =
  /^(?:san|santa|santo|são|sao|saint|st\.?|new|los|las|el|fort|port|mount|salt|hong|tel|den)$/i;

/** A search that should return many restaurants: the service requires a name, and the search accepts a part of it. */
export const ANY_NAME = 'a';

export const ownWords = (synonyms: Synonyms, word: string): string[] =>
  Object.keys(synonyms).filter((own) => synonyms[own]?.split(' ').includes(word));

/** The option that takes the value which people type after one that takes none. */
export function valueOption(flag: string, value: string): '--columns' | '--jq' | undefined {
  if (flag === '--quiet' || (flag === '--json' && /^[.[{]/.test(value))) return '--jq';
  return flag === '--json' ? '--columns' : undefined;
}

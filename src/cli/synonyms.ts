/** Words of other tools for the same thing, by our word. */
type Synonyms = Readonly<Record<string, string>>;

/** By group of commands and our command, with the options that it needs. */
export const OTHER_VERBS: Readonly<Record<string, Synonyms>> = {
  '': {
    find: 'search query list ls best menu hours book near nearby restaurants',
    'find pizza': 'pizza',
    'find --open': 'map',
    lookup: 'get show view info details describe compare',
    'lookup --open': 'open',
    raw: 'request rpc api curl',
    call: 'run exec invoke',
    tools: 'tool',
    login: 'auth signin',
    logout: 'signout',
    status: 'whoami quota',
    'status --check': 'doctor check',
    config: 'settings',
    'config profiles': 'profiles',
    'config set': 'set',
    sandbox: 'server serve',
    '--version': 'version',
  },
  config: { list: 'show ls all', set: 'add', unset: 'rm remove delete' },
  cache: { clear: 'rm remove delete purge empty' },
};

/** By our option. With a placeholder, ours takes another value; with a value, theirs takes none. */
export const OTHER_OPTIONS: Synonyms = {
  '--city': 'location town where in',
  '--neighborhood': 'area district neighbourhood',
  '--cuisine': 'tag food',
  '--min-grade <grade>': 'rating min-rating stars',
  '--limit': 'max top count max-results l',
  '--limit <n>': 'page p',
  '--near <lat,lng>': 'radius distance',
  '--sort': 'order order-by',
  '--fields': 'level',
  '--fields standard': 'details',
  '--fields <level>': 'price',
  '--columns': 'select cols fields',
  '--format csv': 'csv',
  '--format tsv': 'tsv',
  '--format ndjson': 'jsonl ndjson',
  '--output': 'file out',
  '--base-url': 'url host server',
  '--force': 'overwrite yes',
  '--open': 'browser web map',
  '--verbose': 'debug v',
  '--quiet': 'silent s',
  '--max-age 0': 'refresh no-cache',
  '--no-color': 'no-colour',
};

export const OTHER_ARGUMENTS: Synonyms = {
  file: 'input',
  name: 'query restaurant',
  id: 'restaurant-id service-id',
};

export const ownWords = (synonyms: Synonyms, word: string): string[] =>
  Object.keys(synonyms).filter((own) => synonyms[own]?.split(' ').includes(word));

/** The option that takes the value which people type after one that takes none. */
export function valueOption(flag: string, value: string): '--columns' | '--jq' | undefined {
  if (flag === '--quiet' || (flag === '--json' && /^[.[{]/.test(value))) return '--jq';
  return flag === '--json' ? '--columns' : undefined;
}

// What the tests with Node for Windows leave out, and why.

const SHELL = 'runs a POSIX shell';
const MODES = 'is about owners and modes of POSIX systems';
const SIGNALS = 'sends a signal, which on Windows ends a process at once';
const QUOTING = 'expects a command for a POSIX shell; test/unit/output has those of Windows';
const REASONS = 'expects a path or reason of POSIX systems';
const OPEN = 'replaces a file that is open, which Windows refuses';
const LAUNCHER = 'starts a launcher that is a shell script; test/windows starts those of Windows';
const TERMINAL = 'needs a pseudo-terminal';
const LINKS = 'creates a symbolic link, which Wine cannot';
const SLOW = 'takes minutes in Wine';

/** Paths below `test/`, without `.test.ts`. */
export const FILES = [
  { reason: SHELL, files: ['e2e/completion/shells', 'e2e/process/{readme,start,streams}'] },
  { reason: SIGNALS, files: ['e2e/process/signals'] },
  { reason: TERMINAL, files: ['e2e/process/terminal', 'e2e/commands/output'] },
  {
    reason: MODES,
    files: ['e2e/{files,places}', 'e2e/process/{hardship,manual}', 'security/{files,devices}'],
  },
  { reason: LAUNCHER, files: ['e2e/{library,open}', 'e2e/mcp/{check,config,host,input}', 'e2e/skill/skill'] },
  { reason: QUOTING, files: ['e2e/{runs,transcripts}'] },
  { reason: 'needs Chromium', files: ['e2e/page/page'] },
  { reason: 'needs Redis', files: ['e2e/storage/shared-state', 'security/shared-state'] },
];

/** A title may be its first words. */
type Row = readonly [reason: string, file: string, ...titles: readonly string[]];

const TESTS: readonly Row[] = [
  [SHELL, 'unit/output/hint-text', 'a word > is read by a POSIX shell'],
  [SHELL, 'e2e/commands/raw', 'raw prints a curl command'],
  [SHELL, 'e2e/commands/sessions', 'key-command.session'],
  [SHELL, 'e2e/lists/stops', 'a run that is stopped in the middle > by a full disk'],
  [SHELL, 'e2e/secrets', 'the key > is neither in the arguments'],
  [SHELL, 'e2e/storage/atomic', 'an atomic write keeps the old file'],
  [SHELL, 'e2e/storage/config-file', 'several processes > leave the old file'],
  [SIGNALS, 'e2e/commands/lookup-many', 'lookup of ids from stdin writes each record'],
  [SIGNALS, 'e2e/lists/rows', 'writes a row as soon as'],
  [SIGNALS, 'e2e/lists/kill', 'a run that is killed > keeps a second'],
  [SIGNALS, 'e2e/lists/stops', 'a run that is stopped in the middle > by SIG'],
  [SIGNALS, 'e2e/lists/stops', 'a run that is stopped in the middle > by Ctrl-C'],
  [MODES, 'unit/lists/answers', 'the file > is created'],
  [MODES, 'unit/storage/log', 'appending > creates a private file'],
  [MODES, 'e2e/secrets', 'an invalid key > is not a valid key in a file'],
  [MODES, 'e2e/storage/atomic', 'an atomic write of text'],
  [MODES, 'e2e/storage/cache', 'openCache > is private'],
  [MODES, 'e2e/storage/config-file', 'the config file > saves', 'the config file > warns'],
  [MODES, 'e2e/storage/config-file', 'the config file > ignores a file that other'],
  [MODES, 'e2e/storage/own-folder', 'OwnFolder.create', 'OwnFolder > accepts', 'OwnFolder > does not follow'],
  [MODES, 'e2e/storage/own-folder', 'on Windows, where files have neither owners nor modes > a rename'],
  [MODES, 'e2e/storage/state', 'the last results > are returned'],
  [OPEN, 'unit/lists/answers', 'the file > notices that it was replaced'],
  [OPEN, 'unit/storage/log', 'appending > notices that another program'],
  [QUOTING, 'e2e/lists/enrich', 'the command in a hint'],
  [QUOTING, 'e2e/errors', "an error > from 'a missing file'"],
  [QUOTING, 'e2e/storage/config-file', 'a damaged config file'],
  [QUOTING, 'e2e/storage/lock', 'tryLock > keeps the lock'],
  [REASONS, 'e2e/commands/sessions', 'settings.session > warns once', 'settings.session > reports folders'],
  [REASONS, 'e2e/secrets', 'the key > is saved'],
  [REASONS, 'e2e/storage/atomic', 'an atomic write reports'],
  [REASONS, 'e2e/storage/ledger', 'openLedger > separates', 'a state folder that cannot be used'],
  [REASONS, 'e2e/storage/own-folder', 'OwnFolder > sets a damaged file aside'],
  [REASONS, 'e2e/storage/state', 'the last results > are not stored'],
];

/** Faults of Wine: Windows runs these tests. */
const TESTS_IN_WINE: readonly Row[] = [
  [LINKS, 'unit/storage/log', 'appending > refuses a link'],
  [LINKS, 'e2e/storage/atomic', 'an atomic write replaces'],
  [LINKS, 'e2e/storage/config-file', 'the config file > writes through'],
  [LINKS, 'e2e/storage/ledger', 'a damaged ledger > a link'],
  [LINKS, 'e2e/storage/lock', 'tryLock > follows no symbolic link'],
  [LINKS, 'e2e/storage/own-folder', 'sweepTemps > deletes the others'],
  [SLOW, 'unit/lists/answers', 'a set of lines > loses at most'],
  [SLOW, 'faults/connection', "survives framing and encoding > 'a response sent one byte"],
  [SLOW, 'e2e/commands/lookup-many', 'lookup of thousands of ids'],
  [SLOW, 'e2e/lists/quota', 'a Retry-After of the service > for a long time'],
  [SLOW, 'e2e/storage/config-file', 'several processes > keep all of twenty'],
  [SLOW, 'e2e/storage/ledger', 'eight processes'],
];

/** Wine passes on its variables. */
const LEFT_OUT = process.env.WINEPREFIX === undefined ? TESTS : [...TESTS, ...TESTS_IN_WINE];

/** @param file such as `test/e2e/key.test.ts` @returns why a test is left out; undefined if it runs */
export function reasonFor(file: string, title: string): string | undefined {
  const path = file.replace(/^test\//, '').replace(/\.test\.ts$/, '');
  const isLeftOut = ([, name, ...titles]: Row) =>
    name === path && titles.some((start) => title.startsWith(start));
  return LEFT_OUT.find(isLeftOut)?.[0];
}

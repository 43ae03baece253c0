// What the tests with Node for Windows leave out, and why. `onlyInWine`: a fault of Wine, so that Windows runs it.

const SHELL = 'runs a POSIX shell';
const MODES = 'is about owners and modes of POSIX systems';
const SIGNALS = 'sends a signal, which on Windows ends a process at once';
const QUOTING = 'expects a command for a POSIX shell; test/unit/output has those of Windows';
const REASONS = 'expects a path or reason of POSIX systems';
const LAUNCHER = 'starts a launcher that is a shell script; test/windows starts those of Windows';
const TERMINAL = 'needs a pseudo-terminal';

/** Paths below `test/`, without `.test.ts`. */
export const FILES = [
  { reason: SHELL, files: ['e2e/completion/shells', 'e2e/process/{curl,readme,start,streams}'] },
  { reason: SIGNALS, files: ['e2e/process/signals'] },
  { reason: TERMINAL, files: ['e2e/process/terminal', 'e2e/commands/output'] },
  { reason: MODES, files: ['e2e/{files,places}', 'e2e/process/{hardship,manual}', 'security/files'] },
  { reason: LAUNCHER, files: ['e2e/{library,open}', 'e2e/mcp/{check,config,sdk}', 'e2e/skill/skill'] },
  { reason: QUOTING, files: ['e2e/{runs,transcripts}'] },
  { reason: 'needs Chromium', files: ['e2e/page/page'] },
  { reason: 'needs Redis', files: ['e2e/storage/shared-state', 'security/shared-state'] },
];

/** Titles, or their first words, by file. */
export const TESTS = [
  {
    reason: SHELL,
    tests: {
      'unit/output/hint-text': ['a word > is read by a POSIX shell'],
      'e2e/commands/raw': ['raw > prints a curl command'],
      'e2e/commands/sessions': ['key-command.session'],
      'e2e/errors': ['an error in a real process is > io_error for stdout'],
      'e2e/enrich/stops': ['a run that is stopped in the middle > by a full disk'],
      'e2e/secrets': ['the key > is neither in the arguments'],
      'e2e/storage/atomic': ['writeFileAtomic > keeps the old file and deletes'],
      'e2e/storage/config-file': ['several processes > leave the old file'],
    },
  },
  {
    reason: SIGNALS,
    tests: {
      'e2e/commands/lookup-many': ['lookup of ids from stdin > writes each record'],
      'e2e/enrich/rows': ['writes a row as soon as'],
      'e2e/enrich/kill': ['a run that is killed > keeps a second'],
      'e2e/enrich/stops': [
        'a run that is stopped in the middle > by SIG',
        'a run that is stopped in the middle > by Ctrl-C',
      ],
      'e2e/errors': ['an error in a real process is > interrupted', 'the table of codes > is covered'],
    },
  },
  {
    reason: MODES,
    tests: {
      'unit/enrich/row-file': [
        'a file of rows > contains every row',
        'a file of rows > reports that another program deleted',
      ],
      'e2e/secrets': ['an invalid key > is not a valid key in a file'],
      'e2e/storage/atomic': ['writeFileAtomic > writes text', 'writeFileAtomic > replaces a file'],
      'e2e/storage/cache': ['openCache > is private'],
      'e2e/storage/config-file': [
        'the config file > saves',
        'the config file > warns',
        'the config file > ignores a file that other',
      ],
      'e2e/storage/own-folder': [
        'OwnFolder.create',
        'OwnFolder > accepts',
        'OwnFolder > does not follow',
        'on Windows, where files have neither owners nor modes > a rename',
      ],
      'e2e/storage/state': ['the last results > are returned'],
    },
  },
  {
    reason: QUOTING,
    tests: {
      'e2e/enrich/enrich': ['the command in a hint'],
      'e2e/errors': ["an error > from 'a missing file'"],
      'e2e/storage/config-file': ['a damaged config file'],
      'e2e/storage/lock': ['tryLock > fails while a process of another machine'],
    },
  },
  {
    reason: REASONS,
    tests: {
      'e2e/commands/sessions': ['settings.session > warns once', 'settings.session > reports folders'],
      'e2e/secrets': ['the key > is saved'],
      'e2e/storage/atomic': ['writeFileAtomic > reports'],
      'e2e/storage/ledger': ['openLedger > separates', 'a state folder that cannot be used'],
      'e2e/storage/own-folder': ['OwnFolder > sets a damaged file aside'],
      'e2e/storage/state': ['the last results > cause a warning', 'the detected protocol > is not stored'],
    },
  },
  {
    reason: 'creates a symbolic link, which Wine cannot',
    onlyInWine: true,
    tests: {
      'e2e/storage/atomic': ['writeFileAtomic > writes through symbolic links'],
      'e2e/storage/config-file': ['the config file > writes through'],
      'e2e/storage/ledger': ['a damaged ledger > a link'],
      'e2e/storage/lock': ['tryLock > follows no symbolic link'],
      'e2e/storage/own-folder': ['OwnFolder.sweepTemps > deletes the others'],
    },
  },
  {
    reason: 'needs the time when a file was created, which Wine does not keep',
    onlyInWine: true,
    tests: {
      'e2e/enrich/enrich': ['does not overwrite a file'],
      'e2e/enrich/kill': ['a run that is killed > loses no row'],
      'e2e/enrich/resume': ['--resume > rejects', 'responses of a stopped run'],
    },
  },
  {
    reason: 'takes minutes in Wine',
    onlyInWine: true,
    tests: {
      'e2e/commands/lookup-many': ['lookup of thousands of ids'],
      'e2e/enrich/quota': ['a Retry-After of the service > for a long time'],
      'e2e/storage/config-file': ['several processes > keep all of twenty'],
      'e2e/storage/ledger': ['eight processes'],
    },
  },
];

/** Wine passes on its variables. */
const isWine = process.env.WINEPREFIX !== undefined;

/** @param file such as `test/e2e/secrets.test.ts` @returns why a test is left out; undefined if it runs */
export function reasonFor(file, title) {
  const path = file.replace(/^test\//, '').replace(/\.test\.ts$/, '');
  return TESTS.find(
    ({ tests, onlyInWine = false }) =>
      (isWine || !onlyInWine) && tests[path]?.some((start) => title.startsWith(start)),
  )?.reason;
}

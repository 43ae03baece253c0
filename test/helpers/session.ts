import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { ON_WINDOWS } from './process.ts';
import { newHome, type RunOptions, type Transcript } from './program.ts';
import type { ServiceUnderTest } from './service.ts';
import { type Commands, Machine, needsShell } from './session-machine.ts';

/*
 * A session file holds tests as text: titles, command lines, and everything that they print.
 *
 *   # requires a city                       a test, in an empty home folder
 *   // Comments are kept.
 *   $ cat > places.csv                      writes a file, like `printf 'name,city\n' > places.csv`; >> appends
 *   > name,city
 *   $ printf 'a\n' | TZ=UTC restaurant …    with stdin and variables; `< file` works, too
 *   $ COLUMNS=80 restaurant …               in a terminal of this width, without color
 *   $ COLUMNS=80 KEYS=2y^ restaurant …      at a terminal where these keys are typed; ^ is Ctrl-C, ⏎ Enter, ⎋ Escape
 *   $ … KEYS=s1 ANSWERS=Nopa,SF restaurant  with answers to its questions; SECRETS are typed without being shown
 *   $ restaurant … > /dev/null              without the lines of stdout
 *   $ restaurant … | grep Nopa              only the lines of stdout that contain the text
 *   $ restaurant … | sort                   the lines of stdout in alphabetical order
 *   $ restaurant …  # exit 2, 3 requests    the exit code, and the number of requests, if they are not 0
 *   $ export RESTAURANT_CITY=SF             for the rest of the test
 *   $ restaurant … --base-url $SERVICE      $SERVICE is the address of the service, $HOST its host and port, $HOME the home folder
 *   $ cat $SAVED                            the file of the service's saved restaurants
 *   $ cd folder                             for the rest of the test
 *   $ mode file                             prints the mode
 *   $ replace before after file             replaces text in a file
 *   $ received                              prints the body of the last request
 *   $ ls -a                                 other commands run in a shell
 *     a line of stdout
 *   ! a line of stderr
 *
 * Commands above the first title run before each test, and are not recorded.
 * `npx vitest run <test file> -u` writes what the commands print now: review it like code.
 */

export interface SessionOptions {
  /** Variables of all commands; read when a test starts, because services start late. */
  readonly env?: () => Readonly<Record<string, string>>;
  /** Returns the number of requests since its last call. */
  readonly sent?: () => number;
  /** Files in the home folder when a test starts. */
  readonly files?: Readonly<Record<string, string>>;
  /** Further commands: they get the folder and their words, and return what they print. */
  readonly commands?: Commands;
  readonly run?: Pick<RunOptions, 'now' | 'sleep'>;
  /** Plays each test also in a terminal of this width, in another home, and adds what differs: `[in a terminal]`. */
  readonly terminal?: number;
}

interface Line {
  readonly text: string;
  /** The lines of the file that it writes. */
  readonly input: readonly string[];
}

interface Session {
  readonly title: string;
  readonly lines: readonly Line[];
  /** The whole text, as recorded. */
  readonly text: string;
}

/** Runs the sessions of a file as tests, with a service. */
export function playWithService(path: string, service: ServiceUnderTest, options: SessionOptions = {}): void {
  playSessions(path, {
    env: () => service.env,
    sent: () => service.sent(),
    ...options,
    commands: {
      received: () => `${JSON.stringify(service.sandbox.requests.at(-1)?.body)}\n`,
      ...options.commands,
    },
  });
}

/** Runs the sessions of a file as tests. */
export function playSessions(path: string, options: SessionOptions = {}): void {
  const [preamble = '', ...sessions] = readFileSync(path, 'utf8').split(/^(?=# )/m);
  const played = sessions.map((text) => text.trimEnd());
  const setup = parseSession(preamble).lines;
  for (const [index, text] of played.entries()) {
    const session = parseSession(text);
    const isSkipped = ON_WINDOWS && session.lines.some((line) => needsShell(line.text, options.commands));
    it.skipIf(isSkipped)(session.title, async () => {
      const now = await play(session, setup, options);
      if (process.env.UPDATE_SESSIONS === 'true') played[index] = now;
      else expect(comparable(now)).toBe(comparable(session.text));
    });
  }
  if (process.env.UPDATE_SESSIONS !== 'true') return;
  afterAll(() => writeFileSync(path, `${preamble}${played.join('\n\n')}\n`));
}

const OUTCOME = / {2}# (?:exit|\d+ request).*$/;

function parseSession(text: string): Session {
  const lines: { text: string; input: string[] }[] = [];
  const [title = '', ...rest] = text.split('\n');
  for (const line of rest) {
    if (/^(\$|\/\/) /.test(line)) lines.push({ text: line.replace(OUTCOME, ''), input: [] });
    if (line.startsWith('> ') || line === '>') lines.at(-1)?.input.push(line.slice(2));
  }
  return { title: title.slice(2), lines, text };
}

/** On Windows, paths, quotes, and the commands in hints differ. */
const comparable = (text: string): string =>
  ON_WINDOWS
    ? text
        .replace(/^! hint: .*\n?/gm, '')
        .replace(/"hint":".*?(?<!\\)"/g, '')
        .replace(/["'\\/]/g, '')
    : text;

async function play(
  { title, lines }: Session,
  setup: readonly Line[],
  options: SessionOptions,
): Promise<string> {
  const inPipe = await playLines(lines, setup, options);
  const { terminal, env } = options;
  const inTerminal =
    terminal === undefined
      ? inPipe
      : await playLines(lines, setup, { ...options, env: () => ({ ...env?.(), COLUMNS: `${terminal}` }) });
  const parts = lines.flatMap(({ text, input }, index) => {
    const [pipe, other] = [inPipe[index] ?? SILENT, inTerminal[index] ?? SILENT];
    const written = input.map((line) => `> ${line}`.trimEnd());
    const isSame = pipe.outcome === other.outcome && pipe.output === other.output;
    const difference = isSame ? [] : [`[in a terminal]${other.outcome}`, other.output];
    return [text + pipe.outcome, ...written, pipe.output, ...difference];
  });
  return [`# ${title}`, ...parts.filter((part) => part !== '')].join('\n').trimEnd();
}

/** The output of a line, with its exit code and requests. */
interface Result {
  readonly output: string;
  readonly outcome: string;
}

const SILENT: Result = { output: '', outcome: '' };

/** Returns the result of each line. */
async function playLines(
  lines: readonly Line[],
  setup: readonly Line[],
  options: SessionOptions,
): Promise<Result[]> {
  const { home, env } = newHome();
  const machine = new Machine(home, { ...options.env?.(), ...env }, options);
  for (const [name, text] of Object.entries(options.files ?? {})) machine.write(name, text);
  for (const { text, input } of setup) await machine.execute(text.slice(2), input);
  options.sent?.();
  const results: Result[] = [];
  for (const { text, input } of lines) {
    if (text.startsWith('$ ')) {
      const transcript = await machine.execute(text.slice(2), input);
      const output = machine.withoutChanging(outputOf(transcript));
      results.push({ output, outcome: outcomeOf(transcript, options.sent?.() ?? 0) });
    } else results.push(SILENT);
  }
  return results;
}

function outputOf({ stdout, stderr }: Transcript): string {
  const visible = (text: string) =>
    text.replace(
      /[\0-\x08\x0b-\x1f\x7f-\x9f\ufeff]/g,
      (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  const lines = (prefix: string, text: string): string[] => {
    if (text === '') return [];
    const end = text.endsWith('\n') ? [] : ['[no newline]'];
    const body = text.replace(/\n$/, '').split('\n');
    return [...body.map((line) => (line === '' ? '' : prefix + visible(line))), ...end];
  };
  return [...lines('  ', stdout), ...lines('! ', stderr)].join('\n');
}

function outcomeOf({ exit }: Transcript, requests: number): string {
  const facts = [
    ...(exit === 0 ? [] : [`exit ${exit}`]),
    ...(requests === 0 ? [] : [`${requests} ${requests === 1 ? 'request' : 'requests'}`]),
  ];
  return facts.length === 0 ? '' : `  # ${facts.join(', ')}`;
}

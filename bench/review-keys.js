// How many keys a person who knows the answers presses in `restaurant review`, in a pseudo-terminal.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { spawn as openTerminal } from '@lydell/node-pty';

const PROMPT = /(\d+) of (\d+), line (\d+)(?:(?!\d+ of \d+, line)[\s\S])*?q quit/;
const MAX_KEYS = 9;
/** Where the key of a candidate stands: `* 1 Name  address`. */
const NUMBER_AT = 2;
const NAME_AT = 4;

/** The candidates of doubtful rows, by their number in the list. */
async function candidatesOf(words, options) {
  const child = spawn(process.execPath, [...words, '--json'], {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Map(JSON.parse(await text(child.stdout)).map((row) => [row.row, row]));
}

/** The key for a row: its restaurant if it is among the candidates; none if it has no right one; else a search. */
function keyFor({ candidates, restaurant_id: current }, right) {
  if (right === undefined || right === '') return 'n';
  const place = candidates.slice(0, MAX_KEYS).findIndex(({ service_id }) => service_id === right);
  if (place === -1) return undefined;
  return current === right ? 'y' : String(place + 1);
}

/** The words of a name that a row does not have as they are; the whole name if it has all of them. */
const wrongWords = (name, known) =>
  name
    .split(' ')
    .filter((word) => !known.split(' ').includes(word))
    .join(' ') || name;

/**
 * Plays a review to its end.
 * @param words the command; @param rightOf returns the id of the restaurant of a row, from 1; @param nameOf that of its name
 * @returns how many keys were pressed for how many rows, and for how many a search was needed
 */
export async function playReview(words, options, rightOf, nameOf) {
  const rows = await candidatesOf(words, options);
  const terminal = openTerminal(process.execPath, words, {
    ...{ cols: 100, rows: 50, cwd: options.cwd, env: { ...options.env, TERM: 'xterm' } },
  });
  const played = { keys: 0, rows: 0, searches: 0 };
  const press = (typed) => {
    played.keys += typed.length;
    terminal.write(typed);
  };
  let shown = '';
  /** Attempts for the row so far: more candidates, then the words that the row has wrong, then the whole name. */
  let attempts = 0;
  /** The replies to the questions of a search, each typed when it is asked. */
  let replies = [];
  const search = (name) => {
    press('s');
    replies = [
      { question: 'Name [', typed: `${name}\r` },
      { question: 'City [', typed: '\r' },
    ];
  };
  const seek = (all, name, known) => {
    attempts += 1;
    played.searches += 1;
    if (attempts === 1 && all.includes('m more (')) return press('m');
    attempts = Math.max(attempts, 2);
    return search(attempts === 2 ? wrongWords(name, known) : name);
  };
  terminal.onData((data) => {
    shown += data;
    const [reply] = replies;
    if (reply !== undefined && shown.includes(reply.question)) {
      replies = replies.slice(1);
      press(reply.typed);
    }
    const [all, , , line] = PROMPT.exec(shown) ?? [];
    if (all === undefined) return;
    shown = shown.slice(shown.indexOf(all) + all.length);
    const number = Number(line) - 1;
    const right = rightOf(number);
    if (attempts === 0) played.rows += 1;
    const name = nameOf(right);
    const listed = () => all.split('\n').find((each) => each.slice(NAME_AT).startsWith(name));
    const key = attempts === 0 ? keyFor(rows.get(number), right) : listed()?.[NUMBER_AT];
    if (key === undefined && attempts < 3) return seek(all, name, rows.get(number)?.name ?? '');
    attempts = 0;
    press(key ?? 'n');
  });
  await new Promise((resolve) => terminal.onExit(resolve));
  return { ...played, doubtful: rows.size };
}

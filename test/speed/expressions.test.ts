import { fork } from 'node:child_process';
import { expect, it } from 'vitest';
import { repeats } from '../helpers/attack-texts.ts';
import { type Expression, readExpressions } from '../helpers/expressions.ts';
import { bundleWorker } from '../helpers/worker.ts';

/** Quadratic time is tens of milliseconds at this length, and 15,000 times as much at a megabyte. */
const SHORT = 8192;
const SHORT_MS = 10;
const LONG = 1_000_000;
const LONG_MS = 500;
/** The first match compiles the expression. */
const ATTEMPTS = 4;
/** After this time in one match, an expression is taken to be exponential. */
const STUCK_MS = 5000;
/** Seconds on a quiet machine. */
const MAX_MS = 600_000;

/** Tries all attacks at the short length, and the one that took longest at a megabyte. */
const WORKER = `
import { attacksOn, timeOf } from '../../helpers/attack-texts.ts';

let reportedAt = 0;
function measure(expression, attack, length, limit) {
  if (Date.now() - reportedAt > 100) {
    reportedAt = Date.now();
    process.send({ expression, attack });
  }
  let ms = Infinity;
  for (let attempt = 0; attempt < ${ATTEMPTS} && ms > limit; attempt += 1)
    ms = Math.min(ms, timeOf(expression, attack, length));
  if (ms > limit) process.send({ expression, attack, ms });
  return ms;
}

process.once('message', (expressions) => {
  for (const expression of expressions) {
    reportedAt = 0;
    let worst, longest = 0;
    for (const attack of attacksOn(expression)) {
      const ms = measure(expression, attack, ${SHORT}, ${SHORT_MS});
      if (ms > ${SHORT_MS}) {
        worst = undefined;
        break;
      }
      if (ms > longest) [longest, worst] = [ms, attack];
    }
    if (worst !== undefined) measure(expression, worst, ${LONG}, ${LONG_MS});
  }
  process.send({}, () => process.disconnect());
});
`;

interface Report {
  readonly expression: Expression;
  readonly attack: unknown;
  /** Undefined for a sign of life. */
  readonly ms?: number;
}

/** @returns the last report, if the worker was stuck */
async function measureIn(
  file: string,
  expressions: readonly Expression[],
  onSlow: (report: Report) => void,
): Promise<Report | undefined> {
  // A process of its own, whose processor time is that of the matches.
  const worker = fork(file);
  worker.send(expressions);
  let last: Report | undefined;
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    worker.on('message', (report: Report | Record<string, never>) => {
      // The start of the process takes longest on a busy machine.
      timer ??= setTimeout(() => worker.kill('SIGKILL'), STUCK_MS);
      timer.refresh();
      if (!('expression' in report)) return;
      last = report as Report;
      if (last.ms !== undefined) onSlow(last);
    });
    worker.on('error', reject);
    worker.on('exit', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(undefined);
      else if (signal === 'SIGKILL') resolve(last);
      else reject(new Error(`the worker ended with ${code}`));
    });
  });
}

/** @returns the expressions that take too long, each with an attack */
async function slowOnes(expressions: readonly Expression[]): Promise<string[]> {
  const file = await bundleWorker(WORKER);
  const slow: string[] = [];
  const add = ({ expression: { where, source, flags }, attack }: Report) =>
    slow.push(`${where} /${source}/${flags} ${JSON.stringify(attack)}`);
  for (let left = expressions; left.length > 0; ) {
    const stuck = await measureIn(file, left, add);
    if (stuck === undefined) break;
    add(stuck);
    left = left.slice(left.findIndex(({ where }) => where === stuck.expression.where) + 1);
  }
  return slow;
}

it('finds expressions that take quadratic or exponential time', async () => {
  const slow = [
    '/+$',
    '(a+)+$',
    '^\\s*(a?)\\s*$',
    '<t[^>]*>',
    '^[^[]*:[^[]*:[^[]*$',
    ',\\s.*$',
    '"(?:\\\\.|.)*"x',
  ];
  const fast = ['(?<!/)/+$', '^a+$', '^\\s*(a)\\s*$', '<t[^<>]*>', '"[^"]*"?', '^(?:\\s+|//[^\\n]*)*'];
  const found = await slowOnes([...slow, ...fast].map((source) => ({ where: source, source, flags: 'g' })));
  expect(found.map((text) => text.split(' /')[0])).toEqual(slow);
});

it(
  'every regular expression of the source takes linear time, also if it does not match',
  async () => {
    const expressions = readExpressions();
    expect(expressions.length).toBeGreaterThan(350);
    expect(await slowOnes(expressions.filter(repeats))).toEqual([]);
  },
  MAX_MS,
);

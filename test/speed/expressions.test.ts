import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { type Expression, readExpressions } from '../helpers/expressions.ts';
import { bundleWorker } from '../helpers/worker.ts';

/** Quadratic time is tens of milliseconds at this length, and 4,000 times as much at a megabyte. */
const SHORT = 16_384;
const SHORT_MS = 25;
const LONG = 1_000_000;
const LONG_MS = 500;
/** A busy machine slows down; no expression is slow each time because of that. */
const ATTEMPTS = 8;
/** After this time in one match, an expression is taken to be exponential. */
const STUCK_MS = 5000;

/** Tries all attacks at the short length, and the one that took longest at a megabyte. */
const WORKER = `
import { parentPort, workerData } from 'node:worker_threads';
import { attacksOn, timeOf } from '../../helpers/attack-texts.ts';

function measure(expression, attack, length, limit) {
  parentPort.postMessage({ expression, attack });
  let ms = Infinity;
  for (let attempt = 0; attempt < ${ATTEMPTS} && ms > limit; attempt += 1)
    ms = Math.min(ms, timeOf(expression, attack, length));
  if (ms > limit) parentPort.postMessage({ expression, attack, ms });
  return ms;
}

for (const expression of workerData) {
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
`;

interface Report {
  readonly expression: Expression;
  readonly attack: unknown;
  /** Undefined before an attack is tried. */
  readonly ms?: number;
}

/** @returns the last report, if the worker was stuck */
async function measureIn(
  file: string,
  expressions: readonly Expression[],
  onSlow: (report: Report) => void,
): Promise<Report | undefined> {
  const worker = new Worker(file, { workerData: expressions });
  let last: Report | undefined;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => void worker.terminate().then(() => resolve(last)), STUCK_MS);
    worker.on('message', (report: Report) => {
      timer.refresh();
      last = report;
      if (report.ms !== undefined) onSlow(report);
    });
    worker.on('error', reject);
    worker.on('exit', (code) => {
      clearTimeout(timer);
      if (code === 0) resolve(undefined);
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

it('every regular expression of the source takes linear time, also if it does not match', async () => {
  const expressions = readExpressions();
  expect(expressions.length).toBeGreaterThan(350);
  expect(await slowOnes(expressions)).toEqual([]);
});

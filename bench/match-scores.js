// Scores: how well `enrich` matches the rows of a dirty list, without and with --loose, and with the places of the rows.

/** The options of `enrich`, which columns of the list it gets, and which answer is right, by mode. */
export const MODES = {
  name: { options: [], columns: ['name', 'city'], answer: 'named' },
  loose: { options: ['--loose'], columns: ['name', 'city'], answer: 'named' },
  place: { options: ['--loose'], columns: ['name', 'city', 'lat', 'lng', 'address'], answer: 'placed' },
};

/** Shares that a list must reach, by kind of service and mode. */
export const GOALS = ['parts', 'likeness'].flatMap((service) => [
  ...Object.keys(MODES).map((mode) => ({ service, mode, what: 'precision', least: 0.999 })),
  { service, mode: 'loose', what: 'recall', least: 0.9 },
  { service, mode: 'place', what: 'recall', least: service === 'parts' ? 0.9 : 0.97 },
  ...['loose', 'place'].map((mode) => ({ service, mode, what: 'first', least: 0.95 })),
]);

const share = (part, whole) => (whole.length === 0 ? 1 : part.length / whole.length);

/**
 * Scores the results of the rows: their status and the id of their restaurant.
 * @returns the precision of `matched` and of `likely`, and the recall of both: the share of correct restaurants among the rows
 * that have one, and one only; `first`: the share of doubtful rows, of those that have a correct restaurant, that show it first
 */
export function scoreOf(rows, results, mode) {
  const { answer } = MODES[mode];
  const judged = rows.map((row, index) => ({ ...row, ...results[index], right: row[answer] }));
  return {
    ...figures(judged),
    kinds: Object.fromEntries(
      [...new Set(rows.map(({ kind }) => kind))].map((kind) => [
        kind,
        figures(judged.filter((each) => each.kind === kind)),
      ]),
    ),
    wrong: judged.filter(({ status, id, right }) => status === 'matched' && id !== right),
  };
}

const isDoubtful = ({ status }) => status === 'likely' || status === 'ambiguous';

function figures(judged) {
  const [matched, likely] = ['matched', 'likely'].map((wanted) =>
    judged.filter(({ status }) => status === wanted),
  );
  const isRight = ({ id, right }) => id === right;
  const having = judged.filter(({ right }) => right !== undefined && right !== '');
  return {
    rows: judged.length,
    matched: matched.length,
    likely: likely.length,
    precision: share(matched.filter(isRight), matched),
    likelyPrecision: share(likely.filter(isRight), likely),
    recall: share(
      having.filter((each) => isRight(each) && ['matched', 'likely'].includes(each.status)),
      having,
    ),
    first: share(
      having.filter((each) => isRight(each) && isDoubtful(each)),
      having.filter(isDoubtful),
    ),
    having: having.length,
  };
}

// Scores: how well `enrich` matches the rows of a dirty list, without and with --loose, and with the places of the rows.

/** The options of `enrich`, which columns of the list it gets, and which answer is right, by mode. */
export const MODES = {
  name: { options: [], columns: ['name', 'city'], answer: 'named' },
  loose: { options: ['--loose'], columns: ['name', 'city'], answer: 'named' },
  place: { options: ['--loose'], columns: ['name', 'city', 'lat', 'lng', 'address'], answer: 'placed' },
};

/** Shares that a list must reach. */
export const GOALS = [
  { mode: 'name', what: 'precision', least: 0.999 },
  { mode: 'loose', what: 'precision', least: 0.999 },
  { mode: 'place', what: 'precision', least: 0.999 },
  { mode: 'loose', what: 'recall', least: 0.9 },
  { mode: 'place', what: 'recall', least: 0.97 },
];

const share = (part, whole) => (whole.length === 0 ? 1 : part.length / whole.length);

/**
 * Scores the results of the rows: their status and the id of their restaurant.
 * @returns the precision of `matched` and of `likely`, and the recall of both: the share of correct restaurants among the rows
 * that have one, and one only
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
    having: having.length,
  };
}

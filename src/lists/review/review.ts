import type { App } from '../../app/app.ts';
import { openTarget } from '../../app/target.ts';
import { type AppError, usage } from '../../errors.ts';
import { again, restaurant } from '../../hint.ts';
import { plural, timeText } from '../../util/format.ts';
import { cleanLine } from '../../util/text.ts';
import { answersService } from '../open-answers.ts';
import { PacedService } from '../paced-service.ts';
import { printJson } from '../progress/summary.ts';
import { ownEntries } from '../views/source.ts';
import { filesText, printTally, undoLast } from './decide.ts';
import { openReview, type ReviewFlags, writeReviewed } from './open.ts';
import {
  candidatesFor,
  currentId,
  doubtfulRows,
  type EqualRows,
  lineOf,
  type Review,
  resultNow,
} from './rows.ts';

export async function runReview(app: App, file: string, flags: ReviewFlags): Promise<void> {
  const { apply, undo, notFound = false } = flags;
  const isChange = apply !== undefined || undo === true;
  if (!isChange && app.terminal.wantsJson)
    return listRows(app, await openReview(app, file, flags, 'read'), notFound);
  if (!isChange && !app.terminal.canPrompt) throw needsTerminal();
  const review = await openReview(app, file, flags, 'write');
  if (apply !== undefined) return applyDecisions(app, review, apply);
  if (undo === true) return undoDecision(app, review);
  const rows = doubtfulRows(review, notFound);
  if (rows.length > 0) {
    const { decideRows } = await import('./walk.ts');
    return decideRows(app, { review, rows, openSearch: () => openSearch(app, review) });
  }
  await writeReviewed(app, review);
  await noteNothing(app, review, notFound);
}

const needsTerminal = (): AppError =>
  usage('review needs a terminal', [
    { text: 'to list the rows with their candidates', command: again({ '--json': true }) },
    { text: 'to apply decisions', command: again({ '--apply': 'decisions.csv' }) },
  ]);

async function noteNothing(app: App, review: Review, notFound: boolean): Promise<void> {
  const count = (sum: number, { indexes }: EqualRows): number => sum + indexes.length;
  const missing = notFound ? 0 : doubtfulRows(review, true).reduce(count, 0);
  await app.notes.note(
    missing === 0
      ? `${review.name} has no rows to review`
      : {
          text: `${review.name} has no doubtful rows; ${plural(missing, 'row')} not found`,
          command: again({ '--not-found': true }),
        },
  );
}

/** Opens the service for further searches. @throws {AppError} `usage` if the answers are of another one */
async function openSearch(app: App, { answers, name }: Review): Promise<PacedService> {
  const target = await openTarget(app);
  const service = answersService(target);
  if (answers.service !== undefined && answers.service !== service) {
    throw usage(`${name} has answers of ${cleanLine(answers.service)}, not of ${service}`, {
      ...(answers.service === 'demo' && { command: again({ '--demo': true }) }),
      text: 'use the service of the list',
    });
  }
  return new PacedService(app, target, {}).open({
    cache: 'shared',
    reporter: {
      waiting: ({ until, why }) => void app.notes.warn(`${why}; continuing at ${timeText(app, until)}`, true),
      warn: (text) => void app.notes.warn(text),
    },
  });
}

async function applyDecisions(app: App, review: Review, file: string): Promise<void> {
  const { applyFile } = await import('./apply.ts');
  const decided = await applyFile(app, review, file, () => openSearch(app, review));
  await writeReviewed(app, review);
  await printTally(app, review, decided);
}

async function undoDecision(app: App, review: Review): Promise<void> {
  const undone = undoLast(review);
  if (undone === undefined) {
    throw usage(`no decision about ${review.name} is left to take back`, {
      text: 'to decide rows',
      command: restaurant('review', review.name),
    });
  }
  await writeReviewed(app, review);
  const { decide } = undone.decision;
  const what = [decide.name ?? decide.id ?? '', decide.city ?? ''].filter(Boolean).join(', ');
  const files = review.views.map(({ name }) => name);
  if (app.terminal.wantsJson) await printJson(app, { undone: decide, files });
  else if (app.globals.quiet !== true)
    await app.context.stderr.write(
      `took back the decision about ${cleanLine(what)} in ${filesText(review)}\n`,
    );
}

async function listRows(app: App, review: Review, notFound: boolean): Promise<void> {
  const { plan, rows } = review.state;
  const listed = doubtfulRows(review, notFound).flatMap((equal) =>
    equal.indexes.flatMap((index) => {
      const row = rows[index];
      if (row === undefined) return [];
      const { name = '', city = '' } = equal.key;
      const restaurant_id = currentId(review, equal) ?? null;
      return {
        ...{ row: index + 1, line: lineOf(row), status: resultNow(review, equal).status, name, city },
        ...{ restaurant_id, list: Object.fromEntries(ownEntries(plan, row)) },
        candidates: candidatesFor(review, equal).map(
          ({ restaurant: found, similarity, meters, isEarlier }) => ({
            ...found,
            ...{ similarity, distance_m: meters ?? null },
            ...(isEarlier && { decided_earlier: true }),
          }),
        ),
      };
    }),
  );
  await printJson(
    app,
    listed.sort((one, other) => one.row - other.row),
  );
}

import type { App } from '../../app/app.ts';
import { openTarget } from '../../app/target.ts';
import { type AppError, usage } from '../../errors.ts';
import { again, restaurant } from '../../hint.ts';
import { plural, timeText } from '../../util/format.ts';
import { cleanLine } from '../../util/text.ts';
import { serviceName } from '../find-answers.ts';
import { printJson } from '../progress/summary.ts';
import { ListService } from '../service.ts';
import { ownEntries } from '../views/source.ts';
import { candidatesFor, currentId, type DoubtfulRows, doubtfulRows, lineOf } from './candidates.ts';
import { openReview, type Review, type ReviewFlags, writeReviewed } from './open.ts';
import { printTally } from './tally.ts';
import { undoLast } from './undo.ts';

export async function runReview(app: App, file: string, flags: ReviewFlags): Promise<void> {
  const { apply, undo } = flags;
  if (apply !== undefined) {
    const { applyFile } = await import('./apply.ts');
    const review = await openReview(app, file, flags, 'write');
    const tally = await applyFile(app, review, apply, () => openSearch(app, review));
    await writeReviewed(app, review);
    return printTally(app, file, tally);
  }
  if (undo === true) return undoDecision(app, file, flags);
  if (app.terminal.wantsJson) return listRows(app, await openReview(app, file, flags, 'read'), flags);
  if (!app.terminal.canPrompt) throw needsTerminal();
  const review = await openReview(app, file, flags, 'write');
  const rows = doubtfulRows(review, flags);
  if (rows.length === 0) {
    await writeReviewed(app, review);
    return noteNothing(app, review, flags);
  }
  const { decideRows } = await import('./session.ts');
  await decideRows(app, { review, rows, search: () => openSearch(app, review) });
}

const needsTerminal = (): AppError =>
  usage('review needs a terminal', [
    { text: 'to list the rows with their candidates', command: again({ '--json': true }) },
    { text: 'to apply decisions', command: again({ '--apply': 'decisions.csv' }) },
  ]);

async function noteNothing(app: App, review: Review, { notFound }: ReviewFlags): Promise<void> {
  const missing = notFound ? 0 : rowsIn(doubtfulRows(review, { notFound: true }));
  await app.notes.note(
    missing === 0
      ? `${review.name} has no rows to review`
      : {
          text: `${review.name} has no doubtful rows; ${plural(missing, 'row')} not found`,
          command: again({ '--not-found': true }),
        },
  );
}

export const rowsIn = (groups: readonly DoubtfulRows[]): number =>
  groups.reduce((sum, { indexes }) => sum + indexes.length, 0);

/** Opens the service for searches with other words. @throws {AppError} `usage` if the answers are of another one */
async function openSearch(app: App, { answers, name }: Review): Promise<ListService> {
  const target = await openTarget(app);
  const service = serviceName(target);
  if (answers.service !== undefined && answers.service !== service) {
    throw usage(`${name} has answers of ${cleanLine(answers.service)}, not of ${service}`, {
      ...(answers.service === 'demo' && { command: again({ '--demo': true }) }),
      text: 'use the service of the list',
    });
  }
  return new ListService(app, target, {}).open({
    cache: 'shared',
    reporter: {
      waiting: ({ until, why }) => void app.notes.warn(`${why}; continuing at ${timeText(app, until)}`, true),
      warn: (text) => void app.notes.warn(text),
    },
  });
}

async function undoDecision(app: App, file: string, flags: ReviewFlags): Promise<void> {
  const review = await openReview(app, file, flags, 'write');
  const undone = undoLast(review);
  if (undone === undefined) {
    throw usage(`no decision about ${file} is left to take back`, {
      text: 'to decide rows',
      command: restaurant('review', file),
    });
  }
  await writeReviewed(app, review);
  const { decide } = undone.decision;
  const what = [decide.name ?? decide.id ?? '', decide.city ?? ''].filter(Boolean).join(', ');
  if (app.terminal.wantsJson) await printJson(app, { undone: decide });
  else if (app.globals.quiet !== true)
    await app.context.stderr.write(`took back the decision about ${cleanLine(what)}\n`);
}

async function listRows(app: App, review: Review, flags: ReviewFlags): Promise<void> {
  const { state } = review;
  const listed = doubtfulRows(review, flags)
    .flatMap((group) => group.indexes.map((index) => ({ group, index })))
    .sort((one, other) => one.index - other.index)
    .map(({ group, index }) => {
      const row = state.rows[index];
      const { name = '', city = '' } = group.key;
      return {
        row: index + 1,
        line: row === undefined ? index + 1 : lineOf(row),
        ...{ status: group.result.status, name, city, restaurant_id: currentId(group) ?? null },
        list: row === undefined ? {} : Object.fromEntries(ownEntries(state.plan, row)),
        candidates: candidatesFor(review, group).map(
          ({ restaurant: found, similarity, meters, isEarlier }) => ({
            ...found,
            ...{ similarity, distance_m: meters ?? null },
            ...(isEarlier && { decided_earlier: true }),
          }),
        ),
      };
    });
  await printJson(app, listed);
}

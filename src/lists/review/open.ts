import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { App } from '../../app/app.ts';
import { inputPath } from '../../app/input.ts';
import { checkOutputPath, fullPath, otherName } from '../../app/output-file.ts';
import { AppError, attempt, failure, usage } from '../../errors.ts';
import { again, restaurant, slot, type Word } from '../../hint.ts';
import { plural } from '../../util/format.ts';
import type { RunLine } from '../answer-lines.ts';
import type { Answers } from '../answers.ts';
import { ListState } from '../list-state.ts';
import { ANSWERS_ENDING, answersPathOf, openAnswersAt } from '../open-answers.ts';
import { readPlan, rememberedFlags } from '../plan.ts';
import { openInput } from '../read/input.ts';
import { LIST_FORMATS } from '../row.ts';
import { writeViews } from '../views/all.ts';
import { type OutputView, viewFormatOf } from '../views/outputs.ts';
import { assertReplaceable, sweepFolders } from '../views/write.ts';
import { equalRows, type Review } from './rows.ts';

export interface ReviewFlags {
  readonly list?: string;
  readonly answers?: string;
  readonly notFound?: true;
  readonly apply?: string;
  readonly undo?: true;
}

/** `write` holds the lock, and checks that the views may be replaced. @throws {AppError} */
export async function openReview(
  app: App,
  name: string,
  flags: ReviewFlags,
  access: 'read' | 'write',
): Promise<Review> {
  const answersPath = findAnswers(app, name, flags.answers);
  const otherAnswers = { text: 'name another file', command: again({ '--answers': slot('file') }) };
  const answers = openAnswersAt(app, { path: answersPath }, access, otherAnswers);
  app.cleanup.add(async () => answers.close());
  const run = findRun(answers, name);
  const folder = dirname(fullPath(app.context, name));
  const isHere = (attempt(() => realpathSync(folder)) ?? folder) === dirname(answersPath);
  /** A file in the folder of the answers, as a person would name it. */
  const beside = (file: string): string => join(isHere ? dirname(name) : dirname(answersPath), file);
  const views = access === 'read' ? [] : run.files.flatMap((file) => viewOf(app, beside(file), run.list));
  sweepFolders(views);
  assertReplaceable(app, views, answers);
  // Refuses a link that leads away, whose hint is another one than that of a list that cannot be read.
  if (flags.list !== undefined) inputPath(app, flags.list);
  const list =
    flags.list === undefined ? findList(app, name, run, beside) : { name: flags.list, isView: false };
  const state = await readState(app, answers, run, list).catch((error: unknown) => {
    throw cannotRead(name, list, error);
  });
  return { name, answers, state, contents: equalRows(state), views, hasOthers: run.elsewhere === true };
}

function findAnswers(app: App, name: string, typed: string | undefined): string {
  if (name === '-') throw usage('a review changes the files of a list, so stdin cannot be used', EXAMPLE);
  const path = inputPath(app, name);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    throw failure('bad_input', `${name} is a folder`, { text: 'name a file in it', ...EXAMPLE });
  const isAnswers = typed === undefined && name.endsWith(ANSWERS_ENDING);
  const own = isAnswers ? path : typed && inputPath(app, typed);
  const found = own ?? answersPathOf([{ name, path, exists: existsSync(path) }]);
  if (existsSync(found)) return found;
  if (!existsSync(path)) throw failure('bad_input', `cannot read ${name}: no such file`, exampleHint(name));
  throw usage(`${name} has no answers: there is no ${basename(found)}`, [
    { text: 'to make it the list of a new run', command: restaurant('enrich', name, '-o', otherName(name)) },
    { text: 'or name its answers', command: again({ '--answers': slot('file') }) },
  ]);
}

const EXAMPLE = { command: again({}, { operands: ['found.csv'] }) };

const exampleHint = (name: string) => ({
  text: 'to make it',
  command: restaurant('enrich', slot('list'), '-o', name),
});

type RememberedRun = RunLine['run'];

/** How the list of a view was brought up to date last. @throws {AppError} `usage` if that is unclear */
function findRun(answers: Answers, name: string): RememberedRun {
  const runs = answers.runs().map(({ run }) => run);
  const own = runs.find(({ files }) => files.includes(basename(name)));
  if (own !== undefined) return own;
  const lists = [...new Map([...runs].reverse().map((run) => [run.list, run])).values()];
  const [only, ...others] = lists;
  const file = basename(answers.path);
  if (only === undefined) throw usage(`${file} does not say how its list was read`, exampleHint('found.csv'));
  if (others.length === 0) return only;
  const views = lists.flatMap(({ files }) => files);
  throw usage(`${file} has answers about ${plural(lists.length, 'list')}, written to ${views.join(', ')}`, {
    text: 'name the view',
    command: again({}, { operands: [views[0] ?? slot('file')] }),
  });
}

function viewOf(app: App, name: string, list: string | null): OutputView[] {
  const format = viewFormatOf(name);
  if (format === undefined) return [];
  const from = list ?? slot('list');
  const command = (file: Word, answers?: Word) =>
    restaurant('enrich', from, '-o', file, ...(answers === undefined ? [] : ['--answers', answers]));
  const ways = (answers?: Word) => [
    { text: 'to use it as the list', command: restaurant('enrich', name, '-o', otherName(name)) },
    { text: 'or write another file', command: command(otherName(name), answers) },
    { text: 'or overwrite it', command: restaurant('enrich', from, '-o', name, '--force') },
  ];
  const target = checkOutputPath(app, name, true, { example: basename(name), command });
  // Answers from a stranger could name a pipe or device.
  if (target.entry === 'device') throw usage(`${name} is not a regular file`, ways());
  return [{ name, format, target, command, ways }];
}

/** The list, or a view that has all of its columns. */
interface ListFile {
  readonly name: string;
  readonly isView: boolean;
}

/** Not a pipe or device, which might never end. */
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

function findList(app: App, name: string, run: RememberedRun, beside: (file: string) => string): ListFile {
  const isThere = (file: string): boolean => isFile(fullPath(app.context, beside(file)));
  if (run.list !== null && isThere(run.list)) return { name: beside(run.list), isView: false };
  const complete = run.replaced === true ? [] : run.files;
  const views = complete.filter(
    (file) => LIST_FORMATS.some((format) => format === viewFormatOf(file)) && isThere(file),
  );
  const view = views.find((file) => file === basename(name)) ?? views[0];
  if (view !== undefined) return { name: beside(view), isView: true };
  throw failure('bad_input', `the list of ${name} is missing: ${run.list ?? 'it was elsewhere'}`, {
    text: 'name it',
    command: again({ '--list': slot('file') }),
  });
}

/** How the list is read. A view of it is written in one way. */
const READING = ['inputFormat', 'sheet', 'headerLine', 'encoding', 'delimiter'];

async function readState(app: App, answers: Answers, run: RememberedRun, list: ListFile): Promise<ListState> {
  const options = Object.entries(run.options).filter(([flag]) => !(list.isView && READING.includes(flag)));
  const flags = rememberedFlags(Object.fromEntries(options));
  const input = openInput(list.name, app.context);
  try {
    const { plan, rows } = await readPlan(app, input, flags, true);
    // What a view says about a row is only a copy of the answers.
    return new ListState(plan, list.isView ? rows.map(({ earlier: _, ...row }) => row) : rows, answers);
  } finally {
    input.close();
  }
}

/** The options that say how a list is read are those of `enrich`. */
function cannotRead(name: string, list: ListFile, error: unknown): unknown {
  if (!(error instanceof AppError && ['usage', 'bad_input'].includes(error.code))) return error;
  const view = name.endsWith(ANSWERS_ENDING) ? slot('file') : name;
  return error.add({
    hint: [
      { text: 'correct the list, or name another one', command: again({ '--list': slot('file') }) },
      { text: 'or say how to read it', command: restaurant('enrich', list.name, '-o', view) },
    ],
  });
}

export async function writeReviewed(app: App, review: Review): Promise<void> {
  const { state, views, answers, hasOthers, name } = review;
  const guard = app.globals.rawCsv !== true && state.plan.flags.rawCsv !== true;
  await writeViews(app, views, state.source(await state.survey(), guard), answers);
  if (!hasOthers) return;
  await app.notes.note(
    `files in other folders are not written; the enrich command that made them writes them again from the answers of ${name}`,
  );
}

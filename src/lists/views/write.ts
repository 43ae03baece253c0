import { createHash } from 'node:crypto';
import { closeSync, lstatSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { App } from '../../app/app.ts';
import { AppError, usage } from '../../errors.ts';
import { again, slot } from '../../hint.ts';
import { openNoFollow, sweepTemps } from '../../storage/files.ts';
import { writeUserFile } from '../../storage/user-files.ts';
import type { Answers } from '../answers.ts';
import type { OutputView } from './outputs.ts';

/** `new`: nothing is there; `ours`: as it was written; `edited`: by hand, since; `stranger`: not written from these answers. */
type Standing = 'new' | 'ours' | 'edited' | 'stranger';

/** Compares the file that is there with all that were written under its name. */
function standingOf({ path, entry }: OutputView['target'], answers: Answers | undefined): Standing {
  if (entry === 'device') return 'ours';
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return 'new';
  const written = answers?.wrote(basename(path)) ?? [];
  if (written.length === 0) return 'stranger';
  return written.includes(checksumOf(path)) ? 'ours' : 'edited';
}

const BLOCK = 1024 * 1024;

function checksumOf(path: string): string {
  const hash = createHash('sha256');
  const file = openNoFollow(path, 0);
  try {
    const block = Buffer.allocUnsafe(BLOCK);
    for (let length = readSync(file, block); length > 0; length = readSync(file, block))
      hash.update(block.subarray(0, length));
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

const PROBLEMS: Readonly<Partial<Record<Standing, string>>> = {
  edited: 'was changed by hand',
  stranger: 'exists',
};

/** Refuses to replace what a person has written or changed. @throws {AppError} `usage` */
export function assertReplaceable(
  app: App,
  views: readonly OutputView[],
  answers: Answers | undefined,
): void {
  if (app.globals.force === true) return;
  for (const view of views) {
    const standing = standingOf(view.target, answers);
    const problem = PROBLEMS[standing];
    const known = standing === 'edited' && answers !== undefined ? answersName(view, answers) : undefined;
    if (problem !== undefined) throw usage(`${view.name} ${problem}`, view.ways(known));
  }
}

/** The answers file of a view, as a person would name it. */
function answersName({ name, target }: OutputView, { path }: Answers): string {
  return dirname(path) === dirname(target.path) ? join(dirname(name), basename(path)) : path;
}

type Content = AsyncIterable<string | Uint8Array>;

/**
 * Writes a view as a whole. Its checksum is recorded before it is put in place, so that after a kill it is known as ours.
 * A view that is there already stays as it is. @returns whether it has changed
 * @throws {AppError} `io_error`; `in_use`; `usage` if it was changed by hand meanwhile
 */
export async function writeView(
  app: App,
  view: OutputView,
  content: Content,
  answers: Answers,
): Promise<boolean> {
  const { target } = view;
  let hasChanged = false;
  const hash = createHash('sha256');
  async function* hashed(): Content {
    for await (const part of content) {
      hash.update(part);
      yield part;
    }
  }
  // Not interrupted by a signal, after which the rows so far are written.
  const signal = new AbortController().signal;
  const confirm = (): boolean => {
    const sha256 = hash.digest('hex');
    const isOurs = target.entry === 'file' && standingOf(target, answers) === 'ours';
    if (isOurs && checksumOf(target.path) === sha256) return false;
    assertReplaceable(app, [view], answers);
    answers.addWrote({ file: basename(target.path), sha256 });
    hasChanged = true;
    return true;
  };
  try {
    await writeUserFile(target, hashed(), { signal, confirm });
    return hasChanged;
  } catch (error) {
    throw error instanceof AppError && error.kind === 'local' ? notWritten(view, error, answers) : error;
  }
}

function notWritten(view: OutputView, error: AppError, answers: Answers): AppError {
  const { name, command } = view;
  if (error.code === 'in_use')
    return error.add({
      hint: { text: `close ${name} and run the same command; nothing is asked again`, command: again() },
    });
  return error.add({
    hint: {
      text: 'the answers are kept; write another file',
      command: command(slot('file'), answersName(view, answers)),
    },
  });
}

/** Deletes what killed runs have left in the folders of views. Called under the lock of their answers. */
export function sweepFolders(views: readonly OutputView[]): void {
  for (const folder of new Set(views.map(({ target }) => dirname(target.path)))) sweepTemps(folder);
}

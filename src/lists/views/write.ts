import { createHash } from 'node:crypto';
import { closeSync, lstatSync, readSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { App } from '../../app/app.ts';
import { AppError, usage } from '../../errors.ts';
import { again, type Hint, slot } from '../../hint.ts';
import { openNoFollow, sweepTemps } from '../../storage/files.ts';
import { writeUserFile } from '../../storage/user-files.ts';
import type { Answers } from '../answers.ts';
import type { OutputView } from './outputs.ts';

/** `new`: nothing is there; `ours`: as it was written; `edited`: by hand, since; `stranger`: not written from these answers. */
type Standing = 'new' | 'ours' | 'edited' | 'stranger';

/** Compares the file that is there with all that were written under its name. */
export function standingOf({ path, entry }: OutputView['target'], answers: Answers | undefined): Standing {
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

/**
 * Refuses, before a request is sent, to replace what a person has written or changed.
 * @param hints how to go on without the file
 * @throws {AppError} `usage`
 */
export function assertReplaceable(
  app: App,
  views: readonly OutputView[],
  answers: Answers | undefined,
): void {
  if (app.globals.force === true) return;
  for (const view of views) {
    const standing = standingOf(view.target, answers);
    if (standing === 'edited') throw usage(`${view.name} was changed by hand`, waysOn(view, views));
    if (standing === 'stranger') throw usage(`${view.name} exists`, waysOn(view, views));
  }
}

/** Another file, overwriting it, or the file as the list. */
function waysOn({ name, format }: OutputView, views: readonly OutputView[]): Hint {
  const other = name.replace(/(\.\w+)?$/, '-2$1');
  const others = views.map((each) => (each.name === name ? other : each.name));
  const isList = ['csv', 'tsv', 'ndjson', 'geojson', 'xlsx', 'parquet'].includes(format);
  return [
    { text: 'write another file', command: again({ '--output': others }) },
    { text: 'or overwrite it', command: again({ '--force': true }) },
    ...(isList
      ? [
          {
            text: 'or use it as the list',
            command: again({ '--output': others }, { operands: [name] }),
          },
        ]
      : []),
  ];
}

type Content = AsyncIterable<string | Uint8Array>;

/**
 * Writes a view as a whole. Its checksum is recorded before it is put in place, so that after a kill it is known as ours.
 * A view that is there already stays as it is.
 * @throws {AppError} `io_error`; `in_use`; `usage` if it was changed by hand meanwhile
 */
export async function writeView(
  app: App,
  view: OutputView,
  content: Content,
  answers: Answers | undefined,
  views: readonly OutputView[],
): Promise<void> {
  const { target, name } = view;
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
    const standing = standingOf(target, answers);
    if (standing === 'ours' && target.entry === 'file' && checksumOf(target.path) === sha256) return false;
    if (app.globals.force !== true && standing !== 'new' && standing !== 'ours')
      throw usage(`${name} was changed meanwhile`, waysOn(view, views));
    answers?.addWrote({ file: basename(target.path), sha256 });
    return true;
  };
  try {
    await writeUserFile(target, hashed(), { signal, confirm });
  } catch (error) {
    throw error instanceof AppError && error.kind === 'local' ? notWritten(view, error) : error;
  }
}

function notWritten({ name }: OutputView, error: AppError): AppError {
  if (error.code === 'in_use')
    return error.add({
      hint: { text: `close ${name} and run the same command; nothing is asked again`, command: again() },
    });
  return error.add({
    hint: { text: 'the answers are kept; write another file', command: again({ '--output': slot('file') }) },
  });
}

/** Deletes what killed runs have left in the folders of views. Called under the lock of their answers. */
export function sweepFolders(views: readonly OutputView[]): void {
  for (const folder of new Set(views.map(({ target }) => dirname(target.path)))) sweepTemps(folder);
}

import { readdirSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import type { App } from '../app/app.ts';
import { checkOutputPath } from '../app/output-file.ts';
import { DEMO, type Target } from '../app/target.ts';
import { attempt, usage } from '../errors.ts';
import { again, type Hint, slot, type Word } from '../hint.ts';
import { type Answers, openAnswers } from './answers.ts';
import type { OutputView } from './views/outputs.ts';

export const ANSWERS_ENDING = '.answers.ndjson';

/** A file that was or will be written from answers. */
interface ViewPath {
  readonly name: string;
  readonly path: string;
  readonly exists: boolean;
}

/** @param typed with `--answers` @param service undefined for any @throws {AppError} `in_use`, `usage`, `io_error` */
export function openListAnswers(
  app: App,
  views: readonly OutputView[],
  typed: string | undefined,
  access: 'read' | 'write',
  service: string | undefined,
): Answers {
  const paths = views.map(({ name, target: { path, entry } }) => ({ name, path, exists: entry === 'file' }));
  const path = typed === undefined ? answersPathOf(paths) : answersTarget(app, typed, paths);
  return openAnswersAt(app, { path, service }, access);
}

const OTHER_OUTPUT: Hint = { text: 'write another file', command: again({ '--output': slot('file') }) };

/** @throws {AppError} `in_use`, `usage`, `io_error` */
export function openAnswersAt(
  app: App,
  { path, service }: { readonly path: string; readonly service?: string | undefined },
  access: 'read' | 'write',
  hint = OTHER_OUTPUT,
): Answers {
  const warn = (message: string): void => void app.notes.warn(message, true);
  return openAnswers(path, { service, access, context: app.context, warn, hint });
}

/** Endpoint without user, password, and query: what an answers file says about its service. */
export function answersService({ url, demo }: Pick<Target, 'url' | 'demo'>): string {
  return demo ? DEMO : `${url.origin}${url.pathname}`;
}

/** The file of `--answers` to write. @throws {AppError} `usage` for no name or that of a view; as {@link checkOutputPath} */
function answersTarget(app: App, typed: string, views: readonly ViewPath[]): string {
  const example = `found${ANSWERS_ENDING}`;
  const command = (file: Word) => again({ '--answers': file });
  if (typed === '') throw usage('--answers needs the name of a file', { command: command(example) });
  const { path } = checkOutputPath(app, typed, true, { example, command });
  if (!views.some((view) => view.path === path)) return path;
  throw usage(`${typed} cannot be an output and have the answers`, { command: command(example) });
}

/** The file that a view leads to, or the one named after the first view. @throws {AppError} `usage` for several */
export function answersPathOf(views: readonly ViewPath[]): string {
  const found = new Map(views.flatMap((view) => pathsFor(view).map((path) => [path, view] as const)));
  const [only, ...others] = found.keys();
  if (only !== undefined && others.length === 0) return only;
  if (only !== undefined) {
    const names = [...found.keys()].map((path) => basename(path)).join(' and ');
    throw usage(
      `${names} both have answers about ${[...new Set([...found.values()].map(({ name }) => name))].join(' and ')}`,
      {
        text: 'name the one to use',
        command: again({ '--answers': basename(only) }),
      },
    );
  }
  return named(views[0]?.path ?? '');
}

const named = (path: string): string => path.slice(0, path.length - extname(path).length) + ANSWERS_ENDING;

/** The answers file of its name; else, if the view exists, those in its folder that have written it. */
function pathsFor({ path, exists }: ViewPath): string[] {
  const own = named(path);
  const folder = dirname(path);
  const names = attempt(() => readdirSync(folder)) ?? [];
  if (names.includes(basename(own))) return [own];
  if (!exists) return [];
  const others = names.filter((name) => name.endsWith(ANSWERS_ENDING)).map((name) => join(folder, name));
  return others.filter((each) => attempt(() => hasWritten(each, basename(path))) === true);
}

function hasWritten(answersPath: string, file: string): boolean {
  const context = { now: () => 0 };
  const answers = openAnswers(answersPath, { service: undefined, access: 'read', context, warn: () => {} });
  try {
    return answers.wrote(file).length > 0;
  } finally {
    answers.close();
  }
}

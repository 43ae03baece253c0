import { join } from 'node:path';
import { configuredEndpoint, needsDemo, requireEndpoint } from '../app/address.ts';
import type { App } from '../app/app.ts';
import { stayWithDemo } from '../app/last-results.ts';
import { DEMO } from '../app/target.ts';
import { attempt, failure } from '../errors.ts';
import { type Hint, system } from '../hint.ts';
import { fieldsOf } from '../output/fields.ts';
import { perform } from '../storage/files.ts';
import { OwnFolder } from '../storage/store.ts';
import type { JsonObject } from '../util/json.ts';
import { type Answers, openAnswers } from './answers.ts';
import { knownRecord, nameIn } from './changes.ts';

export interface SavedRestaurant {
  readonly id: string;
  readonly name: string;
  readonly note: string | undefined;
  /** Milliseconds since the epoch. */
  readonly savedAt: number;
  /** When it was last looked up. */
  readonly checkedAt: number | undefined;
  readonly isGone: boolean;
  /** Each field as last seen. */
  readonly record: JsonObject;
}

const OTHER_FOLDER: Hint = { text: 'set RESTAURANT_DATA_DIR to a folder that only you can write to' };
const FILE_NAME = /^saved-(.+)\.answers\.ndjson$/;

/**
 * Opens the saved restaurants of this run's service, or without one, those of the only service that has any.
 * @throws {AppError} `io_error` if there is no home folder; `no_service` if several services have saved restaurants
 */
export function openSaved(app: App, access: 'read' | 'share', isQuiet = false): Answers {
  const { dataDir } = app.paths;
  if (dataDir === undefined) {
    throw failure('io_error', 'no folder for saved restaurants: the home folder is unknown', {
      text: 'set HOME or RESTAURANT_DATA_DIR',
    });
  }
  const folder = new OwnFolder(dataDir);
  if (access === 'share') perform('write', dataDir, () => folder.create(), OTHER_FOLDER);
  const service = serviceOf(app);
  const path = join(dataDir, `saved-${fileNameOf(service ?? onlyService(app, folder))}.answers.ndjson`);
  const answers = openAnswers(path, {
    ...{ service, access, context: app.context },
    warn: (message) => void (isQuiet || app.notes.warn(message)),
    hint: { text: 'correct it, or start over', command: system('mv', path, `${path}.bak`) },
    ioHint: OTHER_FOLDER,
  });
  app.cleanup.add(async () => answers.close());
  return answers;
}

/** Host and port: another path or protocol is the same service. */
const serviceOf = (app: App): string | undefined =>
  app.globals.demo === true ? DEMO : configuredEndpoint(app)?.url.host;

const fileNameOf = (service: string): string => service.replace(/:(?=\d+$)/, '-').replace(/[^\w.-]/g, '_');

const savedServices = (folder: OwnFolder): string[] =>
  folder
    .names(FILE_NAME)
    .flatMap((name) => FILE_NAME.exec(name)?.[1] ?? [])
    .filter((service) => service !== DEMO);

function onlyService(app: App, folder: OwnFolder): string {
  const [only = '', ...others] = savedServices(folder);
  if (others.length > 0 || app.globals.profile !== undefined) requireEndpoint(app);
  return only;
}

/** Without a service, uses the saved restaurants of the sample data after a search in it, unless there are others. */
export async function stayWithSavedDemo(app: App): Promise<void> {
  const { dataDir } = app.paths;
  const hasOthers = dataDir !== undefined && savedServices(new OwnFolder(dataDir)).length > 0;
  if (needsDemo(app) && !hasOthers) await stayWithDemo(app, []);
}

/** The saved restaurants, those saved first at the top. */
export function savedRestaurants(answers: Answers): SavedRestaurant[] {
  const saves = new Map<string, ReturnType<Answers['saves']>>();
  for (const line of answers.saves()) saves.set(line.save.id, [...(saves.get(line.save.id) ?? []), line]);
  return [...saves.entries()]
    .reverse()
    .map(([id, lines]) => {
      const about = [...answers.history(id)];
      const record = knownRecord(about);
      return {
        id,
        name: nameIn(record) ?? id,
        note: lines[0]?.note,
        savedAt: lines.at(-1)?.at ?? 0,
        checkedAt: about.find(({ level }) => level !== 'search')?.at,
        isGone: about[0]?.record === null,
        record,
      };
    })
    .sort((a, b) => a.savedAt - b.savedAt);
}

/** None if the file cannot be used: it must not prevent a lookup. */
export const savedIfReadable = (app: App): readonly SavedRestaurant[] =>
  attempt(() => savedRestaurants(openSaved(app, 'read', true))) ?? [];

const isoTime = (ms: number | undefined): string | null =>
  ms === undefined ? null : new Date(ms).toISOString();

/** The fields as last seen, and those that this program adds. The names of the fields of details are not documented. */
export function recordOf({ id, record, note, savedAt, checkedAt, isGone }: SavedRestaurant): JsonObject {
  const { name, grade } = fieldsOf(record, undefined).known;
  return {
    ...record,
    ...{ service_id: id, name: name?.[1] ?? null, grade: grade?.[1] ?? null, note: note ?? null },
    ...{ gone: isGone, saved_at: isoTime(savedAt), checked_at: isoTime(checkedAt) },
  };
}

import type { App } from '../../app/app.ts';
import { chooseAction, type KeyAction, show } from '../../app/keys.ts';
import { renderDocument, showPage, storePage } from '../../app/page.ts';
import { cachedDetails } from '../../app/responses.ts';
import type { Service } from '../../app/service.ts';
import { LEVELS, TOOLS } from '../../client/tools.ts';
import type { Level, Lookup } from '../../client/types.ts';
import { AppError } from '../../errors.ts';
import { type Command, restaurant } from '../../hint.ts';
import { removeSaved, saveIds } from '../../lists/save.ts';
import { openSaved } from '../../lists/saved.ts';
import { PLACE } from '../../output/fields.ts';
import { pick } from '../../output/records.ts';
import { lookupPresentation, renderLookup } from '../../output/render/lookup.ts';
import type { JsonObject } from '../../util/json.ts';
import { cleanLine } from '../../util/text.ts';
import type { Chooser } from './choose.ts';
import type { Choice } from './rows.ts';

/** The state that the cards of a run share. */
export interface Visit {
  readonly app: App;
  readonly chooser: Chooser;
  readonly service: () => Promise<Service>;
  /** IDs of the saved restaurants. */
  readonly saved: Set<string>;
  /** The commands that do the same. */
  readonly commands: Command[];
  /** Details of this level are looked up at once. */
  readonly fields: Level | undefined;
}

interface Card {
  readonly choice: Choice;
  /** Undefined while only the row is known. */
  level: Level | undefined;
  details: JsonObject | undefined;
}

/** Shows a restaurant until the person leaves. */
export async function showCard(visit: Visit, choice: Choice): Promise<'back' | 'quit'> {
  const { app, chooser, fields } = visit;
  const cached = app.globals.demo === true ? undefined : cachedDetails(app, choice.id);
  const card: Card = { choice, level: cached?.level, details: cached?.details };
  if (fields !== undefined && isRicher(fields, card.level)) await lookUp(visit, card, fields);
  await printCard(app, card);
  for (;;) {
    const way = await chooseAction(actionsOf(visit, card), chooser.readKey);
    if (way !== undefined) return way;
  }
}

const isRicher = (level: Level, known: Level | undefined): boolean =>
  known === undefined || LEVELS.indexOf(level) > LEVELS.indexOf(known);

type Way = 'back' | 'quit' | undefined;

/** The actions of the keys of a card; undefined keeps it. */
function actionsOf(visit: Visit, card: Card): KeyAction<Way>[] {
  const level = LEVELS.find((each) => isRicher(each, card.level));
  const action = (key: string, text: string, does: (visit: Visit, card: Card) => Promise<void>) => ({
    keys: [key],
    text: `${key} ${text}`,
    act: () => does(visit, card).then(() => undefined),
  });
  const more = async () => {
    if (level !== undefined && (await lookUp(visit, card, level))) await printCard(visit.app, card);
  };
  return [
    visit.saved.has(card.choice.id) ? action('u', 'unsave', unsave) : action('s', 'save', save),
    action('o', 'open page', openPage),
    action('c', 'address', printAddress),
    ...(level === undefined ? [] : [action('m', `${level === 'basic' ? 'more' : level} details`, more)]),
    { keys: ['b', 'escape'], text: 'b back', act: () => 'back' },
    { keys: ['q', 'enter', 'ctrl-d'], text: 'q quit', act: () => 'quit' },
  ];
}

async function save({ app, saved, commands }: Visit, { choice: { id, record } }: Card): Promise<void> {
  await saveIds(app, [id], undefined);
  saved.add(id);
  commands.push(restaurant('save', id));
  await show(app, [`${nameOf(record, id)} is saved`]);
}

async function unsave({ app, saved, commands }: Visit, { choice: { id, record } }: Card): Promise<void> {
  await removeSaved(openSaved(app, 'share'), [id]);
  saved.delete(id);
  commands.push(restaurant('unsave', id));
  await show(app, [`${nameOf(record, id)} is no longer saved`]);
}

async function openPage({ app, commands }: Visit, card: Card): Promise<void> {
  const page = await lookupPresentation(outcomesOf(card), true, app.context.now()).page?.();
  if (page === undefined) return;
  const path = storePage(app, page.heading, await renderDocument(app, page));
  commands.push(restaurant('lookup', card.choice.id, '--open'));
  await show(app, [path]);
  await showPage(app, path);
}

/** Not with OSC 52: the terminal never says whether it changed the clipboard. */
async function printAddress({ app }: Visit, card: Card): Promise<void> {
  const { address } = outputOf(card);
  const isKnown = typeof address === 'string' && address !== '';
  await show(app, [isKnown ? cleanLine(address) : 'no address is known']);
}

const nameOf = ({ name }: JsonObject, id: string): string => cleanLine(typeof name === 'string' ? name : id);

/** Reports a failure, after which the card stays. */
async function lookUp({ app, service, commands }: Visit, card: Card, level: Level): Promise<boolean> {
  const { id } = card.choice;
  try {
    const opened = await service();
    const call = opened.call(TOOLS.lookup, { id, level });
    const { value } = await app.notes.withSpinner(`looking up ${id}`, call);
    Object.assign(card, { level, details: value });
    commands.push(restaurant('lookup', id, ...(level === 'basic' ? [] : ['--fields', level])));
    return true;
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted') throw error;
    await show(app, [cleanLine(error.message)]);
    return false;
  }
}

const outputOf = ({ choice: { record }, details }: Card): JsonObject =>
  details === undefined ? record : { ...pick(record, PLACE), ...details };

const outcomesOf = (card: Card): Lookup[] => [{ restaurantId: card.choice.id, output: outputOf(card) }];

async function printCard(app: App, card: Card): Promise<void> {
  const { columns } = app.context.stderr;
  const view = { width: columns, palette: app.terminal.palette('stderr'), unicode: app.terminal.unicode };
  await show(app, ['', renderLookup(outcomesOf(card), undefined, view), '']);
}

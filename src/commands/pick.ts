import { needsDemo, requireEndpoint } from '../app/address.ts';
import type { App } from '../app/app.ts';
import { refuseKey } from '../app/credentials.ts';
import { lastSearch, stayWithDemo } from '../app/last-results.ts';
import { exampleSearch } from '../app/seen-results.ts';
import type { CliCommand } from '../cli/command.ts';
import { LEVELS } from '../client/tools.ts';
import { type Command, restaurant } from '../hint.ts';
import { nonEmpty } from '../settings/values.ts';
import { checkResultOptions, resultOptions } from './find/refine.ts';
import type { PickOptions } from './pick/visit.ts';

export function registerPick(command: CliCommand, app: App): void {
  command.suggest = async () => {
    const { args } = command;
    if (!app.terminal.canChoose)
      return { command: await otherCommand(app, args, command.opts<PickOptions>().city) };
    if (args.length === 0) return undefined;
    return { command: (await import('../app/city.ts')).citySearch(app, args) };
  };
  const described = command
    .about('Search, choose with the keyboard, and show, save, or open')
    .argument(
      '[words...]',
      'Name to search for; without one, choose from your last search and saved restaurants',
    )
    .valueOption('-c, --city <city>', 'City to search in (default: your saved city)', { read: nonEmpty });
  resultOptions(described)
    .valueOption('--fields <level>', 'Include details of the chosen restaurant', {
      choices: LEVELS.filter((level) => level !== 'basic'),
    })
    .usesOptions('service', 'request', 'cache', 'format')
    .overrideOption('--format', { choices: ['table', 'list'], defaultText: 'table' })
    .examples('restaurant pick nopa --city SF --demo', 'restaurant pick')
    .notes(
      'Typing filters what is on the screen, Enter sends one search, and 1 to 9 choose a row. Then s saves the ' +
        'restaurant (u removes it), o opens its page, c prints the address, m shows more details, b goes back, and q ' +
        'quits. The ID goes to stdout, and the commands that do the same to stderr: restaurant pick | restaurant ' +
        'lookup -. With --format list or RESTAURANT_SPINNER=off, nothing is repainted, and each answer is a line.',
    )
    .action((words: string[], options: PickOptions) => runPick(app, words, options));
}

const isText = (words: readonly string[]): boolean => words.join('').trim() !== '';

/** The command that needs no terminal. */
async function otherCommand(app: App, words: readonly string[], city: string | undefined): Promise<Command> {
  if (!isText(words)) return lastSearch(app) === undefined ? exampleSearch(app) : restaurant('last');
  const { searchCommand } = await import('./pick/visit.ts');
  return searchCommand(app, words, city);
}

async function runPick(app: App, words: readonly string[], options: PickOptions): Promise<void> {
  checkResultOptions(options);
  refuseKey(app, 'the name or the city', [...words, options.city ?? '']);
  const { assertCanChoose } = await import('./pick/choose.ts');
  const { openVisit, pickOne } = await import('./pick/visit.ts');
  const isSearch = isText(words);
  assertCanChoose(app, await otherCommand(app, words, options.city));
  if (!isSearch && needsDemo(app)) await stayWithDemo(app, []);
  if (app.globals.demo !== true) requireEndpoint(app);
  const visit = openVisit(app, options);
  const id = await pickOne(visit, isSearch ? words : []);
  await app.notes.flush();
  if (id !== undefined) await app.context.stdout.write(`${id}\n`);
  for (const command of visit.commands) await app.notes.note({ text: 'same as', command });
}

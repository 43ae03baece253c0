import { isHarmless } from '../client/http/headers.ts';
import type { Hint, TypedLine, TypedOption, Word } from '../hint.ts';
import { commandText, type HintRun, hintText } from '../output/hint-text.ts';
import type { App } from './app.ts';
import { completeHint } from './command-line.ts';

/** Formats a hint for the terminal of this run, with the service options and words that were typed. */
export function hintOf(app: App, hint: Hint): string {
  const run: HintRun = { typed: typedCommandLine(app), platform: app.context.platform };
  return completeHint(app, hintText(hint, run));
}

/** Returns the command line of this run as it may be printed: without secrets. */
export function typedCommandLine(app: App): TypedLine | undefined {
  const { program, context } = app;
  const line = program?.line;
  if (line === undefined) return undefined;
  const typed = { ...line, options: line.options.map(withoutSecret) };
  const text = commandText({ again: {} }, { typed, platform: context.platform });
  // A word may look like a key.
  return app.redact(text) === text ? typed : { ...line, operands: [{ slot: '…' }], options: [] };
}

function withoutSecret({ flag, value }: TypedOption): TypedOption {
  if (typeof value !== 'string') return { flag, value };
  return { flag, value: flag === '--header' ? withoutHeaderValue(value) : withoutCredentials(value) };
}

function withoutHeaderValue(text: string): Word {
  const [before = '', name = ''] = /^([\w-]+): ?/.exec(text) ?? [];
  if (isHarmless(name)) return text;
  const variable = name === '' ? 'HEADER' : name.toUpperCase().replaceAll('-', '_');
  return { before, variable, after: '' };
}

/** Replaces user name and password in a URL. */
function withoutCredentials(text: string): Word {
  const [, before, after] = /^(.*?:\/\/)[^/]*(@.*)$/s.exec(text) ?? [];
  return before === undefined || after === undefined ? text : { before, variable: 'CREDENTIALS', after };
}

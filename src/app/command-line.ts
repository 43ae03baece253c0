import { isHarmless } from '../client/http/headers.ts';
import type { Hint, TypedOption } from '../hint.ts';
import { shellWord, splitWords } from '../util/shell.ts';
import { maskUrl } from '../util/url.ts';
import type { App } from './app.ts';
import { hintOf } from './hints.ts';

/**
 * Returns the command line of this run, quoted for a shell. Headers and passwords that may be secret are replaced by
 * variables.
 * @param options options to add, which replace those that were typed
 * @param dropped long names of options to leave out
 */
export function commandLine({ program }: App, options = '', dropped: readonly string[] = []): string {
  if (program === undefined) return 'restaurant';
  const { command, operands, options: typed } = program.line;
  const added = splitWords(options) ?? [];
  const replaced = new Set([...dropped, ...added.map((word) => program.longName(word))]);
  const own = operands.map((word) => withoutCredentials(String(word)));
  const isOptionLike = operands.some((word) => /^-\D/.test(String(word)));
  const kept = typed.filter(({ flag }) => !replaced.has(flag)).map(optionText);
  const words = isOptionLike ? [...kept, options, '--', ...own] : [...own, ...kept, options];
  return ['restaurant', ...command, ...words].filter((word) => word !== '').join(' ');
}

function optionText({ flag, value }: TypedOption): string {
  if (value === undefined) return flag;
  const text = String(value);
  const name = flag === '--output' ? '-o' : flag;
  if (flag !== '--header') return `${name}${text.startsWith('-') ? '=' : ' '}${withoutCredentials(text)}`;
  const [, header = '', colon = ''] = /^([\w-]+)(: ?)/.exec(text) ?? [];
  if (isHarmless(header)) return `${flag} ${shellWord(text)}`;
  const variable = header === '' ? 'HEADER' : header.toUpperCase().replaceAll('-', '_');
  return `${flag} "${header}${colon}\${${variable}}"`;
}

function withoutCredentials(word: string): string {
  const masked = maskUrl(word);
  if (masked === word) return shellWord(word);
  return `"${masked.replace(/["\\$`]/g, '\\$&').replaceAll('…', '${CREDENTIALS}')}"`;
}

/** A command in a hint that has `…` in place of its arguments, and the options that follow. */
const OPEN_COMMAND = /\brestaurant (?:(enrich) )?… (-(?:'[^']*'|\\.|(?![,;] )[^'\\])*)/g;

/** Formats a hint for this run. */
export const fullHint = (app: App, hint: Hint): string => completeHint(app, hintOf(app, hint));

/** Completes the commands in a hint so that they work as printed: adds the arguments and service options of this run. */
export function completeHint(app: App, hint: string): string {
  const line = commandLine(app);
  // An argument may look like a key.
  const complete =
    app.secrets.redact(line) !== line
      ? hint
      : hint.replace(OPEN_COMMAND, (text, name: string | undefined, options: string) =>
          name === undefined || name === app.program?.line.command.join(' ')
            ? commandLine(app, options)
            : text,
        );
  return withServiceOptions(app, complete);
}

function withServiceOptions({ globals }: App, hint: string): string {
  const { demo, profile, baseUrl, endpoint, insecureHttp } = globals;
  const typed = [
    demo && '--demo',
    profile && `--profile ${shellWord(profile)}`,
    baseUrl && maskUrl(baseUrl) === baseUrl && `--base-url ${shellWord(baseUrl)}`,
    endpoint && maskUrl(endpoint) === endpoint && `--endpoint ${shellWord(endpoint)}`,
    insecureHttp && '--insecure-http',
  ];
  const options = typed.filter((option) => typeof option === 'string');
  return hint.replace(
    /\brestaurant (find|lookup|tools|call|status|login|enrich)\b(?! --help)/g,
    (command, name, offset: number) => {
      const [clause = ''] = hint.slice(offset).split(/; | && |, or /, 1);
      const missing = options.filter((option) => !clause.includes(String(option).split(' ', 1)[0] ?? ''));
      return [command, ...missing.filter((option) => name !== 'login' || option !== '--demo')].join(' ');
    },
  );
}

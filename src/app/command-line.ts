import { type Part, parseRoute } from '../cli/route.ts';
import { isHarmless } from '../client/http/headers.ts';
import { shellWord, splitWords } from '../util/shell.ts';
import { maskUrl } from '../util/url.ts';
import type { App } from './app.ts';

const URL_FLAGS = ['--base-url', '--endpoint', '--shared-state'];

/**
 * Returns the command line of this run, quoted for a shell. Headers and passwords that may be secret are replaced by
 * variables.
 * @param options options to add, which replace those that were typed
 * @param dropped long names of options to leave out
 */
export function commandLine({ route }: App, options = '', dropped: readonly string[] = []): string {
  const { path: [program, ...commands] = [], parts = [], rest = [] } = route ?? {};
  const added = [...commands.map((command) => command.name()), ...(splitWords(options) ?? [])];
  const replaced = new Set([...dropped, ...(program === undefined ? [] : parseRoute(added, program).given)]);
  const kept = parts.filter(({ flags }) => flags.length === 0 || flags.some((flag) => !replaced.has(flag)));
  const words = ['restaurant', ...kept.flatMap(shellWords), options, ...rest.map(shellWord)];
  return words.filter((word) => word !== '').join(' ');
}

function shellWords({ words, flags, value = '' }: Part): string[] {
  const flag = flags.at(-1) ?? '';
  if (URL_FLAGS.includes(flag) && maskUrl(value) !== value) return [flag, withoutCredentials(value)];
  if (flag !== '--header') {
    return words.map((word) => (word.includes('://') ? withoutCredentials(word) : shellWord(word)));
  }
  const [, name = '', colon = ''] = /^([\w-]+)(: ?)/.exec(value) ?? [];
  if (isHarmless(name)) return words.map(shellWord);
  const variable = name === '' ? 'HEADER' : name.toUpperCase().replaceAll('-', '_');
  return [...flags.slice(0, -1), '--header', `"${name}${colon}\${${variable}}"`];
}

function withoutCredentials(word: string): string {
  const masked = maskUrl(word);
  if (masked === word) return shellWord(word);
  return `"${masked.replace(/["\\$`]/g, '\\$&').replaceAll('…', '${CREDENTIALS}')}"`;
}

/** A command in a hint that has `…` in place of its arguments, and the options that follow. */
const OPEN_COMMAND = /\brestaurant (?:(enrich) )?… (-(?:'[^']*'|\\.|(?![,;] )[^'\\])*)/g;

/** Completes the commands in a hint so that they work as printed: adds the arguments and service options of this run. */
export function completeHint(app: App, hint: string): string {
  const line = commandLine(app);
  // An argument may look like a key.
  const complete =
    app.redact(line) !== line
      ? hint
      : hint.replace(OPEN_COMMAND, (text, name: string | undefined, options: string) =>
          name === undefined || name === app.route?.command.path ? commandLine(app, options) : text,
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
    /\brestaurant (find|lookup|tools|call|status|login|enrich)\b/g,
    (command, name, offset: number) => {
      const [clause = ''] = hint.slice(offset).split(/; | && |, or /, 1);
      const missing = options.filter((option) => !clause.includes(String(option).split(' ', 1)[0] ?? ''));
      return [command, ...missing.filter((option) => name !== 'login' || option !== '--demo')].join(' ');
    },
  );
}

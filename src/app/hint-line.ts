import { isHarmless } from '../client/http/headers.ts';
import type { Hint, TypedLine, Word } from '../hint.ts';
import { type HintRun, hintText } from '../output/hint-text.ts';
import { maskUrl } from '../util/url.ts';

interface Hinted {
  readonly settings: { readonly hasNoService: boolean };
  readonly program: { readonly line: TypedLine } & Required<Pick<HintRun, 'traitsOfCommand'>>;
  readonly context: { readonly platform: NodeJS.Platform };
  readonly secrets: { redact(text: string): string };
}

export const hintLine = (run: Hinted, hint: Hint): string =>
  hintText(hint, {
    typed: typedCommandLine(run),
    platform: run.context.platform,
    traitsOfCommand: (command) => run.program.traitsOfCommand(command),
    needsDemo: run.settings.hasNoService,
  });

/** Returns the command line of this run as it may be printed: without secrets, and words that look like a key. */
function typedCommandLine(run: Hinted): TypedLine {
  const { command, operands, options } = run.program.line;
  const printable = (word: Word): Word =>
    typeof word === 'string' && run.secrets.redact(word) !== word ? { slot: '…' } : word;
  return {
    command,
    operands: operands.map((word) => printable(withoutCredentials(word))),
    options: options.map(({ flag, value, rivals }) => ({
      flag,
      rivals,
      value: value === undefined ? undefined : printable(withoutSecret(flag, value)),
    })),
  };
}

const URL_OPTIONS = ['--base-url', '--endpoint', '--shared-state'];

const withoutSecret = (flag: string, value: Word): Word =>
  flag === '--header' ? withoutHeaderValue(value) : withoutCredentials(value, URL_OPTIONS.includes(flag));

function withoutHeaderValue(value: Word): Word {
  const [before = '', name = ''] = /^([\w-]+): ?/.exec(String(value)) ?? [];
  if (isHarmless(name)) return value;
  const variable = name === '' ? 'HEADER' : name.toUpperCase().replaceAll('-', '_');
  return { before, variable, after: '' };
}

function withoutCredentials(word: Word, isUrl = false): Word {
  if (typeof word !== 'string' || !(isUrl || word.includes('://'))) return word;
  const masked = maskUrl(word);
  const [before = '', after = ''] = masked.split('…');
  return masked === word ? word : { before, variable: 'CREDENTIALS', after };
}

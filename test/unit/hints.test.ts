import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { shellWord } from '../../src/util/shell.ts';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/**
 * Expressions that a command in a hint may contain without quotes: our own words (options, names of settings, clients and
 * profiles, numbers, commands from our functions). Text from the service, a file or the user must go through shellWord.
 */
const OWN_WORDS: readonly string[] = [
  "scope === 'user' ? ",
  'app.globals.demo === true ? ',
  'toFile ? ',
  "choices.join(', ')",
  "names.join(', ')",
  "names.join(' and ')",
  "SETTING_NAMES.join(', ')",
  'MAX_RANGE',
  'base_url',
  'call',
  'check',
  'city',
  'client.name',
  'client.user === undefined ? ',
  'column',
  'count',
  'didYouMean(name, names)',
  'didYouMean(name, names, 1)',
  'didYouMean(wanted, SETTING_NAMES)',
  'endpoint.origin',
  'fields',
  'flag',
  'formatDuration(retryAfter * 1000)',
  'help',
  'keys.paid',
  'loginCommand(app)',
  'more',
  'name',
  'near',
  'next',
  'found[0]',
  'option',
  'options',
  "options.join('')",
  'other',
  'path.file',
  'plain',
  "problem ?? 'restaurant login'",
  'profile',
  'protocol',
  'settings.profileOption',
  'stdio',
  'systemCaHint()',
  'variableName',
];

const isQuoted = (expression: string): boolean =>
  expression.includes('shellWord(') || expression.includes('map(shellWord)');

/** Returns the expressions in templates that contain a command of this program. */
function expressionsOfCommands(text: string): string[] {
  const templates = text.match(/`(?:[^`\\]|\\.)*`/gs) ?? [];
  return templates
    .filter((template) =>
      /\brestaurant (?:find|lookup|call|raw|tools|enrich|config|login|status|mcp|skill)\b/.test(template),
    )
    .flatMap((template) =>
      [...template.matchAll(/(?<!\\)\$\{([^{}]*)\}/g)].map(([, expression = '']) => expression.trim()),
    );
}

describe('a command in a hint', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.includes('browser'),
  );

  it.each(files)('contains text from outside only in quotes: %s', (file) => {
    const unquoted = expressionsOfCommands(readFileSync(join(SRC, file), 'utf8')).filter(
      (expression) =>
        !isQuoted(expression) &&
        !OWN_WORDS.some((own) => expression === own || (own.endsWith(' ? ') && expression.startsWith(own))),
    );
    expect(unquoted).toEqual([]);
  });

  it('is a single word for a shell after quoting', () => {
    expect(['a b', "it's", '$(id)', ';rm', '', 'plain-1.csv'].map(shellWord)).toEqual([
      "'a b'",
      "'it'\\''s'",
      "'$(id)'",
      "';rm'",
      "''",
      'plain-1.csv',
    ]);
  });
});

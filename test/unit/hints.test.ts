import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));

/** Expressions in templates with a command: words of ours that need no quotes. All other commands are data (hint.ts). */
const OWN_WORDS: readonly string[] = ['keys.paid', 'base_url', "problem ?? 'restaurant login'"];

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

describe('a command in a message', () => {
  it('contains no text from outside', () => {
    const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.includes('browser'),
    );
    const outside = files.flatMap((file) =>
      expressionsOfCommands(readFileSync(join(SRC, file), 'utf8'))
        .filter((expression) => !OWN_WORDS.includes(expression))
        .map((expression) => `${file}: ${expression}`),
    );
    expect(outside).toEqual([]);
  });
});

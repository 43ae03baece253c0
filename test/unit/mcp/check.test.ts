import { expect, it } from 'vitest';
import { quoteForCmd } from '../../../src/mcp/client-config/check.ts';

/** Removes one level of cmd.exe's escapes. */
const removeEscapes = (text: string): string => text.replace(/\^(.)/g, '$1');

it.each([
  ['mcp', '"mcp"'],
  ['https://a.example/x?y=1&z=%PATH%', '"https://a.example/x?y=1&z=%PATH%"'],
  ['x" & calc & "', '"x\\" & calc & \\""'],
  ['back\\slash\\', '"back\\slash\\\\"'],
])('quotes %j for cmd.exe so that no character is special', (argument, quoted) => {
  const text = quoteForCmd(argument);
  expect(removeEscapes(removeEscapes(text))).toBe(quoted);
  expect(text).not.toMatch(/(?<!\^)["&%!<>|]/);
});

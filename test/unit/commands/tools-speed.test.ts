import { expect, it } from 'vitest';
import { palette } from '../../../src/output/color.ts';
import { renderTool, renderTools } from '../../../src/output/render/tools.ts';

const view = { width: 80, palette: palette(0), unicode: true };

/** Returns the shortest of three times, in milliseconds. */
function timeOf(work: () => void): number {
  const times = Array.from({ length: 3 }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...times);
}

it.each([
  ['words', 'word '],
  ['one long word', 'x'],
  ['emoji', '🍜'],
  ['escape sequences', '\u001b[31m'],
  ['line breaks', '\n'],
])('shows a description of %s in linear time', (_name, part) => {
  const show = (size: number) => () => {
    const description = part.repeat(size);
    const properties = { a: { type: 'string', description }, b: { description, enum: [description] } };
    const tool = { name: 'tool', description, inputSchema: { type: 'object', properties } };
    renderTool(tool, view);
    renderTools([tool], view);
  };
  show(200)();
  // Twice the size takes at most three times as long; the constant allows for a busy machine.
  expect(timeOf(show(1600))).toBeLessThan(3 * timeOf(show(800)) + 100);
});

it('shows many arguments in linear time', () => {
  const show = (size: number) => () => {
    const names = Array.from({ length: size }, (_each, index) => `argument${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', description: name }]));
    const tool = { name: 'tool', inputSchema: { type: 'object', properties, required: names } };
    renderTool(tool, view);
  };
  show(50)();
  expect(timeOf(show(800))).toBeLessThan(3 * timeOf(show(400)) + 100);
});

import { it } from 'vitest';
import { renderTool, renderTools } from '../../src/output/render/tools.ts';
import { palette } from '../../src/output/style.ts';
import { expectLinearTime } from '../helpers/linear-time.ts';

const view = { width: 80, palette: palette(0), unicode: true };

it.each([
  ['words', 'word '],
  ['one long word', 'x'],
  ['emoji', '🍜'],
  ['escape sequences', '\u001b[31m'],
  ['line breaks', '\n'],
])('shows a description of %s in linear time', (_name, part) => {
  expectLinearTime((size) => {
    const description = part.repeat(size);
    const properties = { a: { type: 'string', description }, b: { description, enum: [description] } };
    const tool = { name: 'tool', description, inputSchema: { type: 'object', properties } };
    renderTool(tool, view);
    renderTools([tool], view);
  }, 200);
});

it('shows many arguments in linear time', () => {
  expectLinearTime((size) => {
    const names = Array.from({ length: size }, (_each, index) => `argument${index}`);
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string', description: name }]));
    const tool = { name: 'tool', inputSchema: { type: 'object', properties, required: names } };
    renderTool(tool, view);
  }, 100);
});

import { expect, it } from 'vitest';
import { progressLabel } from '../../../src/commands/call.ts';

it.each([
  [{ progress: 1, total: 4 }, 'tool 25 %'],
  [{ progress: 2, total: 3, message: 'second' }, 'tool: second'],
  [{ progress: 9, total: 3 }, 'tool'],
  [{ progress: 7 }, 'tool'],
  [{ progress: 7, total: 0, message: 'x' }, 'tool: x'],
  [{ progress: 'x', total: {}, message: 3 }, 'tool'],
  [{}, 'tool'],
])('the progress %j is shown as %j', (params, label) => {
  expect(progressLabel('tool', params)).toBe(label);
});

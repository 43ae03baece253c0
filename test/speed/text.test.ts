import { it } from 'vitest';
import { clean, cleanLine, truncate, width, wrap } from '../../src/util/text.ts';
import { expectLinearTime } from '../helpers/linear-time.ts';

it.each([
  'a',
  '\u00e9',
  '\u9ba8',
  ' ',
  '\ud83c\udf5c\u200d',
  '\u0301',
  '\ufe0f',
  '\u200b',
  '\ud800',
  '\u001b[',
  '\u0915\u094d',
  '\ud83c\uddeb',
])('cleans, measures, cuts and wraps %j in linear time', (part) => {
  expectLinearTime((size) => {
    const text = part.repeat(size);
    for (const shown of [clean(text), cleanLine(text)]) {
      truncate(shown, 80);
      wrap(shown, 80);
      width(shown);
    }
  }, 2000);
});

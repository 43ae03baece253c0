import { describe, expect, it } from 'vitest';
import { isColored, palette } from '../../../src/output/color.ts';

const plain = palette(0);

describe('isColored', () => {
  it.each([
    ['a terminal', {}, true, undefined, true],
    ['no terminal', {}, false, undefined, false],
    ['TERM=dumb', { TERM: 'dumb' }, true, undefined, false],
    ['NO_COLOR', { NO_COLOR: '1' }, true, undefined, false],
    ['an empty NO_COLOR', { NO_COLOR: '' }, true, undefined, true],
    ['FORCE_COLOR in a pipe', { FORCE_COLOR: '1' }, false, undefined, true],
    ['FORCE_COLOR=3', { FORCE_COLOR: '3' }, false, undefined, true],
    ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, true, undefined, false],
    ['CLICOLOR_FORCE in a pipe', { CLICOLOR_FORCE: '1' }, false, undefined, true],
    ['CLICOLOR_FORCE=0', { CLICOLOR_FORCE: '0' }, true, undefined, false],
    ['CLICOLOR=0', { CLICOLOR: '0' }, true, undefined, false],
    ['NO_COLOR over FORCE_COLOR', { NO_COLOR: '1', FORCE_COLOR: '3' }, true, undefined, false],
    ['FORCE_COLOR over TERM=dumb', { FORCE_COLOR: '1', TERM: 'dumb' }, true, undefined, true],
    ['--no-color over FORCE_COLOR', { FORCE_COLOR: '3' }, true, false, false],
    ['a flag that was not given', {}, false, true, false],
  ] as const)('with %s', (_, env, isTTY, flag, colored) => {
    expect(isColored({ env, isTTY, ...(flag === undefined ? {} : { flag }) })).toBe(colored);
  });
});

describe('palette', () => {
  it('returns text unchanged at level 0', () => {
    for (const paint of Object.values(plain)) expect(paint('A-')).toBe('A-');
  });

  it('marks a grade without color', () => {
    const { grade } = palette(1);
    expect(['A', 'a-', 'B+', 'C', 'D', 'F'].map(grade)).toEqual([
      '\u001b[1mA\u001b[22m',
      '\u001b[1ma-\u001b[22m',
      'B+',
      'C',
      '\u001b[4mD\u001b[24m',
      '\u001b[4mF\u001b[24m',
    ]);
    expect(grade('Awful')).toBe('\u001b[1mAwful\u001b[22m');
  });

  it('ignores additional arguments, as passed by map', () => {
    expect(['a', 'b'].map(plain.bad)).toEqual(['a', 'b']);
  });
});

import { describe, expect, it } from 'vitest';
import { colorLevel, palette, plain } from '../../../src/output/color.ts';

describe('colorLevel', () => {
  it.each([
    ['a terminal', {}, true, undefined, 1],
    ['no terminal', {}, false, undefined, 0],
    ['256 colours', { TERM: 'xterm-256color' }, true, undefined, 2],
    ['true colour', { TERM: 'xterm-256color', COLORTERM: 'truecolor' }, true, undefined, 3],
    ['TERM=dumb', { TERM: 'dumb' }, true, undefined, 0],
    ['NO_COLOR', { NO_COLOR: '1' }, true, undefined, 0],
    ['an empty NO_COLOR', { NO_COLOR: '' }, true, undefined, 1],
    ['FORCE_COLOR in a pipe', { FORCE_COLOR: '1' }, false, undefined, 1],
    ['FORCE_COLOR=3', { FORCE_COLOR: '3' }, false, undefined, 3],
    ['FORCE_COLOR=0', { FORCE_COLOR: '0' }, true, undefined, 0],
    ['CLICOLOR_FORCE in a pipe', { CLICOLOR_FORCE: '1' }, false, undefined, 1],
    ['CLICOLOR_FORCE=0', { CLICOLOR_FORCE: '0' }, true, undefined, 0],
    ['CLICOLOR=0', { CLICOLOR: '0' }, true, undefined, 0],
    ['NO_COLOR over FORCE_COLOR', { NO_COLOR: '1', FORCE_COLOR: '3' }, true, undefined, 0],
    ['FORCE_COLOR over TERM=dumb', { FORCE_COLOR: '1', TERM: 'dumb' }, true, undefined, 1],
    ['--no-color over FORCE_COLOR', { FORCE_COLOR: '3' }, true, false, 0],
    ['a flag that was not given', {}, false, true, 0],
  ] as const)('with %s', (_, env, isTTY, flag, level) => {
    expect(colorLevel({ env, isTTY, ...(flag === undefined ? {} : { flag }) })).toBe(level);
  });
});

describe('palette', () => {
  it('paints nothing at level 0', () => {
    for (const paint of Object.values(plain)) expect(paint('A-')).toBe('A-');
  });

  it('paints a grade by its letter', () => {
    const { grade } = palette(1);
    const codes = ['A', 'a-', 'B+', 'C', 'D', 'F'].map((letter) => /\u001b\[(3\d)m/.exec(grade(letter))?.[1]);
    expect(codes).toEqual(['32', '32', '36', '33', '31', '31']);
    expect(grade('Awful')).toBe('\u001b[1mAwful\u001b[22m');
  });

  it('takes one text, also from map', () => {
    expect(['a', 'b'].map(plain.bad)).toEqual(['a', 'b']);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isColored, link, palette, showsLinks, webUrl } from '../../../src/output/style.ts';
import { width } from '../../../src/util/text.ts';
import { FORBIDDEN, hostileText, OWN_LINK, viewOf } from '../../helpers/hostile.ts';

const plain = palette(0);

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
] as const)('isColored with %s', (_, env, isTTY, flag, colored) => {
  expect(isColored({ env, isTTY, ...(flag === undefined ? {} : { flag }) })).toBe(colored);
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

describe('showsLinks', () => {
  const ghostty = { TERM_PROGRAM: 'ghostty' };
  it.each([
    ['an unknown terminal', { TERM: 'xterm-256color' }, true, false],
    ['iTerm2', { TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.5.0' }, true, true],
    ['VS Code', { TERM_PROGRAM: 'vscode', TERM_PROGRAM_VERSION: '1.104.2' }, true, true],
    ['WezTerm', { TERM_PROGRAM: 'WezTerm', TERM_PROGRAM_VERSION: '20240203-110809-5046fc22' }, true, true],
    ['tmux', { TERM_PROGRAM: 'tmux', TERM_PROGRAM_VERSION: '3.4', TERM: 'tmux-256color' }, true, true],
    ['screen in a capable terminal', { TERM: 'screen-256color', VTE_VERSION: '7600' }, true, false],
    ['GNOME Terminal', { VTE_VERSION: '7600', TERM: 'xterm-256color' }, true, true],
    ['the VTE that crashes', { VTE_VERSION: '5000' }, true, false],
    ['Windows Terminal', { WT_SESSION: 'x' }, true, true],
    ['kitty', { TERM: 'xterm-kitty' }, true, true],
    ['a pipe', ghostty, false, false],
    ['CI', { ...ghostty, CI: 'true' }, true, false],
    ['TERM=dumb', { ...ghostty, TERM: 'dumb' }, true, false],
    ['NO_COLOR', { ...ghostty, NO_COLOR: '1' }, true, false],
    ['an empty NO_COLOR', { ...ghostty, NO_COLOR: '' }, true, true],
    ['FORCE_HYPERLINK=0', { ...ghostty, FORCE_HYPERLINK: '0' }, true, false],
    ['FORCE_HYPERLINK=1 in a pipe', { FORCE_HYPERLINK: '1' }, false, true],
    ['NO_COLOR over FORCE_HYPERLINK', { FORCE_HYPERLINK: '1', NO_COLOR: '1' }, true, false],
  ] as const)('with %s', (_, env, isTTY, shown) => {
    expect(showsLinks({ env, isTTY })).toBe(shown);
  });

  it('is off with --no-color', () => {
    expect(showsLinks({ env: { FORCE_HYPERLINK: '1' }, isTTY: true, flag: false })).toBe(false);
  });
});

describe('webUrl', () => {
  it.each([
    ['https://nopa.example/menu?day=1&x=%20#top', 'https://nopa.example/menu?day=1&x=%20#top'],
    ['https://nopa.example:8443/a', 'https://nopa.example:8443/a'],
    ['https://nopa.example', 'https://nopa.example/'],
  ])('of %s is %s', (text, url) => expect(webUrl(text)).toBe(url));

  it.each([
    'http://nopa.example/',
    'javascript:alert(1)',
    'https://user@nopa.example/',
    'https://nopa.example@evil.example/',
    'https://nopa.example/\u001b]8;;https://evil.example',
    'https://nopa.example/\u0007',
    'https://nopä.example/',
    'https://nopa.example/ a',
    'https://nopa.example/;x',
    'https://NOPA.example/',
    'https://nopa.example/a/../b',
    'https://localhost/',
    'https://',
    `https://nopa.example/${'x'.repeat(3000)}`,
  ])('rejects %j', (url) => expect(webUrl(url)).toBeUndefined());

  it('returns only ASCII for any text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        for (const url of [webUrl(text), webUrl(`https://a.example/${text}`)]) {
          if (url !== undefined) expect(url).toMatch(/^https:\/\/[!-:<-~]+$/);
        }
      }),
    );
  });
});

describe('link', () => {
  const view = { ...viewOf(40), links: true };
  const url = 'https://a.example/';

  it('adds nothing to the width', () => {
    const text = link('Café 鮨', url, view);
    expect(text).toMatch(OWN_LINK);
    expect(width(text)).toBe(width('Café 鮨'));
    expect(text.replaceAll(OWN_LINK, '$1')).not.toMatch(FORBIDDEN);
  });

  it('is plain text if links are not shown or there is no address', () => {
    expect(link('a', url, viewOf(40))).toBe('a');
    expect(link('a', undefined, view)).toBe('a');
    expect(link('', url, view)).toBe('');
  });
});

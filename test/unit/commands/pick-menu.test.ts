import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Menu, menuLines, NOTHING, press, rowsOf, type Typed } from '../../../src/commands/pick/menu.ts';
import { choicesOf, choicesWith } from '../../../src/commands/pick/rows.ts';
import { palette } from '../../../src/output/style.ts';
import { width } from '../../../src/util/text.ts';
import { hostileRecord, hostileText } from '../../helpers/hostile.ts';

const names = ['Nopa', 'Café Zoé', '焼き鳥 一', ...Array.from({ length: 10 }, (_, index) => `Bar ${index}`)];
const choices = choicesOf(names.map((name, index) => ({ service_id: `id-${index}`, name, grade: 'A' })));
const menu: Menu = {
  title: 'last search',
  message: undefined,
  results: [],
  known: choices,
  saved: new Set(['id-0']),
  city: 'SF',
  canSearch: true,
};
const screen = { columns: 39, rows: 9, palette: palette(0), ellipsis: '…' };

/** Returns what the last of the keys does. */
function stepOf(...keys: string[]) {
  let typed: Typed = NOTHING;
  for (const key of keys.slice(0, -1)) {
    const step = press(menu, typed, key, 9);
    if (step === 'leave' || !('typed' in step)) throw new Error(`${key} ends it`);
    typed = step.typed;
  }
  return press(menu, typed, keys.at(-1), 9);
}

describe('a key in the menu', () => {
  it('chooses a row of the screen by its number, also after typing and scrolling', () => {
    expect(stepOf('2')).toEqual({ choice: choices[1] });
    expect(stepOf('z', 'o', 'e', '1')).toEqual({ choice: choices[1] });
    expect(stepOf(...Array<string>(10).fill('down'), '9')).toEqual({ choice: choices[9] });
    expect(stepOf('up', 'enter')).toEqual({ choice: choices.at(-1) });
  });

  it('types a name that no row has, and searches for it with Enter', () => {
    expect(stepOf('n', 'o', 'p', '2', 'enter')).toEqual({ search: 'nop2' });
    expect(stepOf('n', 'o', 'backspace', 'backspace', 'enter')).toEqual({ choice: choices[0] });
    expect(stepOf('鳥', 'enter')).toEqual({ search: '鳥' });
  });

  it('clears with Escape, and then leaves', () => {
    expect(stepOf('n', 'escape')).toEqual({ typed: NOTHING });
    expect([stepOf('escape'), stepOf('ctrl-d'), press(menu, NOTHING, undefined, 9)]).toEqual(
      Array(3).fill('leave'),
    );
  });

  it('types no control characters, and at most 100 characters', () => {
    expect(stepOf('\u0007')).toEqual({ typed: NOTHING });
    expect(stepOf('\u202e')).toEqual({ typed: NOTHING });
    expect(stepOf(...Array<string>(150).fill('x'))).toMatchObject({ typed: { text: 'x'.repeat(100) } });
  });
});

describe('the rows', () => {
  it('match words without case and accents, in any order', () => {
    expect(choicesWith(choices, 'ZOE cafe').map(({ id }) => id)).toEqual(['id-1']);
  });

  it('are each restaurant once, also if a result is known from an earlier search', () => {
    const shown = rowsOf({ ...menu, results: choices.slice(0, 1) }, 'nopa');
    expect(shown.map(({ id }) => id)).toEqual(['id-0']);
  });

  it('are each restaurant once, without those that have no usable ID', () => {
    const rows = [{ service_id: 'x;id>pwned' }, null, 'text', { name: 'x' }, { service_id: 'id-1' }];
    expect(choicesOf([...rows, { service_id: 'id-1' }]).map(({ id }) => id)).toEqual(['id-1']);
  });

  it('fit the screen, whatever the service returns', () => {
    const rows = fc.array(hostileRecord, { maxLength: 12 });
    fc.assert(
      fc.property(rows, hostileText, fc.integer({ min: 10, max: 90 }), (records, text, columns) => {
        const results = choicesOf(records.map((record, index) => ({ ...record, service_id: `id-${index}` })));
        const lines = menuLines(
          { ...menu, title: text, message: text, results },
          { ...NOTHING, text },
          { ...screen, columns },
        );
        for (const line of lines) {
          expect(width(line)).toBeLessThanOrEqual(columns);
          expect(line).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        }
      }),
    );
  });

  it('take no time for a long name', () => {
    const long = choicesOf([{ service_id: 'id-1', name: '焼\u001b[2J'.repeat(10_000) }]);
    const lines = menuLines({ ...menu, results: long }, NOTHING, screen);
    expect(lines[1]).toMatch(/^ {2}1 焼\^\[\[2J焼\^\[\[2J.*…$/);
  });
});

import { describe, expect, it } from 'vitest';
import { type Answers, openAnswers } from '../../../src/lists/answers.ts';
import { Decisions } from '../../../src/lists/decisions.ts';
import { type RowKey, rowKeyOf } from '../../../src/lists/row-key.ts';
import { useFolder } from '../../helpers/files.ts';

const folder = useFolder();
let time = 0;

function answersWith(...decided: readonly (readonly [row: RowKey, restaurant: string | null])[]): Answers {
  const now = () => {
    time += 1000;
    return time;
  };
  const answers = openAnswers(folder.at(`${now()}.answers.ndjson`), {
    service: 'demo',
    access: 'write',
    context: { now },
    warn: () => {},
  });
  for (const [row, restaurant] of decided) answers.decide(row, { restaurant });
  return answers;
}

/** Returns the decided restaurant of each row. */
function verdicts(answers: Answers, rows: readonly RowKey[]): unknown[] {
  const decisions = new Decisions(answers, rows);
  return rows.map((row) => decisions.of(row)?.restaurant);
}

const NOPA = { name: 'Nopa', city: 'SF' };
const AT_1 = { ...NOPA, address: '1 Street' };
const AT_2 = { ...NOPA, address: '2 Street' };

describe('the content of a row', () => {
  it('has trimmed texts in NFC, and coordinates with five decimals', () => {
    const key = rowKeyOf({ name: ' Cafe\u0301', city: '', lat: '37.7700004', lng: -122.4, id: undefined });
    expect(key).toEqual({ name: 'Café', city: '', lat: 37.77, lng: -122.4 });
    expect(rowKeyOf({ lat: '', lng: ' x ' })).toEqual({ lat: '', lng: 'x' });
    expect(rowKeyOf({ lat: ' 37,77 ', lng: '-1,234.5' })).toEqual({ lat: 37.77, lng: '-1,234.5' });
    expect(rowKeyOf({ lat: '1234,5', lng: '+122' })).toEqual({ lat: '1234,5', lng: 122 });
    expect(Object.is(rowKeyOf({ lat: '-0.000001' }).lat, 0)).toBe(true);
  });
});

describe('a decision', () => {
  it('applies to every row of the same content, and to no other', () => {
    const answers = answersWith([AT_1, 'one']);
    expect(verdicts(answers, [AT_1, AT_1, AT_2, { ...AT_1, name: 'nopa' }])).toEqual([
      'one',
      'one',
      undefined,
      undefined,
    ]);
  });

  it('can reject all candidates, and the latest counts', () =>
    expect(verdicts(answersWith([NOPA, 'one'], [NOPA, null]), [NOPA])).toEqual([null]));

  it('applies after a column was added or removed', () => {
    expect(verdicts(answersWith([NOPA, 'one']), [AT_1])).toEqual(['one']);
    expect(verdicts(answersWith([AT_1, 'one']), [NOPA])).toEqual(['one']);
    expect(verdicts(answersWith([{ ...AT_1, id: '7' }, 'one']), [{ id: '7' }])).toEqual(['one']);
  });

  it('does not apply if it agrees with rows of two contents, or another one says something else', () => {
    expect(verdicts(answersWith([NOPA, 'one']), [AT_1, AT_2])).toEqual([undefined, undefined]);
    expect(verdicts(answersWith([AT_1, 'one'], [AT_2, 'two']), [NOPA])).toEqual([undefined]);
    expect(verdicts(answersWith([AT_1, 'one'], [AT_2, 'one']), [NOPA])).toEqual(['one']);
    const exact = answersWith([NOPA, 'one'], [AT_1, 'two']);
    expect(verdicts(exact, [AT_1])).toEqual(['two']);
  });

  it('does not apply because of the city alone', () => {
    const answers = answersWith([{ city: 'SF', id: '7' }, 'one'], [{ name: '', city: 'SF', lat: 1 }, 'two']);
    expect(verdicts(answers, [NOPA])).toEqual([undefined]);
  });

  it('is offered where it agrees but does not apply, and where it applies to no row', () => {
    const answers = answersWith([NOPA, 'one'], [{ ...AT_1, name: 'Noppa' }, 'two']);
    const decisions = new Decisions(answers, [AT_1, AT_2]);
    const namesOf = (found: ReturnType<Decisions['stray']>) => found.map(({ restaurant }) => restaurant);
    expect(namesOf(decisions.similar(AT_1))).toEqual(['one']);
    expect(namesOf(decisions.stray())).toEqual(['two']);
    answers.decide(AT_1, { restaurant: 'three' });
    expect(namesOf(decisions.similar(AT_1))).toEqual([]);
    expect(decisions.of(AT_1)?.restaurant).toBe('three');
  });
});

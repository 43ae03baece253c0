import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Answers, openAnswers } from '../../../src/lists/answers.ts';
import { changesAbout, changesIn, knownRecord } from '../../../src/lists/changes.ts';
import { useFolder } from '../../helpers/files.ts';

const folder = useFolder();

/** Answers about one restaurant, the oldest first: a search, or `[level, output]`. */
function withAnswers<T>(
  all: readonly (object | readonly ['basic' | 'premium', object | null])[],
  work: (answers: Answers) => T,
): T {
  let now = Date.UTC(2026, 10, 1);
  rmSync(folder.at('a.answers.ndjson'), { force: true });
  const answers = openAnswers(folder.at('a.answers.ndjson'), {
    ...{ service: 'demo', access: 'write', warn: () => {} },
    context: { now: () => now },
  });
  for (const each of all) {
    now += 86_400_000;
    if (Array.isArray(each)) answers.addLookup('a', each[0], each[1]);
    else {
      const results = [{ service_id: 'a', name: 'A', ...each }];
      answers.addFind({ name: 'A', city: 'SF' }, { results, received: 1, total: 1 });
    }
  }
  const result = work(answers);
  answers.close();
  return result;
}

const changesOf = (...all: Parameters<typeof withAnswers>[0]) =>
  withAnswers(all, (answers) =>
    changesAbout(answers, 'a').map(({ field, before, after }) => [field, before, after]),
  );
const recordOf = (...all: Parameters<typeof withAnswers>[0]) =>
  withAnswers(all, (answers) => knownRecord(answers.history('a')));

describe('a change', () => {
  it('is a field that two answers have with different values', () => {
    const before = { grade: 'A', tags: ['x'], hours: { mon: '9-5', tue: '9-5' }, same: { a: 1, b: 2 } };
    const after = {
      grade: 'B',
      tags: ['x', 'y'],
      hours: { mon: '9-6', tue: '9-5' },
      same: { b: 2, a: 1 },
      new: 1,
    };
    expect(changesOf(['basic', before], ['basic', after])).toEqual([
      ['grade', 'A', 'B'],
      ['tags', ['x'], ['x', 'y']],
      ['hours.mon', '9-5', '9-6'],
    ]);
  });

  it('is found against the newest answer with the field, whatever its level', () => {
    const all = [
      { address: '7 Street', grade: 'A' },
      ['basic', { grade: 'A' }],
      ['premium', { grade: 'A', address: '9 Street', phone: '1' }],
      ['basic', { grade: 'B' }],
      ['premium', { grade: 'B', address: '9 Street', phone: '2' }],
    ] as const;
    expect(changesOf(...all)).toEqual([
      ['address', '7 Street', '9 Street'],
      ['grade', 'A', 'B'],
      ['phone', '1', '2'],
    ]);
  });

  it('is none if an answer lacks the field, has an object in place of text, or null in place of an empty text', () => {
    const all = [
      ['premium', { a: 1, grade: 'A' }],
      ['basic', { grade: { letter: 'A' } }],
      { grade: 'A' },
    ] as const;
    expect(changesOf(...all, ...all)).toEqual([]);
    expect(changesOf(['basic', { a: null }], ['basic', { a: { b: 1 } }])).toEqual([['a', null, { b: 1 }]]);
    expect(changesOf({ a: '', b: '' }, ['basic', { a: null, b: 'x' }])).toEqual([['b', '', 'x']]);
  });

  it('reports once that a restaurant is gone, and that it is back', () => {
    const known = ['basic', { name: 'Nopa', grade: 'A' }] as const;
    const gone = ['basic', null] as const;
    expect(changesOf(known, gone, gone, known, gone)).toEqual([
      ['gone', false, true],
      ['gone', true, false],
      ['gone', false, true],
    ]);
    expect(changesOf(gone, known)).toEqual([]);
  });

  it('is listed with the others by time, with the name of that time', () => {
    const answers = [
      ['basic', { name: 'One', x: 1 }],
      ['basic', { name: 'Two', x: 2 }],
      ['basic', { x: 3 }],
    ] as const;
    withAnswers(answers, (all) => {
      expect(changesIn(all, {}).map(({ name, field }) => [name, field])).toEqual([
        ['One', 'name'],
        ['One', 'x'],
        ['Two', 'x'],
      ]);
      expect(changesIn(all, { start: Date.UTC(2026, 10, 4) })).toMatchObject([{ field: 'x', after: 3 }]);
      expect(changesIn(all, { ids: ['b'] })).toEqual([]);
    });
  });
});

describe('what is known', () => {
  it('has each field from the newest answer that has it', () => {
    const all = [
      { address: '7 Street', coordinates: { lat: 1, lng: 2 } },
      ['premium', { address: '9 Street', hours: { mon: '9-5', tue: '9-5' } }],
      ['basic', { grade: 'B', hours: { mon: '9-6' } }],
      ['basic', null],
    ] as const;
    expect(recordOf(...all)).toEqual({
      ...{ service_id: 'a', name: 'A', address: '9 Street', coordinates: { lat: 1, lng: 2 } },
      ...{ hours: { mon: '9-6', tue: '9-5' }, grade: 'B' },
    });
  });

  it('takes keys of every name as they are', () => {
    const answer = JSON.parse('{"__proto__":{"x":1},"constructor":2}');
    const record = recordOf(['basic', answer], ['premium', JSON.parse('{"__proto__":{"y":1}}')]);
    expect(JSON.stringify(record)).toBe('{"__proto__":{"x":1,"y":1},"constructor":2}');
    expect(changesOf(['basic', answer], ['basic', { ...answer, constructor: 3 }])).toEqual([
      ['constructor', 2, 3],
    ]);
  });
});

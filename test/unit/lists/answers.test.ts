import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnswerAbout, type Answers, openAnswers } from '../../../src/lists/answers.ts';
import { newestFields } from '../../../src/lists/resolve.ts';
import { errorOf, memoryFolder, modeOf, useFolder } from '../../helpers/files.ts';

const folder = useFolder();
const START = Date.parse('2026-11-01T10:00:00.000Z');
const NOPA = { service_id: 'nopa', name: 'Nopa', grade: 'A' };
const QUERY = { name: 'Nopa', city: 'SF' };
const ROW = { name: 'Nopa', city: 'SF' };

interface Opening {
  readonly access?: 'read' | 'write' | 'share';
  readonly service?: string;
  readonly now?: () => number;
  readonly warnings?: string[];
}

function open(
  name = 'a.answers.ndjson',
  { access = 'write', warnings = [], ...rest }: Opening = {},
): Answers {
  const { service = 'demo', now = () => START } = rest;
  return openAnswers(folder.at(name), {
    service,
    access,
    context: { now },
    warn: (text) => warnings.push(text),
  });
}

function use<T>(work: (answers: Answers) => T, name?: string, opening?: Opening): T {
  const answers = open(name, opening);
  try {
    return work(answers);
  } finally {
    answers.close();
  }
}

const found = (grade: string) => ({ results: [{ ...NOPA, grade }], received: 1, total: 1 });
const gradeIn = (answers: Answers) => answers.find(QUERY)?.results[0]?.grade;
const linesOf = (name = 'a.answers.ndjson') => folder.read(name).split('\n').slice(0, -1);

describe('the file', () => {
  it('is created with the first line that is added, readable for the user only', () => {
    use(() => {});
    expect(folder.list()).toEqual([]);
    use((answers) => answers.addFind(QUERY, found('A')));
    expect(folder.list()).toEqual(['a.answers.ndjson']);
    expect(modeOf(folder.at('a.answers.ndjson'))).toBe('600');
    const [header = '', line = ''] = linesOf();
    expect(JSON.parse(header)).toMatchObject({ restaurant: 'answers', version: 1, service: 'demo' });
    expect(JSON.parse(line)).toMatchObject({
      ...{ id: expect.stringMatching(/^[0-9a-f]{16}$/), at: '2026-11-01T10:00:00.000Z', find: QUERY },
      ...{ results: [NOPA], received: 1, total: 1 },
    });
  });

  it('has one writer, and readers at any time', () => {
    const writer = open();
    writer.addFind(QUERY, found('A'));
    const refused = errorOf(() => open());
    expect(refused.code).toBe('in_use');
    expect(refused.message).toContain(`process ${process.pid}`);
    expect(use(gradeIn, undefined, { access: 'read' })).toBe('A');
    writer.close();
    expect(use(gradeIn)).toBe('A');
  });

  it('is shared by writers that take the lock for one line at a time', async () => {
    const [one, other] = [open(undefined, { access: 'share' }), open(undefined, { access: 'share' })];
    await Promise.all([one.locked(() => one.save('a', {})), other.locked(() => other.save('b', {}))]);
    await one.locked(() =>
      expect(
        one
          .saves()
          .map(({ save }) => save.id)
          .sort(),
      ).toEqual(['a', 'b']),
    );
    one.close();
    other.close();
    expect(linesOf()).toHaveLength(3);
  });

  it('takes no answer after it was closed, because another process may hold the lock', () => {
    const answers = open();
    answers.addFind(QUERY, found('A'));
    answers.close();
    expect(errorOf(() => answers.addFind(QUERY, found('B'))).message).toContain('is closed');
    expect(use(gradeIn)).toBe('A');
  });

  it('notices that it was replaced', async () => {
    const shared = open(undefined, { access: 'share' });
    await shared.locked(() => shared.save('a', {}));
    const copy = folder.read('a.answers.ndjson').replaceAll('"a"', '"b"');
    folder.write('new', copy);
    const { renameSync } = await import('node:fs');
    renameSync(folder.at('new'), folder.at('a.answers.ndjson'));
    await shared.locked(() => expect(shared.saves().map(({ save }) => save.id)).toEqual(['b']));
    shared.close();
  });

  it.each(['name,city\nNopa,SF\n', '{"a":1}\n', '[]', 'x', '{"restaurant":"nopa"}'])(
    'refuses %j, and keeps it',
    (text) => {
      folder.write('a.answers.ndjson', text);
      for (const access of ['read', 'write', 'share'] as const) {
        const error = errorOf(() => open(undefined, { access }));
        expect([error.code, error.message]).toEqual([
          'usage',
          expect.stringContaining('not an answers file'),
        ]);
      }
      expect(folder.read('a.answers.ndjson')).toBe(text);
      expect(folder.list()).toEqual(['a.answers.ndjson']);
    },
  );

  it('works if it is empty, or its first line was cut off', () => {
    const header = `{"restaurant":"answers","version":1,"service":"demo","about":"ü"}`;
    for (let length = 0; length <= header.length; length += 1) {
      folder.write('a.answers.ndjson', header.slice(0, length));
      use((answers) => answers.addFind(QUERY, found('A')));
      expect(use(gradeIn)).toBe('A');
      expect(folder.read('a.answers.ndjson').startsWith(header.slice(0, length))).toBe(true);
    }
  });

  it('refuses answers of another service', () => {
    use((answers) => answers.addFind(QUERY, found('A')), undefined, { service: 'https://a.example/api/mcp' });
    const error = errorOf(() => open(undefined, { service: 'https://b.example/api/mcp', access: 'read' }));
    expect([error.code, error.message]).toEqual([
      'usage',
      `${folder.at('a.answers.ndjson')} has answers of https://a.example/api/mcp, not of https://b.example/api/mcp`,
    ]);
  });

  it('reads a file of a newer version, and adds nothing to it', () => {
    folder.write(
      'a.answers.ndjson',
      '{"restaurant":"answers","version":2,"service":"demo"}\n{"id":"x","vote":1}\n',
    );
    expect(use(({ size }) => size, undefined, { access: 'read' })).toBe(0);
    expect(errorOf(() => open()).message).toContain('a newer version of this program wrote it');
  });

  it('skips damaged lines with one warning that names their numbers', () => {
    use((answers) => answers.addFind(QUERY, found('A')));
    const [header, line] = linesOf();
    const damaged = ['{', '[]', '{"id":"x","find":{}}', '{"id":1,"at":"2026-11-01T10:00:00Z","undo":"x"}'];
    const kept = ['{"id":"x","vote":{}}', '', '{"id":"x","at (cut off)'];
    writeFileSync(folder.at('a.answers.ndjson'), [header, ...damaged, ...kept, line, '{"id'].join('\n'));
    const warnings: string[] = [];
    expect(use(gradeIn, undefined, { warnings })).toBe('A');
    expect(warnings).toEqual([`${folder.at('a.answers.ndjson')}: skipped damaged lines 2, 3, 4, 5`]);
  });

  it('reads nothing from members that other objects inherit', () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      use((answers) => {
        expect(answers.find({ name, city: name })).toBeUndefined();
        expect(answers.lookup(name, 'basic')).toBeUndefined();
        answers.addLookup(name, 'basic', JSON.parse('{"__proto__":{"grade":"A"}}'));
        expect(JSON.stringify(answers.lookup(name, 'basic')?.output)).toBe('{"__proto__":{"grade":"A"}}');
      });
    }
  });

  it('skips an answer that is nested without limit', () => {
    use((answers) => answers.addLookup('nopa', 'basic', { grade: 'A' }));
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    const line = `{"id":"z","at":"2027-01-01T00:00:00Z","lookup":{"id":"nopa","fields":"basic"},"output":${deep}}`;
    writeFileSync(folder.at('a.answers.ndjson'), `${folder.read('a.answers.ndjson')}${line}\n`);
    const warnings: string[] = [];
    const lookup = (answers: Answers) => answers.lookup('nopa', 'basic')?.output;
    expect(use(lookup, undefined, { warnings })).toEqual({ grade: 'A' });
    expect(warnings).toEqual([`${folder.at('a.answers.ndjson')}: skipped damaged line 3`]);
  });
});

describe('answers', () => {
  it('belong to a query as it was sent, trimmed and in NFC', () => {
    use((answers) => {
      answers.addFind({ name: ' Cafe\u0301 ', city: 'SF' }, found('A'));
      expect(answers.find({ name: 'Café', city: 'SF ' })?.total).toBe(1);
      expect(answers.find({ name: 'café', city: 'SF' })).toBeUndefined();
    });
  });

  it('keep the latest, dated after the one before', () => {
    use((answers) => {
      for (const grade of ['A', 'B', 'C']) answers.addFind(QUERY, found(grade));
      expect(gradeIn(answers)).toBe('C');
      expect(answers.find(QUERY)?.at).toBe(START + 2);
    });
  });

  it('take an answer from the future back before they replace it', () => {
    use((answers) => answers.addFind(QUERY, found('A')), undefined, { now: () => START + 86_400_000 });
    use((answers) => {
      answers.addFind(QUERY, found('B'));
      expect([gradeIn(answers), answers.find(QUERY)?.at]).toEqual(['B', START]);
    });
    expect(linesOf().map((line) => Object.keys(JSON.parse(line))[2])).toEqual([
      'service',
      'find',
      'undo',
      'find',
    ]);
    expect(use(gradeIn)).toBe('B');
  });

  it('name the line that a lookup equals', () => {
    const output = { grade: 'A', hours: { mon: '9-5' } };
    use((answers) => {
      const id = answers.addLookup('nopa', 'basic', output);
      for (let count = 0; count < 2; count += 1) answers.addLookup('nopa', 'basic', { ...output });
      expect(
        linesOf()
          .slice(2)
          .map((line) => JSON.parse(line).same),
      ).toEqual([id, id]);
      expect(answers.lookup('nopa', 'basic')).toMatchObject({ at: START + 2, output });
      answers.addLookup('nopa', 'basic', null);
      expect(answers.lookup('nopa', 'basic')?.output).toBeNull();
      expect(answers.lookup('nopa', 'premium')).toBeUndefined();
    });
    const lines = linesOf();
    writeFileSync(folder.at('a.answers.ndjson'), [lines[0], ...lines.slice(2, 4), ''].join('\n'));
    expect(use((answers) => answers.lookup('nopa', 'basic'))).toBeUndefined();
  });

  it('about a restaurant come from searches, lookups, and saved rows', () => {
    use((answers) => {
      answers.save('nopa', { restaurant: { grade: 'C' } });
      answers.addFind(QUERY, found('B'));
      answers.addLookup('nopa', 'standard', { grade: 'A' });
      answers.addLookup('nopa', 'basic', null);
      const seen = [...answers.history('nopa')].map(({ level, record }) => [level, record?.grade]);
      expect(seen.sort()).toEqual([
        ['basic', undefined],
        ['search', 'B'],
        ['search', 'C'],
        ['standard', 'A'],
      ]);
      expect([...answers.history('other')]).toEqual([]);
    });
  });
});

describe('undo', () => {
  it('takes a line back, and an undo, too', () => {
    use((answers) => {
      answers.decide(ROW, { restaurant: 'one' });
      const second = answers.decide(ROW, { restaurant: 'two' });
      const decided = () => answers.decisions()[0]?.restaurant;
      const undo = answers.undo(second);
      expect(decided()).toBe('one');
      const again = answers.undo(undo);
      expect(decided()).toBe('two');
      answers.undo(again);
      expect(decided()).toBe('one');
    });
  });

  it('takes back decisions of one moment in the order in which they were made', () => {
    use((answers) => {
      const names = ['b', 'd', 'a', 'c', 'e', 'b'];
      for (const name of names) answers.decide({ ...ROW, name }, { restaurant: 'one' });
      const taken = names.map(() => {
        const [last] = answers.decisions();
        answers.undo(last?.id ?? '');
        return last?.decide.name;
      });
      expect(taken).toEqual(names.reverse());
    });
  });

  it('does not go in circles, and cannot take a later line back', () => {
    const line = (id: string, second: number, more: object) =>
      JSON.stringify({ id, at: `2026-11-01T10:00:0${second}Z`, ...more });
    const decide = { decide: ROW, restaurant: 'one' };
    const lines = [
      '{"restaurant":"answers","version":1,"service":"demo"}',
      line('a', 1, { undo: 'b' }),
      line('b', 2, { undo: 'a' }),
      line('c', 3, { undo: 'c' }),
      line('d', 4, { undo: 'e' }),
      line('e', 5, decide),
      '',
    ];
    folder.write('a.answers.ndjson', lines.join('\n'));
    expect(use((answers) => answers.decisions().map(({ id }) => id))).toEqual(['e']);
  });

  it('of a save leaves an earlier one', () => {
    use((answers) => {
      answers.save('a', { note: 'one' });
      answers.undo(answers.save('a', { note: 'two' }));
      expect(answers.saves().map(({ note }) => note)).toEqual(['one']);
    });
  });
});

describe('runs and views', () => {
  it('are recorded when they differ from the last', () => {
    use((answers) => {
      const run = { list: 'l.csv', options: { fields: 'standard' }, files: ['o.csv'] };
      for (const each of [run, { ...run }, { ...run, list: null }, { ...run, options: {} }, run])
        answers.addRun(each);
      expect(answers.runs().map((line) => line.run.list)).toEqual(['l.csv', 'l.csv', null, 'l.csv']);
      for (const sha256 of ['1', '1', '2', '1']) answers.addWrote({ file: 'o.csv', sha256 });
      expect(answers.wrote('o.csv')).toEqual(['1', '2', '1']);
      expect(answers.wrote('p.csv')).toEqual([]);
    });
  });

  it.each(['../l.csv', '/etc/passwd', 'a\\b', 'c:x', '..', ''])('cannot name the list %j', (list) => {
    const run = JSON.stringify({
      id: 'a',
      at: '2026-11-01T10:00:00Z',
      run: { list, options: {}, files: [] },
    });
    folder.write('a.answers.ndjson', `{"restaurant":"answers","version":1,"service":"demo"}\n${run}\n`);
    const warnings: string[] = [];
    expect(use((answers) => answers.runs(), undefined, { warnings })).toEqual([]);
    expect(warnings).toHaveLength(1);
  });
});

/** The lines that count. */
const state = (answers: Answers) => ({
  found: answers.find(QUERY),
  details: answers.lookup('nopa', 'basic'),
  about: [...answers.history('nopa')].map(({ id }) => id),
  decisions: answers.decisions(),
  saves: answers.saves(),
});

function writeSome(answers: Answers, steps: readonly number[]): void {
  const ids: string[] = [];
  for (const step of steps) {
    const grade = 'ABC'[step % 3] ?? 'A';
    const acts = [
      () => answers.addFind(QUERY, found(grade)),
      () => answers.addLookup('nopa', 'basic', { grade }),
      () => answers.decide(ROW, { restaurant: grade }),
      () => answers.save('nopa', { note: grade }),
      () => (ids.length === 0 ? '' : answers.undo(ids[step % ids.length] ?? '')),
      () => answers.decide({ ...ROW, address: '1 Street' }, { never: true }),
    ];
    const id = acts[step % acts.length]?.() ?? '';
    if (id !== '') ids.push(id);
  }
}

const steps = fc.array(fc.nat(1000), { maxLength: 25 });
const shuffled = (lines: readonly string[], keys: readonly number[]): string[] =>
  lines
    .map((line, at) => ({ line, key: keys[at % keys.length] ?? 0 }))
    .sort((a, b) => a.key - b.key)
    .map(({ line }) => line);

describe('the latest answers about a restaurant', () => {
  const members = fc.subarray(['name', 'grade', 'phone', 'a b', '1']);
  const step = fc.record({
    members,
    value: fc.nat(2),
    act: fc.constantFrom('find', 'basic', 'premium', 'gone', 'save', 'undo'),
  });
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

  function add(answers: Answers, { members: names, value, act }: Step, ids: readonly string[]): string {
    const record = Object.fromEntries(names.map((name) => [name, `${name} ${value}`]));
    const restaurant = { ...record, ...NOPA, service_id: 'nopa' };
    if (act === 'find')
      return answers.addFind(
        { name: `Nopa ${value}`, city: 'SF' },
        { results: [restaurant], received: 1, total: 1 },
      );
    if (act === 'gone') return answers.addLookup('nopa', 'basic', null);
    if (act === 'save') return answers.save('nopa', { restaurant });
    if (act === 'undo') return ids.length === 0 ? '' : answers.undo(ids[value % ids.length] ?? '');
    return answers.addLookup('nopa', act, record);
  }

  const known = (all: Iterable<AnswerAbout>) => {
    const list = [...all];
    const lookups = list.filter(({ level }) => level !== 'search');
    return {
      ...{ newest: list[0], lookedUp: lookups[0], isSearchOnly: lookups.length === 0 },
      isGone: list.every(({ record }) => record === null),
      fields: JSON.stringify(newestFields(list)),
      details: JSON.stringify(newestFields(lookups)),
    };
  };

  it('say all that older ones do', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (all) => {
        folder.write('a.answers.ndjson', '');
        const ids: string[] = [];
        use((answers) => {
          for (const each of all) {
            const id = add(answers, each, ids);
            if (id !== '') ids.push(id);
            expect(known(answers.about('nopa'))).toEqual(known(answers.history('nopa')));
          }
        });
        use((answers) => expect(known(answers.about('nopa'))).toEqual(known(answers.history('nopa'))));
      }),
      { numRuns: 100 },
    );
  });

  it('stay few, however often it is refreshed', () => {
    use((answers) => {
      for (let day = 0; day < 100; day += 1) {
        answers.addFind(QUERY, found('ABC'[day % 3] ?? ''));
        answers.addLookup('nopa', 'basic', { grade: 'ABC'[day % 3] });
      }
      expect([...answers.history('nopa')]).toHaveLength(200);
      expect([...answers.about('nopa')]).toHaveLength(2);
    });
  });

  it('are about the first of two results with one id', () => {
    use((answers) => answers.addLookup('nopa', 'basic', { name: 'Nopa' }));
    const line = { id: 'x', at: '2026-11-01T11:00:00.000Z', find: QUERY, received: 2, total: 2 };
    const results = [NOPA, { ...NOPA, phone: '1' }];
    folder.write(
      'a.answers.ndjson',
      `${folder.read('a.answers.ndjson')}${JSON.stringify({ ...line, results })}\n`,
    );
    use((answers) => {
      answers.addFind(
        { name: 'other', city: 'SF' },
        { results: [{ ...NOPA, phone: '2' }], received: 1, total: 1 },
      );
      expect(known(answers.about('nopa'))).toEqual(known(answers.history('nopa')));
    });
  });
});

describe('a set of lines', () => {
  const reset = (name: string) => {
    folder.write(name, '');
  };

  it('means the same in any order, with duplicates', () => {
    fc.assert(
      fc.property(steps, fc.array(fc.nat(), { minLength: 1, maxLength: 30 }), (all, keys) => {
        reset('a.answers.ndjson');
        const before = use((answers) => {
          writeSome(answers, all);
          return state(answers);
        });
        const [header, ...lines] = linesOf();
        if (header === undefined) return;
        const mixed = shuffled([...lines, ...lines.slice(0, 5)], keys);
        folder.write('b.answers.ndjson', `${[header, ...mixed].join('\n')}\n`);
        expect(use(state, 'b.answers.ndjson')).toEqual(before);
      }),
      { numRuns: 60 },
    );
  });

  it('merges with another file in either order', () => {
    fc.assert(
      fc.property(steps, steps, (one, other) => {
        reset('a.answers.ndjson');
        reset('b.answers.ndjson');
        use((answers) => writeSome(answers, one));
        use((answers) => writeSome(answers, other), 'b.answers.ndjson', { now: () => START + 7 });
        const [a, b] = [folder.read('a.answers.ndjson'), folder.read('b.answers.ndjson')];
        folder.write('c.answers.ndjson', a + b);
        folder.write('d.answers.ndjson', b + a);
        expect(use(state, 'c.answers.ndjson')).toEqual(use(state, 'd.answers.ndjson'));
      }),
      { numRuns: 40 },
    );
  });

  it('loses at most the line that a kill cuts off, at every byte', () => {
    folder.path = memoryFolder();
    use((answers) => writeSome(answers, [0, 1, 2, 3, 4, 5]));
    const bytes = readFileSync(folder.at('a.answers.ndjson'));
    for (let length = 0; length <= bytes.length; length += 1) {
      const kept = bytes.subarray(0, length);
      folder.write('b.answers.ndjson', kept);
      const whole = kept.lastIndexOf(10) + 1;
      const warnings: string[] = [];
      use(
        (answers) => {
          const before = answers.size;
          answers.decide({ name: 'new' }, { restaurant: null });
          expect(answers.size).toBeGreaterThan(before);
        },
        'b.answers.ndjson',
        { warnings },
      );
      const after = readFileSync(folder.at('b.answers.ndjson'));
      expect(after.subarray(0, length).equals(kept)).toBe(true);
      use(
        (answers) => {
          expect(answers.decisions().map(({ decide }) => decide)).toContainEqual({ name: 'new' });
          expect(answers.size).toBeGreaterThanOrEqual(
            kept.subarray(0, whole).toString().split('\n').length - 1,
          );
        },
        'b.answers.ndjson',
        { warnings },
      );
      expect(warnings).toEqual([]);
    }
  });
});

import { describe, expect, it } from 'vitest';
import type { Level, Restaurant } from '../../../src/client/types.ts';
import type { AnswerAbout, FindAnswer, LookupAnswer } from '../../../src/lists/answers.ts';
import {
  type Knowledge,
  keptResults,
  type Question,
  type ResolveOptions,
  resolve,
} from '../../../src/lists/resolve.ts';

const NOPA = { service_id: 'nopa', name: 'Nopa', city: 'SF', grade: 'A', address: '1 Main St' };
const ROW: Question = { key: { name: 'Nopa', city: 'SF' } };

/** Answers in the order in which they were given, from 1 on. */
class Known implements Knowledge {
  readonly #finds = new Map<string, FindAnswer>();
  readonly #lookups = new Map<string, LookupAnswer>();
  readonly #about: (AnswerAbout & { readonly of: string })[] = [];
  #at = 0;
  decided: string | null | undefined;

  search(name: string, ...results: Restaurant[]): this {
    const at = ++this.#at;
    this.#finds.set(name, { id: `${at}`, at, results, received: results.length, total: results.length });
    for (const each of results)
      this.#about.unshift({ id: '', at, level: 'search', record: { ...each }, of: each.service_id });
    return this;
  }

  details(of: string, level: Level, output: Record<string, unknown> | null): this {
    const at = ++this.#at;
    this.#lookups.set(`${level} ${of}`, { id: `${at}`, at, output });
    this.#about.unshift({ id: '', at, level, record: output, of });
    return this;
  }

  decide(id: string | null): this {
    this.decided = id;
    return this;
  }

  find = ({ name }: { readonly name: string }) => this.#finds.get(name);
  lookup = (id: string, level: Level) => this.#lookups.get(`${level} ${id}`);
  *about(id: string) {
    yield* this.#about.filter(({ of }) => of === id);
  }
  decision = () => (this.decided === undefined ? undefined : { restaurant: this.decided });
}

/** The status, and the request that is lacking with its reason, in a few words. */
function brief(known: Known, options: ResolveOptions = {}, row = ROW): string {
  const { result, lack } = resolve({ ...row, decision: known.decision() }, known, options);
  const what = [result.status, result.match].filter(Boolean).join(' ');
  if (lack === undefined) return what;
  const { request, reason } = lack;
  const asks =
    request.kind === 'find' ? `find ${request.query.name}` : `lookup ${request.level} ${request.id}`;
  return `${what}, ${asks}: ${reason}`;
}
/** Answers from before `start` are due. */
const dueBefore = (start: number): ResolveOptions => ({ recent: { start, end: 100 } });

describe('a row that is searched', () => {
  it.each<[string, Known, ResolveOptions, string]>([
    ['nothing', new Known(), {}, 'pending, find Nopa: new'],
    ['a search', new Known().search('Nopa', NOPA), {}, 'matched exact'],
    [
      'a search, with details wanted',
      new Known().search('Nopa', NOPA),
      { fields: 'basic' },
      'matched exact, lookup basic nopa: details',
    ],
    [
      'other details',
      new Known().search('Nopa', NOPA).details('nopa', 'premium', {}),
      { fields: 'basic' },
      'matched exact, lookup basic nopa: details',
    ],
    [
      'the details',
      new Known().search('Nopa', NOPA).details('nopa', 'basic', {}),
      { fields: 'basic' },
      'matched exact',
    ],
    ['no result', new Known().search('Nopa'), {}, 'not_found'],
    [
      'an old search that matched',
      new Known().search('Nopa', NOPA),
      dueBefore(2),
      'matched exact, lookup basic nopa: older',
    ],
    [
      'an old search, and a recent lookup',
      new Known().search('Nopa', NOPA).details('nopa', 'standard', {}),
      dueBefore(2),
      'matched exact',
    ],
    ['an old search without result', new Known().search('Nopa'), dueBefore(2), 'not_found, find Nopa: older'],
    [
      'a search of a clock that was ahead',
      new Known().search('Nopa'),
      { recent: { start: 0, end: 0 } },
      'not_found, find Nopa: older',
    ],
    [
      'a lookup that found it gone',
      new Known().search('Nopa', NOPA).details('nopa', 'basic', null),
      {},
      'not_found gone',
    ],
    [
      'a search that found it again',
      new Known().details('nopa', 'basic', null).search('Nopa', NOPA),
      {},
      'matched exact',
    ],
    [
      'an old lookup that found it gone',
      new Known().search('Nopa', NOPA).details('nopa', 'basic', null),
      dueBefore(9),
      'not_found gone, find Nopa: older',
    ],
    [
      'two of one name',
      new Known().search('Nopa', NOPA, { ...NOPA, service_id: 'b' }),
      { fields: 'basic' },
      'ambiguous best',
    ],
  ])('with %s', (_name, known, options, expected) => {
    expect(brief(known, options)).toBe(expected);
  });

  it('is searched by other words with --loose, and only then', () => {
    const row: Question = { key: { name: 'Nopa GmbH', city: 'SF' } };
    const known = new Known().search('Nopa GmbH');
    expect(brief(known, {}, row)).toBe('not_found');
    expect(brief(known, { loose: true }, row)).toBe('not_found, find Nopa: loose');
    known.search('Nopa', NOPA);
    expect(brief(known, { loose: true }, row)).toBe('likely loose');
    expect(brief(known, { loose: true, ...dueBefore(2) }, row)).toBe('likely loose, find Nopa GmbH: older');
    expect(brief(known, {}, row)).toBe('not_found');
  });
});

describe('a decision', () => {
  it('beats any answer, and needs no search', () => {
    const known = new Known().search('Nopa', NOPA, { ...NOPA, service_id: 'b', grade: 'B' });
    expect(resolve({ ...ROW, decision: { restaurant: 'b' } }, known, {}).result).toMatchObject({
      status: 'matched',
      match: 'confirmed',
      candidates: 2,
      restaurant: { service_id: 'b', grade: 'B' },
    });
    expect(brief(known.decide(null), { fields: 'basic', ...dueBefore(99) })).toBe('not_found rejected');
    expect(brief(known.decide('b'), dueBefore(99))).toBe('matched confirmed, lookup basic b: older');
    expect(brief(new Known().decide('new'))).toBe('matched confirmed, lookup basic new: details');
    expect(brief(new Known().decide('new').details('new', 'basic', null))).toBe('not_found gone');
  });

  it('has no details before they are looked up', () => {
    const row = { ...ROW, decision: { restaurant: 'nopa' } };
    const known = new Known().search('Nopa', NOPA);
    expect(resolve(row, known, { fields: 'basic' }).result.details).toBeUndefined();
    known.details('nopa', 'basic', { phone: '1' });
    expect(resolve(row, known, { fields: 'basic' }).result.details).toEqual({ phone: '1' });
  });
});

describe('an id', () => {
  const row: Question = { key: { id: 'nopa' } };
  it('is looked up once, at any level', () => {
    expect(brief(new Known(), {}, row)).toBe('pending, lookup basic nopa: new');
    expect(brief(new Known().details('nopa', 'premium', NOPA), {}, row)).toBe('matched id');
    expect(brief(new Known().details('nopa', 'basic', null), {}, row)).toBe('not_found');
    expect(brief(new Known().details('nopa', 'basic', NOPA).details('nopa', 'basic', null), {}, row)).toBe(
      'not_found gone',
    );
    expect(brief(new Known().details('nopa', 'basic', null), dueBefore(9), row)).toBe(
      'not_found, lookup basic nopa: older',
    );
  });

  it('that is none is skipped', () => {
    expect(resolve({ key: { id: '../x' } }, new Known(), {}).result).toMatchObject({ status: 'skipped' });
  });
});

describe('a result in the list', () => {
  it.each([
    [{ status: 'matched', match: 'exact', id: 'nopa', name: 'Nopa' }, 'matched exact'],
    [{ status: 'not_found', match: 'rejected', id: '' }, 'not_found rejected'],
    [{ status: 'likely', match: 'only', id: 'x' }, 'pending, find Nopa: new'],
    [{ status: 'not_found', id: 'typed' }, 'pending, lookup basic typed: new'],
    [{ status: 'matched', id: '' }, 'pending, find Nopa: new'],
  ])('%j', (earlier, expected) => {
    expect(brief(new Known(), {}, { ...ROW, earlier })).toBe(expected);
  });
});

it('each field is that of the newest answer that has it', () => {
  const known = new Known()
    .search('Nopa', NOPA)
    .details('nopa', 'premium', { grade: 'B', phone: '1', address: '9 Side St' })
    .details('nopa', 'basic', { grade: 'C' });
  const { result } = resolve(ROW, known, { fields: 'basic' });
  expect(result.restaurant).toMatchObject({ name: 'Nopa', grade: 'C', address: '9 Side St' });
  expect(result.details).toEqual({ grade: 'C', phone: '1', address: '9 Side St' });
});

it('an answer keeps every candidate of the name, and the twenty most similar others', () => {
  const others = Array.from({ length: 50 }, (_, index) => ({
    service_id: `o${index}`,
    name: `Nopa ${'x'.repeat(index + 1)}`,
  }));
  const same = Array.from({ length: 30 }, (_, index) => ({ service_id: `s${index}`, name: 'nopa' }));
  const { kept, received } = keptResults({ name: 'Nopa', city: 'SF' }, [...others, ...same, 'junk']);
  expect([kept.length, received]).toEqual([50, 80]);
  expect(kept.slice(0, 20)).toEqual(others.slice(0, 20));
});

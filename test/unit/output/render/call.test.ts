import { describe, expect, it } from 'vitest';
import { present } from '../../../../src/output/formats.ts';
import { callData, callPresentation } from '../../../../src/output/render/call.ts';
import { viewOf } from '../../../helpers/hostile.ts';

const options = { prettyJson: false, guardFormulas: true, view: viewOf(60) };
const text = (value: string): { type: string; text: string } => ({ type: 'text', text: value });

describe('callPresentation', () => {
  it.each([
    ['structured content', { content: [text('x')], structuredContent: { a: 1 } }, { a: 1 }],
    ['one text block of JSON', { content: [text('{"a":[1]}')] }, { a: [1] }],
    ['one text block of words', { content: [text('hello')] }, 'hello'],
    ['several blocks', { content: [text('1'), text('2')] }, [text('1'), text('2')]],
    ['a block that is not text', { content: [{ type: 'image' }] }, [{ type: 'image' }]],
    ['nothing', {}, []],
  ])('returns %s', (_, result, json) => {
    expect(callData(result).json).toEqual(json);
  });

  it('returns the results as records', async () => {
    const structuredContent = {
      total: 2,
      results: [
        { name: 'A', n: 1 },
        { name: 'B', n: 2 },
      ],
    };
    const data = callPresentation({ structuredContent }, structuredContent);
    expect(await present(data, 'tsv', { ...options, columns: ['name'] })).toBe('A\nB\n');
    expect(data.selectColumns(['name'])).toEqual({ total: 2, results: [{ name: 'A' }, { name: 'B' }] });
    expect(await present(data, 'table', options)).toBe(
      'Total  2\n\nResults\n  NAME  N\n  A     1\n  B     2\n',
    );
  });

  it('shows text cleaned', async () => {
    const data = callPresentation({ content: [text('hello\nyou\u001b')] }, 'hello\nyou\u001b');
    expect(await present(data, 'table', options)).toBe('hello\nyou^[\n');
    expect(await present(data, 'tsv', options)).toBe('hello you^[\n');
  });
});

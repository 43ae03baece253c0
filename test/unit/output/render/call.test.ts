import { describe, expect, it } from 'vitest';
import { present } from '../../../../src/output/formats.ts';
import { callData, callPresentation, contentLines, isTruncated } from '../../../../src/output/render/call.ts';
import { viewOf } from '../../../helpers/hostile.ts';

const IMAGE = {
  type: 'image',
  mimeType: 'image/png',
  data: Buffer.from('x'.repeat(1500)).toString('base64'),
};
const LINK = {
  type: 'resource_link',
  name: 'menu',
  title: 'The menu',
  uri: 'file:///menu.pdf',
  mimeType: 'application/pdf',
  size: 2_500_000,
  description: 'of today',
};
const TEXT_FILE = { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'one\ntwo' };
const text = (value: string) => ({ type: 'text', text: value });

describe('contentLines', () => {
  it.each<[string, unknown, string[]]>([
    ['text', text('hello\nyou'), ['hello', 'you']],
    ['JSON in text', text('{"grade":"A"}'), ['Grade  A']],
    ['an image', IMAGE, ['[image] image/png, 1.5 kB']],
    ['audio', { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }, ['[audio] audio/wav, 3 bytes']],
    ['an image without details', { type: 'image' }, ['[image]']],
    [
      'a text resource',
      { type: 'resource', resource: TEXT_FILE },
      ['[resource] file:///a.txt, text/plain', '  one', '  two'],
    ],
    [
      'a binary resource',
      { type: 'resource', resource: { uri: 'file:///a', blob: 'AAA=' } },
      ['[resource] file:///a, 2 bytes'],
    ],
    [
      'a link',
      LINK,
      ['[resource link] The menu, file:///menu.pdf,', 'application/pdf, 2.5 MB', '  of today'],
    ],
    ['what is not known', { type: 'video', uri: 'x:y' }, ['Type  video', 'URI   x:y']],
    ['no block at all', 'text', ['text']],
    ['an empty text', text(' '), []],
  ])('shows %s', (_name, block, lines) => {
    expect(contentLines([block], viewOf(50))).toEqual(lines);
  });

  it('separates blocks of several lines', () => {
    const lines = contentLines([text('a'), IMAGE, text('b\nc'), IMAGE], viewOf(50));
    expect(lines).toEqual(['a', '[image] image/png, 1.5 kB', '', 'b', 'c', '', '[image] image/png, 1.5 kB']);
  });
});

describe('the result of a call', () => {
  const RESULTS = { total: 2, results: [{ name: 'A', n: 1 }, { name: 'B' }] };
  const table = 'Total  2\n\nResults\n  NAME  N\n  A     1\n  B     -\n';

  it.each<[string, Parameters<typeof callData>[0], json: unknown, table: string, tsv: string]>([
    [
      'structured content',
      { content: [text('x')], structuredContent: RESULTS },
      RESULTS,
      table,
      'A\t1\nB\t\n',
    ],
    ['one text block of JSON', { content: [text('{"a":[1]}')] }, { a: [1] }, 'A  1\n', 'a\t1\n'],
    [
      'one text block of words',
      { content: [text('hi\u001b\nyou')] },
      'hi\u001b\nyou',
      'hi^[\nyou\n',
      'hi^[ you\n',
    ],
    [
      'several blocks',
      { content: [text('1'), text('2')] },
      [text('1'), text('2')],
      '1\n2\n',
      'text\t1\ntext\t2\n',
    ],
    ['nothing', {}, [], '', ''],
    [
      'a block next to structured content',
      { structuredContent: { a: 1 }, content: [text('{"a":1}'), IMAGE] },
      { a: 1 },
      'A  1\n\n[image] image/png, 1.5 kB\n',
      'a\t1\n',
    ],
  ])('of %s is data, and text without control characters', async (_name, result, json, ...texts) => {
    const data = callPresentation(result, callData(result).json);
    const options = { prettyJson: false, guardFormulas: true, view: viewOf(60) };
    expect(callData(result).json).toEqual(json);
    expect([await present(data, 'table', options), await present(data, 'tsv', options)]).toEqual(texts);
  });

  it('keeps the document around selected columns', () => {
    const { selectColumns } = callPresentation({ structuredContent: RESULTS }, RESULTS);
    expect(selectColumns(['name'])).toEqual({ total: 2, results: [{ name: 'A' }, { name: 'B' }] });
  });

  it('is truncated where the table shows only the name of a block', () => {
    const isShort = [[text('see'), IMAGE], [LINK], undefined].map((content) => isTruncated({ content }));
    expect(isShort).toEqual([true, false, false]);
  });
});

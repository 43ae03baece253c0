import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { present } from '../../../../src/output/formats.ts';
import { callData, callPresentation, contentLines, isTruncated } from '../../../../src/output/render/call.ts';
import { expectHarmless, hostileText, viewOf } from '../../../helpers/hostile.ts';

const BASE64 = Buffer.from('x'.repeat(1500)).toString('base64');
const IMAGE = { type: 'image', mimeType: 'image/png', data: BASE64 };
const LINK = {
  type: 'resource_link',
  name: 'menu',
  title: 'The menu',
  uri: 'file:///menu.pdf',
  mimeType: 'application/pdf',
  size: 2_500_000,
  description: 'of today',
};

const options = { prettyJson: false, guardFormulas: true, view: viewOf(60) };
const text = (value: string): { type: string; text: string } => ({ type: 'text', text: value });

describe('contentLines', () => {
  it.each<[string, unknown, string[]]>([
    ['text', { type: 'text', text: 'hello\nyou' }, ['hello', 'you']],
    ['JSON in text', { type: 'text', text: '{"grade":"A"}' }, ['Grade  A']],
    ['an image', IMAGE, ['[image] image/png, 1.5 kB']],
    ['audio', { type: 'audio', mimeType: 'audio/wav', data: 'AAAA' }, ['[audio] audio/wav, 3 bytes']],
    ['an image without details', { type: 'image' }, ['[image]']],
    [
      'a text resource',
      { type: 'resource', resource: { uri: 'file:///a.txt', mimeType: 'text/plain', text: 'one\ntwo' } },
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
    ['an empty text', { type: 'text', text: ' ' }, []],
  ])('shows %s', (_name, block, lines) => {
    expect(contentLines([block], viewOf(50))).toEqual(lines);
  });

  it('separates blocks of several lines', () => {
    const lines = contentLines(
      [{ type: 'text', text: 'a' }, IMAGE, { type: 'text', text: 'b\nc' }, IMAGE],
      viewOf(50),
    );
    expect(lines).toEqual(['a', '[image] image/png, 1.5 kB', '', 'b', 'c', '', '[image] image/png, 1.5 kB']);
  });

  it('keeps any text harmless and within the width', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const blocks = [
          { type: 'text', text },
          { type: text, [text]: text },
          { type: 'image', mimeType: text, data: text },
          { type: 'resource', resource: { uri: text, text } },
          { ...LINK, title: text, description: text },
        ];
        expectHarmless((view) => contentLines(blocks, view).join('\n'), 40);
      }),
    );
  });
});

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

  it('shows the names of blocks in the table and all data in JSON', async () => {
    const content = [{ type: 'text', text: 'see' }, IMAGE];
    const data = callPresentation({ content }, callData({ content }).json);
    expect(await present(data, 'table', options)).toBe('see\n[image] image/png, 1.5 kB\n');
    expect(callData({ content }).json).toEqual(content);
    expect([isTruncated({ content }), isTruncated({ content: [LINK] }), isTruncated({})]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('shows the names of blocks next to structured content', async () => {
    const result = { structuredContent: { a: 1 }, content: [{ type: 'text', text: '{"a":1}' }, IMAGE] };
    const data = callPresentation(result, callData(result).json);
    expect(await present(data, 'table', options)).toBe('A  1\n\n[image] image/png, 1.5 kB\n');
    expect(callData(result).json).toEqual({ a: 1 });
  });
});

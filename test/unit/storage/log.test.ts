import { appendFileSync, linkSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Log, type LogLine } from '../../../src/storage/log.ts';
import { errorOf, modeOf, useFolder } from '../../helpers/files.ts';

const folder = useFolder();

function open(path: string, access: 'read' | 'append' | 'create' = 'append'): Log {
  const log = Log.open(path, access);
  if (log === undefined) throw new Error('no file');
  return log;
}

function linesOf(path: string): LogLine[] {
  const log = open(path, 'read');
  const lines = [...log.lines()];
  log.close();
  return lines;
}

const textsOf = (path: string) => linesOf(path).map(({ text }) => text);

describe('appending', () => {
  it('creates a private file, and writes whole lines', () => {
    const log = open(folder.at('log'), 'create');
    log.append('{"a":1}', 'now');
    log.append('"ü"', 'never');
    log.close();
    expect(folder.read('log')).toBe('{"a":1}\n"ü"\n');
    expect(modeOf(folder.at('log'))).toBe('600');
  });

  it.each([
    ['{"a":1}\n{"b":2}', '{"a":1}\n{"b":2}\n'],
    ['{"a":1}\n{"b":', '{"a":1}\n{"b": (cut off)\n'],
    ['{"b":', '{"b": (cut off)\n'],
    ['{"a":1}\n', '{"a":1}\n'],
    ['', ''],
  ])('ends the last line of %j, which was read, and removes nothing', (before, after) => {
    const log = open(folder.write('log', before));
    expect([...log.lines()].map(({ text }) => text).join('\n')).toBe(before.trimEnd());
    log.endLastLine();
    log.append('1', 'soon');
    log.close();
    expect(folder.read('log')).toBe(`${after}1\n`);
  });

  it('ends a last line that was not read as one that was cut off', () => {
    const log = open(folder.write('log', '1\n2'));
    log.endLastLine();
    log.append('3', 'never');
    log.close();
    expect(textsOf(folder.at('log'))).toEqual(['1', '2 (cut off)', '3']);
  });

  it('ends a last line that is longer than a block', () => {
    const long = `{"a":"${'ü'.repeat(800_000)}`;
    const log = open(folder.write('log', `1\n${long}`));
    log.endLastLine();
    log.close();
    expect(folder.read('log')).toBe(`1\n${long} (cut off)\n`);
  });

  it('refuses a link, and a file with a second name', () => {
    folder.write('target', '1\n');
    symlinkSync(folder.at('target'), folder.at('link'));
    linkSync(folder.at('target'), folder.at('second'));
    expect(errorOf(() => open(folder.at('link'))).message).toContain('it is a symbolic link');
    expect(errorOf(() => open(folder.at('link'), 'read')).message).toContain('it is a symbolic link');
    expect(errorOf(() => open(folder.at('second'))).message).toContain('a second name');
  });

  it('notices that another program replaced the file', () => {
    const log = open(folder.write('log', '1\n'));
    log.assertInPlace();
    folder.write('other', '2\n');
    renameSync(folder.at('other'), folder.at('log'));
    expect(errorOf(() => log.assertInPlace()).code).toBe('io_error');
    log.close();
  });
});

describe('reading', () => {
  it('knows no file', () => expect(Log.open(folder.at('none'), 'read')).toBeUndefined());

  it('returns every line with its place, which reads it again', () => {
    const path = folder.write('log', '{"a":"ü"}\n\n3');
    const log = open(path, 'read');
    expect([...log.lines()]).toEqual([
      { text: '{"a":"ü"}', offset: 0, length: 10, number: 1, isEnded: true },
      { text: '', offset: 11, length: 0, number: 2, isEnded: true },
      { text: '3', offset: 12, length: 1, number: 3, isEnded: false },
    ]);
    expect(log.read(0, 10)).toBe('{"a":"ü"}');
    appendFileSync(path, '4\n5\n');
    expect([...log.lines()].map(({ text, number }) => [number, text])).toEqual([
      [3, '34'],
      [4, '5'],
    ]);
    log.close();
  });

  it('returns lines of any length around the borders of blocks', () => {
    const lengths = [0, 1_048_575, 1_048_576, 1_048_577, 3, 2_500_000];
    const path = folder.write('log', lengths.map((length) => `${'x'.repeat(length)}\n`).join(''));
    expect(linesOf(path).map(({ length }) => length)).toEqual(lengths);
    expect(textsOf(path).map((text) => text?.length)).toEqual(lengths);
  });

  it('skips a line without limit', () => {
    const path = folder.write('log', Buffer.alloc(65 * 1024 * 1024, 'x'));
    appendFileSync(path, '\n1\n');
    expect(textsOf(path)).toEqual([undefined, '1']);
  });

  it('returns appended lines after any cut', () => {
    const texts = fc.array(fc.json(), { maxLength: 5 });
    fc.assert(
      fc.property(texts, fc.nat(), fc.json(), (lines, at, added) => {
        const whole = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const path = folder.write('log', whole.subarray(0, at % (whole.length + 1)));
        const log = open(path);
        log.endLastLine();
        log.append(added, 'never');
        log.close();
        expect(readFileSync(path, 'utf8').endsWith(`\n`)).toBe(true);
        expect(textsOf(path).at(-1)).toBe(added);
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkKey,
  DEFAULT_KEY_PREFIX,
  keyMasker,
  keySuffix,
  redactor,
  secretsIn,
} from '../../../src/client/key.ts';
import { KEY } from '../../helpers/client.ts';

const check = (raw: string) => checkKey(raw, DEFAULT_KEY_PREFIX);

describe('checkKey', () => {
  it.each([KEY, ` ${KEY}\r\n`, `\uFEFF${KEY}`])('accepts %j', (raw) => {
    expect(check(raw)).toBe(KEY);
  });

  it.each([
    ['', 'empty'],
    [' \n', 'empty'],
    [`Bearer ${KEY}`, 'Bearer'],
    [`"${KEY}"`, 'quotes'],
    [`“${KEY}”`, 'quotes'],
    ['sk_live_0123456789', 'starts with sk_service_'],
    ['sk_service_', 'nothing follows the prefix'],
    [`${KEY} ${KEY}`, 'characters'],
    [`${KEY}\nx`, 'characters'],
    [`${KEY}\0`, 'characters'],
    [`${KEY}é`, 'characters'],
    [`${KEY}\u200b`, 'characters'],
    [`${KEY.slice(0, 15)}\u00a0${KEY.slice(15)}`, 'characters'],
  ])('rejects %j without repeating it', (raw, expected) => {
    expect(() => check(raw)).toThrow(
      expect.objectContaining({ code: 'bad_key', message: expect.stringContaining(expected) }),
    );
    expect(() => check(raw)).not.toThrow(
      expect.objectContaining({ message: expect.stringContaining('0123456789') }),
    );
  });

  it('accepts another prefix', () => {
    expect(checkKey('rk_1', 'rk_')).toBe('rk_1');
  });
});

const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
const secret = fc
  .string({ unit: visible, minLength: 12, maxLength: 60 })
  .map((text) => DEFAULT_KEY_PREFIX + text);

describe('redactor', () => {
  it('masks a key in every encoding', () => {
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), fc.nat(5), (key, before, after, pad) => {
        const redact = (text: string) => redactor()(keyMasker(key)(text));
        const body = key.slice(DEFAULT_KEY_PREFIX.length);
        const base64 = Buffer.from(`${'x'.repeat(pad)}${key}${after}`).toString('base64');
        for (const text of [
          before + key + after,
          `Authorization: Bearer ${key}`,
          JSON.stringify({ key, before }),
          `https://h/?k=${encodeURIComponent(key)}`,
        ]) {
          const shown = redact(text);
          expect(shown).not.toContain(body);
          expect(shown).not.toContain(encodeURIComponent(body));
          expect(redact(shown)).toBe(shown);
        }
        const url = base64.replaceAll('+', '-').replaceAll('/', '_');
        for (const [text, coding] of [
          [base64, 'base64'],
          [url, 'base64url'],
        ] as const) {
          const shown = redact(text).replace(/sk_service_….{4}/, ' ');
          expect(Buffer.from(shown, coding).toString()).not.toContain(body);
        }
      }),
      { numRuns: 40 },
    );
  });

  it('masks a key of unusual characters and keeps the JSON around it valid', () => {
    const awkward = fc.array(fc.constantFrom('a', 'B', '\\', '"', '/', '&', '<', '%', '$', "'", 'u0'), {
      minLength: 8,
      maxLength: 16,
    });
    fc.assert(
      fc.property(awkward, (parts) => {
        const key = `${DEFAULT_KEY_PREFIX}${parts.join('')}.`;
        const erase = keyMasker(key);
        const shown = erase(`x ${key} y`);
        expect(shown).toMatch(/^x sk_service_…[\w.~-]{0,4} y$/);
        const once = JSON.stringify(`x ${key} y`);
        expect(JSON.parse(erase(once))).toBe(shown);
        expect(JSON.parse(JSON.parse(erase(JSON.stringify(once))))).toBe(shown);
        expect(JSON.parse(erase(once.replaceAll('/', '\\/').replaceAll('<', '\\u003C')))).toBe(shown);
        expect(decodeURIComponent(erase(encodeURIComponent(`x ${key} y`)))).toBe(shown);
      }),
      { numRuns: 60 },
    );
  });

  it.each([8, 600, 20_000])('masks a secret of %i characters in linear time', (length) => {
    const secret = Array.from({ length }, (_, index) =>
      ((index * index * 7919 + index) % 36).toString(36),
    ).join('');
    const mask = keyMasker(secret, '', '…');
    const escaped = secret.replace(/./g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
    for (const text of [`a ${secret} b`, `a ${escaped} b`]) expect(mask(text)).toBe('a … b');
    const start = performance.now();
    mask(`${secret.slice(0, -1)}.`.repeat(Math.ceil(1_000_000 / length)));
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('masks a secret that is not ASCII, also in a URL', () => {
    const mask = keyMasker('Zürich-Schlüssel', '', '…');
    for (const text of ['Zürich-Schlüssel', 'Z%C3%BCrich-Schl%C3%BCssel', 'z%c3%bcrich-schl%c3%bcssel'])
      expect(mask(`a ${text} b`)).toBe('a … b');
  });

  it('masks what follows the scheme in a header', () => {
    expect(secretsIn('Token abcdefgh')).toEqual(['Token abcdefgh', 'abcdefgh']);
    expect(secretsIn('abcdefgh')).toEqual(['abcdefgh']);
    expect(secretsIn('Token x')).toEqual([]);
  });

  it('keeps text that contains a key of fewer than 8 characters', () => {
    expect(keyMasker('sk_service_abc')('sk_service_abc')).toBe('sk_service_abc');
  });

  it('masks a key in capitals, also with another prefix', () => {
    const key = 'acme-9f8a7b6c5d4e3f2a';
    expect(keyMasker(key, 'acme-')(`the key ${key.toUpperCase()}\n`)).toBe('the key acme-…3f2a\n');
  });

  it('shows the last four characters', () => {
    expect(keySuffix(KEY)).toBe('cdef');
    expect(keyMasker(KEY)(`the key ${KEY}.`)).toBe('the key sk_service_…cdef.');
    expect(redactor()(`Bearer ${KEY}`)).toBe('Bearer sk_service_…cdef');
    expect(keyMasker('acme-9f8a7b6c5d4e3f2a')('acme-9f8a7b6c5d4e3f2a')).toBe('…3f2a');
  });

  it('masks text that looks like a key or token', () => {
    const redact = redactor();
    expect(redact('{"k":"sk_service_12345678","n":1}')).toBe('{"k":"sk_service_…5678","n":1}');
    expect(redact('a bearer abc.def-ghi, b')).toBe('a bearer …, b');
    expect(redact('Bearer error="invalid_token"')).toBe('Bearer error="invalid_token"');
    expect(redact('keys begin with sk_service_.')).toBe('keys begin with sk_service_.');
  });

  it('keeps other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/bearer|sk_service_/i.test(text));
        expect(redactor()(text)).toBe(text);
        expect(keyMasker(KEY)(text)).toBe(text);
      }),
    );
  });
});

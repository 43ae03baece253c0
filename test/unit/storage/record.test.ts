import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecords, encodeRecord, type LedgerRecord, RECORD_SIZE } from '../../../src/storage/record.ts';

const record: fc.Arbitrary<LedgerRecord> = fc.record({
  type: fc.constantFrom('request' as const, 'claim' as const, 'cancel' as const, 'hold' as const),
  at: fc.nat({ max: 2 ** 48 - 1 }),
  until: fc.nat({ max: 2 ** 48 - 1 }),
  id: fc.nat({ max: 2 ** 48 - 1 }),
});

describe('records', () => {
  it('come back in order, whatever lies between them', () => {
    const pieces = fc.array(fc.tuple(fc.uint8Array({ maxLength: 70 }), record), { maxLength: 20 });
    fc.assert(
      fc.property(pieces, fc.uint8Array({ maxLength: RECORD_SIZE - 1 }), (list, tail) => {
        const bytes = Buffer.concat([...list.flatMap(([noise, one]) => [noise, encodeRecord(one)]), tail]);
        const { records, rest } = decodeRecords(bytes);
        expect(records).toEqual(list.map(([, one]) => one));
        expect(rest).toBe(tail.length);
      }),
    );
  });

  it('are found again after one that was cut', () => {
    fc.assert(
      fc.property(record, record, fc.integer({ min: 0, max: RECORD_SIZE - 1 }), (first, second, length) => {
        const bytes = Buffer.concat([encodeRecord(first).subarray(0, length), encodeRecord(second)]);
        expect(decodeRecords(bytes).records).toEqual([second]);
      }),
    );
  });

  it('are not believed with a single bit changed', () => {
    fc.assert(
      fc.property(record, fc.nat({ max: 28 * 8 - 1 }), (one, bit) => {
        const bytes = encodeRecord(one);
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(decodeRecords(bytes)).toEqual({ records: [], rest: RECORD_SIZE - 1 });
      }),
    );
  });

  it('take any clock', () => {
    for (const at of [-5, 1.9, Number.POSITIVE_INFINITY]) {
      const [found] = decodeRecords(encodeRecord({ type: 'request', at, until: 0, id: 1 })).records;
      expect(found?.at).toBe(Math.min(2 ** 48 - 1, Math.max(0, Math.trunc(at))));
    }
  });
});

/**
 * request: one HTTP try, counts whatever the limits say. claim: asks for a slot; counts unless a cancel with its id
 * follows. hold: nobody may send before `until`.
 */
export type RecordType = 'request' | 'claim' | 'cancel' | 'hold';

export interface LedgerRecord {
  readonly type: RecordType;
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number;
  /** End of a hold, in milliseconds since the epoch; otherwise 0. */
  readonly until: number;
  /** 48 random bits. A cancel carries the id of its claim. */
  readonly id: number;
}

/** Bytes of a record: magic, version, type, 0 · at (6) · until (6) · id (6) · zeros (6) · checksum (4). Big endian. */
export const RECORD_SIZE = 32;

const MAGIC = 0xb7;
const VERSION = 1;
const TYPES: readonly RecordType[] = ['request', 'claim', 'cancel', 'hold'];
const CHECKED = 28;

/** The bytes of a record, for one append. */
export function encodeRecord({ type, at, until, id }: LedgerRecord): Buffer {
  const bytes = Buffer.alloc(RECORD_SIZE);
  bytes[0] = MAGIC;
  bytes[1] = VERSION;
  bytes[2] = TYPES.indexOf(type);
  bytes.writeUIntBE(clamp(at), 4, 6);
  bytes.writeUIntBE(clamp(until), 10, 6);
  bytes.writeUIntBE(id, 16, 6);
  bytes.writeUInt32BE(checksum(bytes, 0), CHECKED);
  return bytes;
}

/**
 * The records in these bytes, in order. What is no record (a torn one, noise, another version) is skipped byte by byte.
 * @returns `rest`: how many bytes at the end are too few to tell.
 */
export function decodeRecords(bytes: Buffer): { records: LedgerRecord[]; rest: number } {
  const records: LedgerRecord[] = [];
  let offset = 0;
  while (offset + RECORD_SIZE <= bytes.length) {
    const record = decodeAt(bytes, offset);
    if (record === undefined) {
      offset += 1;
    } else {
      records.push(record);
      offset += RECORD_SIZE;
    }
  }
  return { records, rest: bytes.length - offset };
}

function decodeAt(bytes: Buffer, offset: number): LedgerRecord | undefined {
  if (bytes[offset] !== MAGIC || bytes[offset + 1] !== VERSION) return undefined;
  const type = TYPES[bytes[offset + 2] ?? TYPES.length];
  if (type === undefined || bytes.readUInt32BE(offset + CHECKED) !== checksum(bytes, offset))
    return undefined;
  return {
    type,
    at: bytes.readUIntBE(offset + 4, 6),
    until: bytes.readUIntBE(offset + 10, 6),
    id: bytes.readUIntBE(offset + 16, 6),
  };
}

/** FNV-1a, 32 bits, of all but the checksum. */
function checksum(bytes: Buffer, offset: number): number {
  let hash = 0x811c9dc5;
  for (let i = offset; i < offset + CHECKED; i += 1) hash = Math.imul(hash ^ (bytes[i] ?? 0), 0x01000193);
  return hash >>> 0;
}

/** To what six bytes hold: a clock may stand anywhere. */
function clamp(time: number): number {
  return Math.min(Math.max(Math.trunc(time), 0), 2 ** 48 - 1);
}

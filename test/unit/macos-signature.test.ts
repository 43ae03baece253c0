import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { removeSignature } = await import(join(ROOT, 'scripts/macos-signature.js'));

/** Returns a Mach-O file of two load commands, with 24 bytes of `__LINKEDIT`: eight of symbols, then the signature. */
function signed(): Buffer {
  const header = Buffer.alloc(32);
  header.writeUInt32LE(0xfeedfacf, 0);
  header.writeUInt32LE(2, 16);
  header.writeUInt32LE(72 + 16, 20);
  const linkEdit = Buffer.alloc(72);
  linkEdit.writeUInt32LE(0x19, 0);
  linkEdit.writeUInt32LE(72, 4);
  linkEdit.write('__LINKEDIT', 8);
  linkEdit.writeBigUInt64LE(120n, 40);
  linkEdit.writeBigUInt64LE(24n, 48);
  const signature = Buffer.alloc(16);
  signature.writeUInt32LE(0x1d, 0);
  signature.writeUInt32LE(16, 4);
  signature.writeUInt32LE(128, 8);
  signature.writeUInt32LE(16, 12);
  return Buffer.concat([
    header,
    linkEdit,
    signature,
    Buffer.from('symbols!'),
    Buffer.from('signature bytes!'),
  ]);
}

it('removes the signature of an executable for macOS, and its load command', () => {
  const file = signed();
  const unsigned = removeSignature(file);
  expect(unsigned.length).toBe(128);
  expect(unsigned.toString('latin1', 120)).toBe('symbols!');
  expect([unsigned.readUInt32LE(16), unsigned.readUInt32LE(20)]).toEqual([1, 72]);
  expect(unsigned.readBigUInt64LE(32 + 48)).toBe(8n);
  expect(unsigned.subarray(104, 120)).toEqual(Buffer.alloc(16));
  expect(unsigned.subarray(32, 80)).toEqual(file.subarray(32, 80));
});

it('removes nothing if the signature is not where it should be', () => {
  expect(() => removeSignature(removeSignature(signed()))).toThrow('last load command');
  expect(() => removeSignature(Buffer.concat([signed(), Buffer.from('more')]))).toThrow('end of the file');
});

// Removes the code signature of an executable for macOS. Bun's compiler changes the x64 executable and leaves the signature of
// Bun itself, which no longer matches, so that macOS ends the process at its start. Unlike arm64, x64 needs no signature.

const HEADER_BYTES = 32;
const SIGNATURE_BYTES = 16;
const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;

/**
 * Returns a 64-bit Mach-O file without its signature.
 * @param {Buffer} file
 * @throws {Error} if the signature is not the last load command and the end of the file
 */
export function removeSignature(file) {
  const count = file.readUInt32LE(16);
  const size = file.readUInt32LE(20);
  let linkEdit = 0;
  let signature = 0;
  for (let index = 0, at = HEADER_BYTES; index < count; index += 1, at += file.readUInt32LE(at + 4)) {
    const kind = file.readUInt32LE(at);
    if (kind === LC_CODE_SIGNATURE) signature = at;
    if (kind === LC_SEGMENT_64 && file.toString('latin1', at + 8, at + 19) === '__LINKEDIT\0') linkEdit = at;
  }
  const end = HEADER_BYTES + size;
  if (linkEdit === 0 || signature + SIGNATURE_BYTES !== end)
    throw new Error('the signature is not the last load command');
  const offset = file.readUInt32LE(signature + 8);
  const length = file.readUInt32LE(signature + 12);
  if (offset + length !== file.length) throw new Error('the signature is not at the end of the file');

  const unsigned = Buffer.from(file.subarray(0, offset));
  unsigned.fill(0, signature, end);
  unsigned.writeUInt32LE(count - 1, 16);
  unsigned.writeUInt32LE(size - SIGNATURE_BYTES, 20);
  const linkEditBytes = linkEdit + 48;
  unsigned.writeBigUInt64LE(file.readBigUInt64LE(linkEditBytes) - BigInt(length), linkEditBytes);
  return unsigned;
}

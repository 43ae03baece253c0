const HEADERS_AT = 0x40;
const SECTION_AT = 0x200;
const SECTION_RVA = 0x1000;
const IMAGE_BYTES = 0x2000;
const OPTIONAL_HEADER_BYTES = 240;
/** Offsets in the section, in bytes. */
const PARTS = {
  address: 0x28,
  name: 0x2c,
  ordinal: 0x30,
  library: 0x60,
  symbol: 0x80,
  target: 0xa0,
  end: 0x100,
};

/**
 * Creates a 64-bit DLL with one exported function, which is that of another DLL (PE format specification, "Forwarder RVA").
 * @param target such as `advapi32.SystemFunction036`; names are shorter than 32 characters
 */
export function forwardingLibrary(library, symbol, target) {
  const bytes = Buffer.alloc(SECTION_AT * 2);
  const put = (at, values, size) => {
    for (const [offset, value] of Object.entries(values)) bytes.writeUIntLE(value, at + Number(offset), size);
  };
  bytes.write('MZ');
  bytes.writeUInt32LE(HEADERS_AT, 0x3c);
  bytes.write('PE', HEADERS_AT);
  const file = HEADERS_AT + 4;
  // x64; one section; size of the optional header; an executable DLL.
  put(file, { 0: 0x8664, 2: 1, 16: OPTIONAL_HEADER_BYTES, 18: 0x2022 }, 2);
  const optional = file + 20;
  // PE32+; versions of the system; a console program; DLL characteristics.
  put(optional, { 0: 0x20b, 40: 6, 48: 6, 68: 3, 70: 0x160 }, 2);
  put(optional, { 32: SECTION_RVA, 36: SECTION_AT, 56: IMAGE_BYTES, 60: SECTION_AT, 108: 16 }, 4);
  put(optional, { 24: 0x1_8000_0000, 72: 0x10_0000, 80: 0x1000, 88: 0x10_0000, 96: 0x1000 }, 6);
  // The first data directory: the exports.
  put(optional, { 112: SECTION_RVA, 116: PARTS.end }, 4);
  const section = optional + OPTIONAL_HEADER_BYTES;
  bytes.write('.edata', section);
  put(section, { 8: SECTION_AT, 12: SECTION_RVA, 16: SECTION_AT, 20: SECTION_AT, 36: 0x4000_0040 }, 4);
  const rva = (part) => SECTION_RVA + PARTS[part];
  // The export directory: name, first ordinal, one function, one name, and the tables.
  const directory = {
    12: rva('library'),
    16: 1,
    20: 1,
    24: 1,
    28: rva('address'),
    32: rva('name'),
    36: rva('ordinal'),
  };
  put(SECTION_AT, directory, 4);
  put(SECTION_AT, { [PARTS.address]: rva('target'), [PARTS.name]: rva('symbol') }, 4);
  for (const [part, text] of Object.entries({ library, symbol, target }))
    bytes.write(text, SECTION_AT + PARTS[part]);
  return bytes;
}

/** Of ELF (64 bit, little-endian): what is needed to move the last segment of an executable that Bun has written. */

interface Section {
  /** Where its header stands. */
  header: number;
  name: string;
  address: number;
  offset: number;
  bytes: number;
}

const PT_LOAD = 1;
const PT_NOTE = 4;
const READ_WRITE = 6;

/**
 * Bun appends what it embeds to the writable segment, and so has to write out the zeros of .bss that lie between: 1.8 MB. This gives
 * it a segment of its own, in the place of the note with the build id, which nothing reads, and leaves the zeros out.
 */
export const withoutZeros = (executable: Buffer): Buffer => {
  const bytes = Buffer.from(executable);
  if (bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2) throw new Error('no 64-bit ELF executable');
  const sections = readSections(bytes);
  const embedded = sectionOf(sections, '.bun');
  const zeros = sectionOf(sections, '.bss');
  const segments = readSegments(bytes);
  const data = segments.find(
    ({ type, address, fileBytes }) =>
      type === PT_LOAD && embedded.address >= address && embedded.address < address + fileBytes,
  );
  const note = segments.find(({ type }) => type === PT_NOTE);
  if (data === undefined || note === undefined || zeros.address < data.address)
    throw new Error('not as Bun lays it out');
  const dataEnd = data.offset + zeros.address - data.address;
  if (bytes.subarray(dataEnd, embedded.offset).some((byte) => byte !== 0)) throw new Error('there is more than zeros');
  // Offset and address have to agree within a page (System V ABI, 5-2).
  const place = dataEnd + ((((embedded.address - dataEnd) % data.align) + data.align) % data.align);
  const shift = embedded.offset - place;

  writeWord(bytes, data.header + 32, zeros.address - data.address);
  writeWord(bytes, data.header + 40, zeros.address + zeros.bytes - data.address);
  bytes.writeUInt32LE(PT_LOAD, note.header);
  bytes.writeUInt32LE(READ_WRITE, note.header + 4);
  const { address } = embedded;
  const words = [place, address, address, embedded.bytes, embedded.bytes, data.align];
  for (const [index, word] of words.entries()) writeWord(bytes, note.header + 8 + index * 8, word);
  for (const section of sections)
    if (section.offset >= embedded.offset) writeWord(bytes, section.header + 24, section.offset - shift);
  writeWord(bytes, 40, readWord(bytes, 40) - shift);
  return Buffer.concat([bytes.subarray(0, dataEnd), Buffer.alloc(place - dataEnd), bytes.subarray(embedded.offset)]);
};

const readWord = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at));
const writeWord = (bytes: Buffer, at: number, value: number): void => void bytes.writeBigUInt64LE(BigInt(value), at);

const readSections = (bytes: Buffer): Section[] => {
  const headers = readWord(bytes, 40);
  const size = bytes.readUInt16LE(58);
  const read = (index: number) => {
    const header = headers + index * size;
    return {
      header,
      nameAt: bytes.readUInt32LE(header),
      address: readWord(bytes, header + 16),
      offset: readWord(bytes, header + 24),
      bytes: readWord(bytes, header + 32),
    };
  };
  const names = read(bytes.readUInt16LE(62)).offset;
  return Array.from({ length: bytes.readUInt16LE(60) }, (_none, index) => {
    const section = read(index);
    const start = names + section.nameAt;
    return { ...section, name: bytes.toString('latin1', start, bytes.indexOf(0, start)) };
  });
};

const sectionOf = (sections: readonly Section[], name: string): Section => {
  const found = sections.find((section) => section.name === name);
  if (found === undefined) throw new Error(`there is no section ${name}`);
  return found;
};

const readSegments = (bytes: Buffer) => {
  const headers = readWord(bytes, 32);
  const size = bytes.readUInt16LE(54);
  return Array.from({ length: bytes.readUInt16LE(56) }, (_none, index) => {
    const header = headers + index * size;
    return {
      header,
      type: bytes.readUInt32LE(header),
      offset: readWord(bytes, header + 8),
      address: readWord(bytes, header + 16),
      fileBytes: readWord(bytes, header + 32),
      align: readWord(bytes, header + 48),
    };
  });
};

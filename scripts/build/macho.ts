/** Of Mach-O (64 bit, little-endian): enough to take a signature off that no longer fits. */

const MAGIC = 0xfeedfacf;
const HEADER_BYTES = 32;
const LC_CODE_SIGNATURE = 0x1d;

/**
 * Bun signs what it makes for Apple's processors, but leaves the signature of its own runtime in what it makes for Intel's, where no
 * page that it changed fits. Without any, Intel's (and Rosetta) start it; with a wrong one they may not.
 */
export const withoutSignature = (executable: Buffer): Buffer => {
  const bytes = Buffer.from(executable);
  if (bytes.readUInt32LE(0) !== MAGIC) throw new Error('no 64-bit Mach-O executable');
  const commands = bytes.readUInt32LE(16);
  const commandBytes = bytes.readUInt32LE(20);
  const end = HEADER_BYTES + commandBytes;
  let at = HEADER_BYTES;
  for (let index = 0; index < commands; index += 1) {
    const size = bytes.readUInt32LE(at + 4);
    if (bytes.readUInt32LE(at) === LC_CODE_SIGNATURE) {
      bytes.copyWithin(at, at + size, end);
      bytes.fill(0, end - size, end);
      bytes.writeUInt32LE(commands - 1, 16);
      bytes.writeUInt32LE(commandBytes - size, 20);
      return bytes;
    }
    at += size;
  }
  return bytes;
};

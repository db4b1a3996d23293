import type { OutputChunk } from './port.ts';

const HEADER_BYTES = 8;
const NOTHING = new Uint8Array(0);

/** Takes Docker's multiplexed stream apart without waiting for whole frames, however its chunks are cut. */
export async function* splitFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<OutputChunk, void, undefined> {
  let frame: { stream: OutputChunk['stream']; left: number } = { stream: 'stdout', left: 0 };
  let header: Uint8Array = NOTHING;
  for await (const chunk of chunks) {
    const data = header.length === 0 ? chunk : Buffer.concat([header, chunk]);
    header = NOTHING;
    for (let offset = 0; offset < data.length;) {
      if (frame.left > 0) {
        const piece = data.subarray(offset, offset + frame.left);
        offset += piece.length;
        frame.left -= piece.length;
        yield { stream: frame.stream, data: piece };
      } else if (data.length - offset < HEADER_BYTES) {
        header = Uint8Array.from(data.subarray(offset));
        break;
      } else {
        frame = headerAt(data, offset);
        offset += HEADER_BYTES;
      }
    }
  }
  if (frame.left > 0 || header.length > 0) throw new Error('the stream broke off in the middle of a frame');
}

const headerAt = (data: Uint8Array, offset: number): { stream: OutputChunk['stream']; left: number } => {
  const view = new DataView(data.buffer, data.byteOffset + offset, HEADER_BYTES);
  const kind = view.getUint8(0);
  if (kind === 1 || kind === 2) return { stream: kind === 1 ? 'stdout' : 'stderr', left: view.getUint32(4) };
  throw new Error(`Docker sent a stream that is not multiplexed (kind ${kind})`);
};

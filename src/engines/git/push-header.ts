import { BerthError } from '#kernel/errors';
import { malformed } from './body.ts';
import { PacketError, createPacketReader, type Packet, type PacketReader } from './pkt-line.ts';

/** One ref that a push wants to change. */
export interface PushCommand {
  /** The name as bytes in Latin-1: names need not be UTF-8. */
  key: string;
  ref: string;
  before: string;
  after: string;
}

/** The beginning of a push (gitprotocol-pack(5)): what comes before the pack. */
export interface PushHeader {
  commands: PushCommand[];
  capabilities: ReadonlySet<string>;
  /** `-o` options. */
  options: string[];
  /** All bytes that were read, for git. */
  bytes: Uint8Array;
}

const MAX_HEADER_BYTES = 8 * 1024 ** 2;
const MAX_COMMANDS = 20_000;
const MAX_OPTIONS = 64;
const MAX_OPTION_BYTES = 4096;

/** Reads up to the pack, and leaves the rest in `body`. A push that ends before is INVALID_INPUT: none of it happened. */
export const readPushHeader = async (body: AsyncIterator<Uint8Array>): Promise<PushHeader> => {
  const source = createSource(body);
  const commands: PushCommand[] = [];
  let capabilities = new Set<string>();
  const options: string[] = [];
  for (let next = await source.next(); next.type === 'data'; next = await source.next()) {
    const [line, more] = splitCapabilities(next.payload);
    if (more !== undefined) capabilities = new Set(more.split(' ').filter((name) => name !== ''));
    if (line.startsWith('shallow ')) continue;
    commands.push(parseCommand(line));
    if (commands.length > MAX_COMMANDS) throw tooMuch(`more than ${MAX_COMMANDS} refs at once`);
  }
  if (commands.length > 0 && capabilities.has('push-options')) {
    for (let next = await source.next(); next.type === 'data'; next = await source.next()) {
      const option = Buffer.from(next.payload).toString('utf8').replace(/\n$/, '');
      if (option.length > MAX_OPTION_BYTES || options.push(option) > MAX_OPTIONS)
        throw tooMuch(`more than ${MAX_OPTIONS} push options, or one of more than ${MAX_OPTION_BYTES} bytes`);
    }
  }
  return { commands, capabilities, options, bytes: source.taken() };
};

const createSource = (body: AsyncIterator<Uint8Array>) => {
  const reader = createPacketReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  return {
    taken: () => Buffer.concat(chunks),
    next: async (): Promise<Packet> => {
      for (;;) {
        const next = nextPacket(reader);
        if (next !== undefined) return next;
        if (size > MAX_HEADER_BYTES) throw tooMuch(`more than ${MAX_HEADER_BYTES} bytes before the pack`);
        const chunk = await body.next();
        if (chunk.done === true) throw malformed('the push ended before its list of refs did');
        size += chunk.value.length;
        chunks.push(chunk.value);
        reader.push(chunk.value);
      }
    },
  };
};

const nextPacket = (reader: PacketReader): Packet | undefined => {
  try {
    return reader.next();
  } catch (thrown) {
    if (thrown instanceof PacketError) throw malformed(`the push is not in git's format: ${thrown.message}`);
    throw thrown;
  }
};

const splitCapabilities = (payload: Uint8Array): [string, string | undefined] => {
  const line = Buffer.from(payload).toString('latin1');
  const at = line.indexOf('\0');
  return at === -1 ? [line.replace(/\n$/, ''), undefined] : [line.slice(0, at), line.slice(at + 1).replace(/\n$/, '')];
};

const COMMAND = /^([0-9a-f]{40}) ([0-9a-f]{40}) ([^\n]+)$/;

const parseCommand = (line: string): PushCommand => {
  const [, before, after, key] = COMMAND.exec(line) ?? [];
  if (before !== undefined && after !== undefined && key !== undefined)
    return { key, ref: Buffer.from(key, 'latin1').toString('utf8'), before, after };
  if (/^[0-9a-f]{64} [0-9a-f]{64} /.test(line)) {
    throw new BerthError('INVALID_INPUT', 'this is a SHA-256 repository; berth hosts SHA-1 repositories', {
      hint: 'make the repository with: git init --object-format=sha1',
    });
  }
  throw malformed("the push names a ref that is not in git's format");
};

const tooMuch = (what: string): BerthError =>
  new BerthError('INVALID_INPUT', `the push has ${what}`, { hint: 'push less at once', httpStatus: 413 });

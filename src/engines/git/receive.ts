import { messageOf } from '#kernel/errors';
import { readBody } from './body.ts';
import type { GitDeps } from './deps.ts';
import { FLUSH, createPacketReader, packet } from './pkt-line.ts';
import type { Git, Limits, PushSink, RpcRequest } from './port.ts';
import { outcomeOf } from './push-outcome.ts';
import { readPushHeader, type PushHeader } from './push-header.ts';
import { createReply, type Reply } from './reply.ts';
import type { GitProcess } from './run.ts';
import { BAND, KEEP_ALIVE, printable, progress } from './side-band.ts';
import { sweep } from './sweep.ts';

export interface ReceiveDeps extends GitDeps {
  /** A client that sends or takes nothing for so long counts as gone. */
  idleMs: number;
}

/** How often a client hears something while what follows its push is under way. */
const KEEP_ALIVE_MS = 5000;
/** What is read and thrown away past the limit, so that the client gets to see why its push was refused. */
const OVERFLOW_BYTES = 64 * 1024 ** 2;
const MAX_REPORT_BYTES = 16 * 1024 ** 2;
const SAID_CHARS = 4096;

export const createReceive = (deps: ReceiveDeps): Pick<Git, 'receivePack'> => ({
  receivePack: async (request, limits, sink) => {
    const path = deps.places.existing(request.repo);
    const body = readBody(request, { maxBytes: 2 * limits.maxPushBytes + OVERFLOW_BYTES, idleMs: deps.idleMs });
    const header = await readPushHeader(body);
    await sweep(path, deps.clock.now());
    // Not killed with the client: once all of its pack is here the push happens, whoever still listens.
    const git = deps.git.start({
      args: ['receive-pack', '--stateless-rpc', path],
      settings: { 'receive.maxInputSize': String(limits.maxPushBytes) },
    });
    const reply = createReply({ clock: deps.clock, signal: request.signal, idleMs: deps.idleMs });
    const push: Push = { repo: request.repo, header, body, git, reply, limits, sink };
    void carryOut(deps, push).catch((thrown: unknown) => {
      deps.log.error('a push broke off', thrown, { repo: request.repo });
      git.kill();
      reply.fail(thrown);
    });
    return reply.stream;
  },
});

interface Push {
  repo: RpcRequest['repo'];
  header: PushHeader;
  body: AsyncGenerator<Uint8Array, void, void>;
  git: GitProcess;
  reply: Reply;
  limits: Limits;
  sink: PushSink;
}

const carryOut = async (deps: ReceiveDeps, push: Push): Promise<void> => {
  const { header, git, reply } = push;
  const banded = header.capabilities.has('side-band-64k');
  const [sent, answer] = await Promise.all([feed(push), banded ? relayBands(git, reply) : relayPlain(git, reply)]);
  const end = await git.ended;
  if (end.code !== 0) deps.log.warn('git receive-pack failed', { repo: push.repo, code: end.code, said: end.stderr });
  const outcome = await outcomeOf(deps.git, push.repo, header, answer.report);
  const say = (line: string): Promise<void> => reply.send(progress(`${printable(line)}\n`));
  if (banded) for (const line of explain(push, sent, answer.said)) await say(line);
  // Others could not tell lines for people from their report.
  else reply.close();
  if (outcome.updates.some((update) => update.refused === null)) {
    const beat = setInterval(() => void reply.send(KEEP_ALIVE), KEEP_ALIVE_MS);
    try {
      const listening = banded ? reply.gone : AbortSignal.abort();
      for await (const text of push.sink.onPushed(outcome, listening)) {
        if (banded) for (const line of text.split(/\r\n|\r|\n/)) await say(line);
      }
    } catch (thrown) {
      deps.log.error('what follows a push failed', thrown, { repo: push.repo });
      if (banded) await say('berth: the push is stored, but what follows it failed; see the events of the project');
    } finally {
      clearInterval(beat);
    }
  }
  await reply.send(FLUSH);
  reply.close();
};

interface Sent {
  bytes: number;
  /** Why the rest of the push did not come. */
  broken: unknown;
}

/** Hands the push to git. When the client breaks off, git sees the end of its input, and drops what came. */
const feed = async ({ header, body, git }: Push): Promise<Sent> => {
  const sent: Sent = { bytes: header.bytes.length, broken: undefined };
  await git.write(header.bytes);
  try {
    for await (const chunk of body) {
      sent.bytes += chunk.length;
      await git.write(chunk);
    }
  } catch (thrown) {
    sent.broken = thrown;
  } finally {
    await git.end();
  }
  return sent;
};

interface Answer {
  report: Uint8Array;
  /** The end of what git told the client. */
  said: string;
}

/** Passes git's reply on as it comes, less its last packet: lines of berth's own may follow. */
const relayBands = async (git: GitProcess, reply: Reply): Promise<Answer> => {
  const reader = createPacketReader();
  const report: Uint8Array[] = [];
  let size = 0;
  let said = '';
  for await (const chunk of git.stdout) {
    reader.push(chunk);
    for (let next = reader.next(); next !== undefined; next = reader.next()) {
      if (next.type !== 'data') continue;
      const [band] = next.payload;
      const content = next.payload.subarray(1);
      if (band !== BAND.data) said = `${said}${Buffer.from(content).toString('utf8')}`.slice(-SAID_CHARS);
      else if ((size += content.length) <= MAX_REPORT_BYTES) report.push(content);
      await reply.send(packet(next.payload));
    }
  }
  return { report: Buffer.concat(report), said };
};

const relayPlain = async (git: GitProcess, reply: Reply): Promise<Answer> => {
  const report: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of git.stdout) {
    if ((size += chunk.length) <= MAX_REPORT_BYTES) report.push(chunk);
    await reply.send(chunk);
  }
  return { report: Buffer.concat(report), said: '' };
};

/** What git's own words leave open. */
const explain = ({ limits }: Push, sent: Sent, said: string): string[] => {
  if (/exceeds maximum allowed size/.test(said) || sent.bytes > limits.maxPushBytes + OVERFLOW_BYTES) {
    const most = `${Math.floor(limits.maxPushBytes / 1024 ** 2)} MiB`;
    return [
      `berth: a push may have at most ${most}`,
      'hint: push fewer commits at once, or keep large files elsewhere',
    ];
  }
  if (/no space left on device/i.test(said)) {
    return [
      'berth: the disk of the server is full',
      'hint: free disk space on the server (see: berth doctor), then push again',
    ];
  }
  return sent.broken === undefined ? [] : [`berth: the push did not arrive whole: ${messageOf(sent.broken)}`];
};

import { createSemaphore } from '#kernel/semaphore';
import { readBody } from './body.ts';
import type { GitDeps } from './deps.ts';
import { FLUSH, packet } from './pkt-line.ts';
import type { Git, RepoId } from './port.ts';
import { createReply } from './reply.ts';
import { GitFailure, type GitProcess } from './run.ts';

export interface SmartHttpDeps extends GitDeps {
  /** A client that sends or takes nothing for so long counts as gone. */
  idleMs: number;
}

/** Of what a fetch sends: ids that it wants and has. */
const MAX_WANTS_BYTES = 64 * 1024 ** 2;

/** The reading half of gitprotocol-http(5). */
/** Packs made at a time: each may take a core and much memory; others wait their turn. */
const PACKS_AT_ONCE = 16;

export const createSmartHttp = (deps: SmartHttpDeps): Pick<Git, 'advertise' | 'uploadPack'> => {
  const packs = createSemaphore(PACKS_AT_ONCE);
  return {
    advertise: async (repo, service, { protocol, signal }) => {
      const path = deps.places.existing(repo);
      const version = protocolOf(service, protocol);
      const git = deps.git.start({
        args: [service.slice('git-'.length), '--stateless-rpc', '--advertise-refs', path],
        env: version,
        signal,
      });
      await git.end();
      // In version 2 the first packet says what this is (gitprotocol-http(5), smart server response).
      const announced = speaksTwo(version)
        ? new Uint8Array(0)
        : Buffer.concat([packet(`# service=${service}\n`), FLUSH]);
      return relay(deps, { repo, git, signal, before: announced });
    },
    uploadPack: async (request) => {
      const { repo, signal } = request;
      const path = deps.places.existing(repo);
      const release = await packs.acquire(signal);
      const git = deps.git.start({
        args: ['upload-pack', '--stateless-rpc', '--strict', path],
        env: protocolOf('git-upload-pack', request.protocol),
        signal,
      });
      void git.ended.then(release, release);
      let broken: unknown;
      const body = readBody(request, { maxBytes: MAX_WANTS_BYTES, idleMs: deps.idleMs });
      // Git may answer before it has read everything.
      void feed(git, body).catch((thrown: unknown) => {
        broken = thrown;
        git.kill();
      });
      try {
        return await relay(deps, { repo, git, signal, before: new Uint8Array(0) });
      } catch (thrown) {
        throw broken ?? thrown;
      }
    },
  };
};

const feed = async (git: GitProcess, body: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const chunk of body) await git.write(chunk);
  await git.end();
};

interface Relay {
  repo: RepoId;
  git: GitProcess;
  signal: AbortSignal;
  before: Uint8Array;
}

/** Resolves once git has said something; a failure before is thrown, so that it gets a status of its own. */
const relay = async (
  deps: SmartHttpDeps,
  { repo, git, signal, before }: Relay,
): Promise<ReadableStream<Uint8Array>> => {
  const output = git.stdout.getReader();
  const first = await output.read();
  if (first.done) {
    const end = await git.ended;
    signal.throwIfAborted();
    if (end.code !== 0) throw new GitFailure('upload-pack', end);
  }
  const reply = createReply({ clock: deps.clock, signal, idleMs: deps.idleMs });
  reply.gone.addEventListener('abort', () => git.kill(), { once: true });
  const passOn = async (): Promise<void> => {
    await reply.send(before);
    for (let next = first; !next.done; next = await output.read()) await reply.send(next.value);
    reply.close();
    const end = await git.ended;
    // What went wrong for the client is in the reply, as git put it.
    if (end.code !== 0 && !signal.aborted && !reply.gone.aborted)
      deps.log.debug('git ended a fetch with an error', { repo, code: end.code, said: end.stderr.slice(-1000) });
  };
  void passOn().catch((thrown: unknown) => {
    deps.log.error('a fetch broke off', thrown, { repo });
    git.kill();
    reply.fail(thrown);
  });
  return reply.stream;
};

const speaksTwo = (env: Record<string, string>): boolean => /(?:^|:)version=2(?:$|:)/.test(env['GIT_PROTOCOL'] ?? '');

/** Keys and values of the header `Git-Protocol`, when they are plain ones. There is no version 2 of pushing. */
const protocolOf = (service: string, header: string | null): Record<string, string> => {
  if (header === null || !/^[a-z0-9=:.-]{1,200}$/i.test(header)) return {};
  const keys = header.split(':').filter((key) => service === 'git-upload-pack' || key !== 'version=2');
  return { GIT_PROTOCOL: keys.join(':') };
};

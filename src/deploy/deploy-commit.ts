import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Ctx } from '#kernel/ctx';
import { BerthError } from '#kernel/errors';
import type { NewId } from '#kernel/ids';
import type { Accepted, Operations } from '#modules/operations';
import { createAcceptDeploy, type AcceptDeployDeps } from './accept-deploy.ts';
import type { DeployInput } from './builds.ts';

export interface CommitSource {
  project: string;
  service: string;
  commit: string;
  repo: { id: string; name: string; branch: string };
  /** The tree of the commit as a gzipped tar. */
  open: () => Promise<Readable>;
}

/** Deploys a commit of a hosted repository. A deploy of an older push that still waits gives way to it. */
export type DeployCommit = (ctx: Ctx, source: CommitSource) => Promise<Accepted>;

export interface DeployCommitDeps extends AcceptDeployDeps {
  newId: NewId;
  queue: Pick<Operations, 'enqueue' | 'supersede'>;
}

export const createDeployCommit = (deps: DeployCommitDeps): DeployCommit => {
  const { config } = deps;
  const { admit, enqueue } = createAcceptDeploy(deps);

  const store = async (source: CommitSource, archive: string): Promise<string> => {
    const hash = createHash('sha256');
    let bytes = 0;
    await pipeline(
      await source.open(),
      async function* counted(chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          bytes += chunk.length;
          if (bytes > config.maxUploadBytes) throw tooLarge(config.maxUploadBytes);
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(archive, { flags: 'wx', mode: 0o600 }),
    );
    return hash.digest('hex');
  };

  /** Nothing is lost by it: the newer commit holds what the older one had. */
  const supersede = (source: CommitSource, by: string): void => {
    for (const row of deps.operations.openOf(source.project)) {
      if (row.kind !== 'deploy' || row.service !== source.service || row.status !== 'queued' || row.id === by) continue;
      if ((JSON.parse(row.input) as DeployInput).repo?.id !== source.repo.id) continue;
      deps.queue.supersede(row.id, by, `a newer push to ${source.repo.branch}`);
    }
  };

  return async (ctx, source) => {
    const target = { project: source.project, service: source.service };
    await admit(target);
    const uploads = join(config.dataDir, 'uploads');
    await mkdir(uploads, { recursive: true, mode: 0o700 });
    const archive = join(uploads, `${deps.newId('req')}.tar.gz`);
    try {
      const sha256 = await store(source, archive);
      const service = await admit(target);
      const { commit, repo } = source;
      const reply = enqueue(ctx, service, { archive, sha256, noCache: false, commit, repo });
      supersede(source, reply.operation_id);
      return reply;
    } catch (error) {
      await rm(archive, { force: true });
      throw error;
    }
  };
};

const tooLarge = (maxBytes: number): BerthError =>
  new BerthError('SOURCE_TOO_LARGE', `the commit has more than ${Math.floor(maxBytes / 1024 / 1024)} MB when packed`, {
    hint: 'keep artifacts and data out of the repository, or deploy a folder of it (root)',
  });

import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import type { Git, Limits, PushSink, RepoId } from '#engines/git/port';
import { ctxOf, stateOf } from '#http/context';
import { route } from '#http/route';
import type { Ctx } from '#kernel/ctx';
import { BerthError, invalidInput, notFound } from '#kernel/errors';
import type { RepoPath } from './service.ts';

/** What git over HTTP needs to know of repositories. */
export interface GitHttp {
  /** NOT_FOUND for a missing repository, and for one out of scope alike. */
  resolve(ctx: Ctx, path: RepoPath): RepoId;
  /** Asked before a push, and already when it is announced: throws what git shall print instead of pushing. */
  admitPush(ctx: Ctx, path: RepoPath): Limits;
  sink(ctx: Ctx, path: RepoPath): PushSink;
}

export interface GitRoutesDeps {
  git: Pick<Git, 'advertise' | 'uploadPack' | 'receivePack'>;
  gitHttp: GitHttp;
}

type Service = 'git-upload-pack' | 'git-receive-pack';

const BASE = '/git/:project/:repo';

/** Nothing between may keep it (gitprotocol-http(5), general request processing). */
const NO_CACHE = {
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
  'cache-control': 'no-cache, max-age=0, must-revalidate',
};

const declare = (operationId: string, summary: string) =>
  route({
    operationId,
    summary,
    tag: 'git',
    capability: 'manage_repos',
    basic: true,
    page: true,
    upload: true,
    idempotent: false,
  });

/** Git's smart HTTP protocol: clone, fetch and push with any git client. */
export const gitRoutes = ({ git, gitHttp }: GitRoutesDeps) =>
  new Elysia()
    .get(
      `${BASE}/info/refs`,
      async ({ request, params, query }) => {
        const service = serviceOf(query.service);
        const path = pathOf(params);
        const ctx = ctxOf(request);
        const repo = gitHttp.resolve(ctx, path);
        if (service === 'git-receive-pack') gitHttp.admitPush(ctx, path);
        const type = `application/x-${service}-advertisement`;
        if (request.method === 'HEAD') return reply(type, null);
        const connection = connect(request);
        return reply(
          type,
          await connection.until(
            git.advertise(repo, service, { protocol: protocolOf(request), signal: connection.signal }),
          ),
        );
      },
      {
        query: Type.Object({ service: Type.Optional(Type.String()) }),
        ...declare('gitRefs', 'List refs for a git client'),
      },
    )
    .post(
      `${BASE}/git-upload-pack`,
      async ({ request, params }) => {
        const repo = gitHttp.resolve(ctxOf(request), pathOf(params));
        const { body, ...rpc } = rpcOf(request, repo, 'git-upload-pack');
        const connection = connect(request);
        const stream = git.uploadPack({ ...rpc, body, signal: connection.signal });
        return reply('application/x-git-upload-pack-result', await connection.until(stream));
      },
      { parse: 'none', ...declare('gitUploadPack', 'Send objects to a git client') },
    )
    .post(
      `${BASE}/git-receive-pack`,
      async ({ request, params }) => {
        const path = pathOf(params);
        const ctx = ctxOf(request);
        const repo = gitHttp.resolve(ctx, path);
        const limits = gitHttp.admitPush(ctx, path);
        const rpc = rpcOf(request, repo, 'git-receive-pack');
        const connection = connect(request);
        const stream = git.receivePack({ ...rpc, signal: connection.signal }, limits, gitHttp.sink(ctx, path));
        return reply('application/x-git-receive-pack-result', await connection.until(stream));
      },
      { parse: 'none', ...declare('gitReceivePack', 'Take objects from a git client') },
    )
    .get(
      `${BASE}/*`,
      ({ request, params }) => {
        gitHttp.resolve(ctxOf(request), pathOf(params));
        throw notFound('nothing is here for git', 'berth speaks the smart HTTP protocol only: use git 1.6.6 or newer');
      },
      declare('gitDumb', 'Refuse the protocol of files'),
    );

const pathOf = ({ project, repo }: { project: string; repo: string }): RepoPath => ({
  project,
  repo: repo.endsWith('.git') ? repo.slice(0, -'.git'.length) : repo,
});

const serviceOf = (name: string | undefined): Service => {
  if (name === 'git-upload-pack' || name === 'git-receive-pack') return name;
  throw new BerthError(
    'INVALID_INPUT',
    name === undefined ? 'this server does not speak the dumb HTTP protocol' : 'this service is not offered',
    { hint: 'use git 1.6.6 or newer', httpStatus: 403 },
  );
};

const protocolOf = (request: Request): string | null => request.headers.get('git-protocol');

const rpcOf = (request: Request, repo: RepoId, service: Service) => {
  const type = request.headers.get('content-type') ?? '';
  // Also what keeps a page in a browser from pushing with the credentials that the browser remembers.
  if (type.toLowerCase() !== `application/x-${service}-request`) {
    throw new BerthError('INVALID_INPUT', `the content type is not application/x-${service}-request`, {
      hint: 'use a git client',
      httpStatus: 415,
    });
  }
  const encoding = (request.headers.get('content-encoding') ?? 'identity').toLowerCase();
  if (!['identity', 'gzip', 'x-gzip'].includes(encoding)) {
    throw new BerthError('INVALID_INPUT', `the content encoding "${encoding.slice(0, 40)}" is not accepted here`, {
      hint: 'send gzip, or nothing of that kind',
      httpStatus: 415,
    });
  }
  if (request.body === null) throw invalidInput('the request has no body', 'use a git client');
  return { repo, body: request.body, gzip: encoding !== 'identity', protocol: protocolOf(request) };
};

/** A connection ends with its client, with its token, and with the server. */
const connect = (request: Request) => {
  const { ctx, streams } = stateOf(request);
  const { tokenId, expiresAt } = ctx.actor;
  const revoked = new AbortController();
  const signal = AbortSignal.any([request.signal, revoked.signal]);
  const leave = streams.add({
    tokenId,
    expiresAt,
    end: () => revoked.abort(new Error('the token is not valid any more, or the server is stopping')),
  });
  const until = async (begun: Promise<ReadableStream<Uint8Array>>): Promise<ReadableStream<Uint8Array>> => {
    try {
      return watchEnd(await begun, leave);
    } catch (thrown) {
      leave();
      throw thrown;
    }
  };
  return { signal, until };
};

const watchEnd = (stream: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> => {
  const reader = stream.getReader();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        try {
          const { value, done } = await reader.read();
          if (!done) {
            controller.enqueue(value);
            return;
          }
          onEnd();
          controller.close();
        } catch (thrown) {
          onEnd();
          throw thrown;
        }
      },
      cancel: async (reason) => {
        onEnd();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
};

const reply = (type: string, body: ReadableStream<Uint8Array> | null): Response =>
  new Response(body, { headers: { ...NO_CACHE, 'content-type': type } });

import { Type } from '@sinclair/typebox';
import { Elysia, status } from 'elysia';
import { ctxOf } from '#http/context';
import { route } from '#http/route';
import type { Clock } from '#kernel/clock';
import { BerthError, conflict, notFound } from '#kernel/errors';
import { Name } from '#kernel/schema';
import type { Repos } from './service.ts';
import type { RepoStore } from './store.ts';
import { MAX_WEBHOOK_BYTES, readWebhook } from './webhooks.ts';

export interface MirrorRoutesDeps {
  clock: Clock;
  repos: Pick<Repos, 'requireRepo'>;
  repoStore: Pick<RepoStore, 'byId' | 'noteDelivery'>;
  /** Asks for a repository to be fetched soon. */
  mirror: (id: string) => void;
}

const RepoPath = Type.Object({ project: Name, repo: Name });
const Started = Type.Object({ started: Type.Literal(true) });
const Taken = Type.Object({
  taken: Type.Boolean({ description: 'false: it was taken before, or is about nothing that berth follows' }),
});

export const mirrorRoutes = (deps: MirrorRoutesDeps) =>
  new Elysia()
    .post(
      '/v1/projects/:project/repos/:repo/sync',
      ({ request, params }) => {
        const row = deps.repos.requireRepo(ctxOf(request), params);
        if (row.mirror_of === null)
          throw conflict(`repository "${row.name}" mirrors nothing`, 'set mirror_of first, or push to it');
        if (!ctxOf(request).dryRun) deps.mirror(row.id);
        return status(202, { started: true as const });
      },
      {
        params: RepoPath,
        response: { 202: Started },
        ...route({
          operationId: 'syncRepo',
          capability: 'manage_repos',
          tag: 'repos',
          summary: 'Fetch a mirrored repository now',
          description: 'How it went is in `mirrored_at` and `mirror_error` of the repository, and in the events.',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    )
    .post('/hooks/:id', async ({ request, params }) => status(202, await takeWebhook(deps, request, params.id)), {
      parse: 'none',
      params: Type.Object({ id: Type.String({ pattern: '^repo_[0-9a-z]{1,40}$' }) }),
      response: { 202: Taken },
      ...route({
        operationId: 'takeWebhook',
        capability: 'public',
        tag: 'repos',
        summary: 'Push webhooks of GitHub, GitLab, Gitea and Forgejo for a mirror; the signature is the proof',
        errors: ['UNAUTHENTICATED', 'NOT_FOUND'],
        upload: true,
        page: true,
        idempotent: false,
      }),
    });

/** What a webhook says is never believed but for "look now": the address itself is asked. */
const takeWebhook = async (
  { clock, repoStore, mirror }: MirrorRoutesDeps,
  request: Request,
  id: string,
): Promise<{ taken: boolean }> => {
  const row = repoStore.byId(id);
  if (row === undefined || row.webhook_secret === null || row.mirror_of === null)
    throw notFound('nothing takes webhooks here', 'see webhook_url of the repository');
  const body = await bounded(request);
  const { event, delivery } = readWebhook({
    headers: request.headers,
    body,
    secret: row.webhook_secret,
    now: clock.now(),
  });
  if (!repoStore.noteDelivery(row.id, delivery, clock.now()) || event.kind !== 'push') return { taken: false };
  mirror(row.id);
  return { taken: true };
};

const bounded = async (request: Request): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_WEBHOOK_BYTES)
      throw new BerthError('INVALID_INPUT', 'the body is larger than that of any webhook', {
        hint: 'send push webhooks only',
        httpStatus: 413,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGit } from '#engines/git/index';
import type { PushOutcome, PushSink } from '#engines/git/port';
import { createFrame } from '#http/frame';
import { createGuard } from '#http/guard';
import { createMinuteLimit } from '#http/limits';
import { createServer } from '#http/server';
import { createStreams } from '#http/streams';
import { systemClock } from '#kernel/clock';
import { notFound } from '#kernel/errors';
import { createIds } from '#kernel/ids';
import { createLog } from '#kernel/log';
import { requireProject } from '#kernel/scope';
import { gitRoutes } from '#modules/repos';

export interface GitServerOptions {
  maxPushBytes?: number;
  idleMs?: number;
  /** What a push is told; nothing by default. */
  onPushed?: PushSink['onPushed'];
  /** Path of a program that is run in place of git. */
  git?: string;
  dir?: string;
  admitPush?: () => void;
}

/** Tokens of the server: what they may do and where. */
export const TOKENS = {
  right: { principal: 'ada', capabilities: ['manage_repos'], projects: ['shop'] },
  weak: { principal: 'eve', capabilities: ['read'], projects: ['shop'] },
  foreign: { principal: 'eve', capabilities: ['manage_repos'], projects: ['other'] },
} as const;

/** Git over HTTP behind the real guard, without the rest of berth. Repositories are of the project `shop`. */
export const serveGit = (options: GitServerOptions = {}) => {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'berth-git-'));
  const lines: string[] = [];
  const log = createLog('info', (line) => lines.push(line), Date.now);
  const engine = createGit({
    dir,
    clock: systemClock,
    log,
    ...(options.git === undefined ? {} : { git: options.git }),
    ...(options.idleMs === undefined ? {} : { idleMs: options.idleMs }),
  });
  const streams = createStreams(systemClock);
  const revoked = new Set<string>();
  const guard = createGuard({
    authenticator: {
      authenticate: (secret) => {
        const token = revoked.has(secret) ? undefined : TOKENS[secret as keyof typeof TOKENS];
        if (token === undefined) return undefined;
        const { capabilities, projects, principal } = token;
        const actor = {
          tokenId: secret,
          principal,
          capabilities: [...capabilities],
          projects: [...projects],
          expiresAt: null,
        };
        return { actor, bucket: { left: 1, at: 0 } };
      },
      resume: () => undefined,
      countRequest: () => undefined,
    },
    sessions: { resolve: () => undefined },
    attempts: createMinuteLimit(20, systemClock),
    addressOf: () => '198.51.100.1',
    streams,
    newRequestId: createIds(Date.now).bind(undefined, 'req'),
    onFault: (message, thrown) => log.error(message, thrown),
  });
  const pushes: PushOutcome[] = [];
  const idempotency = { begin: () => undefined, finish: () => undefined };
  const app = createFrame({ guard, idempotency, onFault: (message, thrown) => log.error(message, thrown) }).use(
    gitRoutes({
      git: engine,
      gitHttp: {
        resolve: (ctx, { project, repo }) => {
          requireProject(ctx.actor, project);
          if (project !== 'shop' || repo.startsWith('no-'))
            throw notFound(`no repository named "${repo}"`, 'list them');
          return repo;
        },
        admitPush: () => {
          options.admitPush?.();
          return { maxPushBytes: options.maxPushBytes ?? 1024 ** 3 };
        },
        sink: () => ({
          onPushed: (outcome, listening) => {
            pushes.push(outcome);
            return options.onPushed?.(outcome, listening) ?? nothing();
          },
        }),
      },
    }),
  );
  guard.load(app.routes);
  const listener = createServer({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request) => app.handle(request),
    streams,
    bindPeer: () => undefined,
  });
  const stop = async (): Promise<void> => {
    await listener.stop(0);
    if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
  };
  return {
    git: engine,
    dir,
    lines,
    pushes,
    stop,
    port: listener.port,
    origin: listener.url,
    pathOf: (repo: string) => join(dir, `${repo}.git`),
    /** With credentials. */
    urlOf: (repo: string, token = 'right') => `http://berth:${token}@127.0.0.1:${listener.port}/git/shop/${repo}.git`,
    revoke: (token: keyof typeof TOKENS) => {
      revoked.add(token);
      streams.endToken(token);
    },
  };
};

export type GitServer = ReturnType<typeof serveGit>;

async function* nothing(): AsyncGenerator<string> {}

import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { join } from 'node:path';
import type { CreateRepo, Repo } from '#modules/repos';
import type { Berth } from '#test/support/berth.ts';
import { git } from '#test/support/git-client.ts';
import type { Hosted } from '#test/support/git-scenarios.ts';

/** The clone address with a token in it. */
export const urlWith = (url: string, token: string): string => url.replace('://', `://berth:${token}@`);

export const newToken = async (
  berth: Berth,
  projects: string[],
  capabilities: string[] = ['manage_repos'],
): Promise<{ id: string; secret: string }> => {
  const body = { principal: 'grace@example.org', capabilities, projects };
  const reply = await berth.api('/v1/tokens', { method: 'POST', body });
  expect(reply.status).toBe(201);
  return reply.body;
};

export const createRepo = async (berth: Berth, project: string, body: CreateRepo): Promise<Repo> => {
  const reply = await berth.api(`/v1/projects/${project}/repos`, { method: 'POST', body });
  expect(reply).toMatchObject({ status: 201, body: { name: body.name, created: true } });
  return reply.body;
};

/** Where a repository is on the disk of the server. */
export const repoDir = (berth: Berth, project: string, name: string): string => {
  const db = new Database(join(berth.dataDir, 'berth.db'), { readonly: true });
  try {
    const query = db.query<{ id: string }, [string, string]>('SELECT id FROM repos WHERE project = ? AND name = ?');
    return join(berth.dataDir, 'repos', `${query.get(project, name)?.id}.git`);
  } finally {
    db.close();
  }
};

/** Empty when all is well. */
export const fsck = async (dir: string): Promise<string> => {
  const found = await git(dir, 'fsck', '--strict', '--no-progress', '--no-dangling');
  return found.replace(/^notice: .*\n?/gm, '');
};

/** A repository that is empty at first, as a scenario sees it. */
export const hostedOn = async (berth: Berth, project: string, name: string): Promise<Hosted> => {
  const repo = await createRepo(berth, project, { name });
  const dir = repoDir(berth, project, name);
  return {
    url: urlWith(repo.clone_url, berth.token),
    refs: async () => {
      const refs = await git(dir, 'for-each-ref', '--format=%(objectname) %(refname)');
      return refs.split('\n').filter((line) => line !== '');
    },
    fsck: () => fsck(dir),
  };
};

export interface HappenedEvent {
  kind: string;
  actor: string;
  data: Record<string, unknown>;
}

/** All of a kind, the oldest first. */
export const eventsOf = async (berth: Berth, project: string, kind: string): Promise<HappenedEvent[]> => {
  const { body } = await berth.api(`/v1/projects/${project}/events?tail=5000&follow=false`);
  return [...String(body).matchAll(/^data: (?<data>.*)$/gm)]
    .map((match) => JSON.parse(match.groups?.['data'] ?? '') as HappenedEvent)
    .filter((event) => event.kind === kind);
};

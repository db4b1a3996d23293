import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import type { Berth } from '#test/support/berth.ts';

const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};

/** Git as a user without any configuration runs it in `dir`; what it printed on both outputs. */
export const runGit = async (dir: string, ...args: string[]): Promise<string> => {
  const child = Bun.spawn(['git', '-C', dir, ...args], {
    env: ENVIRONMENT,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`git ${args.join(' ')}: ${error}`);
  return out + error;
};

/** A repository hosted by berth: its address with a token, and where it lies on the disk. */
export const hostRepository = async (
  berth: Berth,
  project: string,
  body: { name: string; deploy_service?: string },
): Promise<{ url: string; dir: string }> => {
  const reply = await berth.api(`/v1/projects/${project}/repos`, { method: 'POST', body });
  if (reply.status > 201) throw new Error(`no repository could be made: ${JSON.stringify(reply.body)}`);
  const url = String(reply.body.clone_url).replace('://', `://berth:${berth.token}@`);
  const db = new Database(join(berth.dataDir, 'berth.db'), { readonly: true });
  try {
    const query = db.query<{ id: string }, [string, string]>('SELECT id FROM repos WHERE project = ? AND name = ?');
    return { url, dir: join(berth.dataDir, 'repos', `${query.get(project, body.name)?.id}.git`) };
  } finally {
    db.close();
  }
};

export const milliseconds = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

import { git } from './git-client.ts';
import type { Hosted } from './git-scenarios.ts';
import { serveGit, type GitServer, type GitServerOptions } from './git-serve.ts';
import { atEnd } from './preload.ts';

export type { GitServer, GitServerOptions } from './git-serve.ts';

/** Until the end of the test. */
export const startGitServer = (options: GitServerOptions = {}): GitServer => {
  const server = serveGit(options);
  atEnd(server.stop);
  return server;
};

/** A fresh repository as a scenario sees it. */
export const hostedOn = async (server: GitServer, repo = 'site'): Promise<Hosted> => {
  await server.git.create(repo, 'main');
  const path = server.pathOf(repo);
  return {
    url: server.urlOf(repo),
    refs: async () => {
      const refs = await git(path, 'for-each-ref', '--format=%(objectname) %(refname)');
      return refs.split('\n').filter((line) => line !== '');
    },
    lastPush: () => {
      const last = server.pushes.at(-1);
      return last && { options: last.options, refs: last.updates.map((update) => update.ref) };
    },
    fsck: async () => {
      const found = await git(path, 'fsck', '--strict', '--no-progress', '--no-dangling');
      return found.replace(/^notice: .*\n?/gm, '');
    },
  };
};

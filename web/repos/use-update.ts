import type { UpdatedRepo, UpdateRepo } from '#modules/repos';
import { call } from '../api.ts';
import { queries } from '../data/client.ts';
import { useAction } from '../ui/action.ts';
import { toast } from '../ui/toast.tsx';
import type { RepoId } from './places.ts';
import { refreshRepos, repoApi } from './reads.ts';

/** Sends a change and shows what became of it. */
export const useUpdate = (id: RepoId) => {
  const { busy, error, run } = useAction();
  const update = (body: UpdateRepo, said: string): Promise<UpdatedRepo | undefined> =>
    run(async () => {
      const reply = await call<UpdatedRepo>('PATCH', repoApi(id), { json: body });
      const { webhook_secret: _secret, ...repo } = reply;
      queries.setQueryData(['repo', id.project, repo.name], repo);
      refreshRepos(id.project);
      toast('ok', said);
      return reply;
    });
  return { busy, error, update };
};

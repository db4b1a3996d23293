import { useState } from 'react';
import type { UpdatedRepo, UpdateRepo } from '#modules/repos';
import { call } from '../api.ts';
import { queries } from '../data/client.ts';
import { toast } from '../ui/toast.tsx';
import type { RepoId } from './places.ts';
import { refreshRepos, repoApi } from './reads.ts';

/** Sends a change and shows what became of it. */
export const useUpdate = (id: RepoId) => {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const update = async (body: UpdateRepo, said: string): Promise<UpdatedRepo | undefined> => {
    setBusy(true);
    setError(undefined);
    try {
      const reply = await call<UpdatedRepo>('PATCH', repoApi(id), { json: body });
      const { webhook_secret: _secret, ...repo } = reply;
      queries.setQueryData(['repo', id.project, repo.name], repo);
      refreshRepos(id.project);
      toast('ok', said);
      return reply;
    } catch (thrown) {
      setError(thrown);
      return undefined;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, update };
};

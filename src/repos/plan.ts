import type { RefUpdate } from '#engines/git/port';
import { isName } from '#kernel/schema';
import type { RepoRow } from '#modules/repos';

/** What a push brings about. */
export type PushAction =
  | { kind: 'deploy'; service: string; branch: string; commit: string; preview: boolean }
  | { kind: 'remove'; service: string; branch: string }
  | { kind: 'say'; line: string };

export interface PushPlanInput {
  repo: Pick<RepoRow, 'name' | 'default_branch' | 'deploy_service' | 'deploy_branch' | 'preview'>;
  updates: readonly RefUpdate[];
  /** Push options of the client. */
  options: readonly string[];
  /** Branches that have a preview, with its service. */
  previews: ReadonlyMap<string, string>;
}

export const HEADS = 'refs/heads/';
export const isZero = (id: string): boolean => /^0+$/.test(id);

/** Pure. */
export const planPush = ({ repo, updates, options, previews }: PushPlanInput): PushAction[] => {
  const done = updates.filter((update) => update.refused === null && update.ref.startsWith(HEADS));
  const skip = options.includes('skip-deploy');
  const deployBranch = repo.deploy_branch ?? repo.default_branch;
  return done.flatMap((update): PushAction[] => {
    const branch = update.ref.slice(HEADS.length);
    if (isZero(update.after)) return removal(branch, previews);
    if (repo.deploy_service === null) return [];
    if (branch === deployBranch) {
      if (skip) return [{ kind: 'say', line: `skip-deploy: ${repo.deploy_service} stays as it is` }];
      return [{ kind: 'deploy', service: repo.deploy_service, branch, commit: update.after, preview: false }];
    }
    if (!repo.preview) {
      return [
        { kind: 'say', line: `${branch} is not deployed: pushes to ${deployBranch} deploy ${repo.deploy_service}` },
      ];
    }
    const service = previews.get(branch) ?? previewName(repo.deploy_service, branch, new Set(previews.values()));
    if (service === undefined) {
      return [
        { kind: 'say', line: `${branch} gets no preview: no name of a service can be made of it; rename the branch` },
      ];
    }
    if (skip) return [{ kind: 'say', line: `skip-deploy: ${service} stays as it is` }];
    return [{ kind: 'deploy', service, branch, commit: update.after, preview: true }];
  });
};

const removal = (branch: string, previews: ReadonlyMap<string, string>): PushAction[] => {
  const service = previews.get(branch);
  return service === undefined ? [] : [{ kind: 'remove', service, branch }];
};

const LONGEST = 30;

/** `<service>-<branch>` as a name of a service: other characters become dashes; cut, and told apart by a number. Pure. */
export const previewName = (service: string, branch: string, taken: ReadonlySet<string>): string | undefined => {
  const slug = branch
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  for (let number = 1; number < 100; number += 1) {
    const ending = number === 1 ? '' : `-${number}`;
    const name = `${service}-${slug}`.slice(0, LONGEST - ending.length).replaceAll(/-+$/g, '') + ending;
    if (slug === '' || !isName(name) || name === service) return undefined;
    if (!taken.has(name)) return name;
  }
  return undefined;
};

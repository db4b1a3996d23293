import { listOf, Name } from '#kernel/schema';
import { CommitFilesBody, CommitFilesReply, CreateRepoBody, CreateRepoReply, RepoSchema } from '#modules/repos';
import { defineTool, PROJECT } from '../tool.ts';
import { PAGE } from './page.ts';

const createRepo = defineTool({
  name: 'service_create_repo',
  title: 'Create a git repository',
  description:
    'Creates a git repository in a project; safe to repeat. With deploy_service every push or commit to its branch deploys that service. Push with git to clone_url (any user name, the token as password), or commit with service_commit_files.',
  operationId: 'createRepo',
  capability: 'manage_repos',
  hints: { idempotent: true },
  dryRun: true,
  input: { project: PROJECT, ...CreateRepoBody.properties },
  output: CreateRepoReply,
  run: async ({ api }, { project, ...wanted }) => ({ data: await api.createRepo(project, wanted) }),
});

const listRepos = defineTool({
  name: 'service_list_repos',
  title: 'List git repositories',
  description:
    'The git repositories of a project: clone_url, default branch, which service a push deploys. Next: service_commit_files.',
  operationId: 'listRepos',
  capability: 'manage_repos',
  hints: { readOnly: true, idempotent: true },
  input: { project: PROJECT, ...PAGE },
  output: listOf('repos', RepoSchema),
  run: async ({ api }, { project, ...page }) => ({ data: await api.listRepos(project, page) }),
});

const commitFiles = defineTool({
  name: 'service_commit_files',
  title: 'Commit files to a repository',
  description:
    'Makes one commit in a hosted repository without git: writes whole files, deletes, moves. The first commit makes the first branch. When the repository deploys a service, deploys holds the operation_id: wait for it with service_operation. expected_head guards against overwriting the commits of others.',
  operationId: 'commitRepoFiles',
  capability: 'manage_repos',
  hints: {},
  dryRun: true,
  input: { project: PROJECT, repo: { ...Name, description: 'name of the repository' }, ...CommitFilesBody.properties },
  output: CommitFilesReply,
  run: async ({ api }, { project, repo, ...body }) => ({ data: await api.commitRepoFiles(project, repo, body) }),
});

export const repoTools = [createRepo, listRepos, commitFiles];

export { createCommitVerbs, type CommitVerbs } from './commit-files.ts';
export { contentRoutes } from './content-routes.ts';
export { createContents, type Contents } from './content.ts';
export * from './model.ts';
export { gitRoutes, type GitHttp } from './git-routes.ts';
export { mirrorRoutes } from './mirror-routes.ts';
export { reposRoutes } from './routes.ts';
export { createRepos, type RepoPath, type Repos } from './service.ts';
export { createRepoStore, type RepoRow, type RepoStore } from './store.ts';

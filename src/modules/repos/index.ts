export * from './model.ts';
export { gitRoutes, type GitHttp } from './git-routes.ts';
export { reposRoutes } from './routes.ts';
export { createRepos, type RepoPath, type Repos } from './service.ts';
export { createRepoStore, type RepoRow, type RepoStore } from './store.ts';

export * from './model.ts';
export { releasesRoutes } from './routes.ts';
export { createReleases, type Releases } from './service.ts';
export { createReleaseStore, releaseId, type ReleaseRow, type ReleaseStore } from './store.ts';

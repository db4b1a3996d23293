export * from './model.ts';
export { createReleaseStore, releaseCursor, releaseId, type ReleaseRow, type ReleaseStore } from './store.ts';

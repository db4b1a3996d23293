export type { LiveEvent, LiveKind, ProjectSummary } from './model.ts';
export { liveRoutes } from './routes.ts';
export { createLive, type Live } from './service.ts';

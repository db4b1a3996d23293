export type { WebFiles, WebManifest } from './files.ts';
export { dashboardRoutes } from './routes.ts';

export * from './model.ts';
export { logsRoutes } from './routes.ts';
export type { FoundLine } from './search.ts';
export { logSearchRoutes } from './search-routes.ts';
export { createServiceLogs, type LogReader, type ServiceLogs } from './service.ts';

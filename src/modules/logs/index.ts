export * from './model.ts';
export { logsRoutes } from './routes.ts';
export { createServiceLogs, type LogReader, type ServiceLogs } from './service.ts';

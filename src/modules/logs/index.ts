export * from './model.ts';
export { logsRoutes } from './routes.ts';
export { createServiceLogs, type ServiceLogs } from './service.ts';

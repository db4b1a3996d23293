export * from './model.ts';
export { logsRoutes } from './routes.ts';
export { createServiceLogs, type LoggedReplica, type ServiceLogs } from './service.ts';

export * from './model.ts';
export { sessionsRoutes } from './routes.ts';
export { createSessions, type Sessions } from './service.ts';

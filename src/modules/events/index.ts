export * from './model.ts';
export { eventsRoutes } from './routes.ts';
export { createEvents, type Events } from './service.ts';

export * from './model.ts';
export { projectsRoutes } from './routes.ts';
export { createProjects, type Projects } from './service.ts';
export { createProjectStore, type ProjectRow, type ProjectStore } from './store.ts';

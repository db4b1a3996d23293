export * from './model.ts';
export { createLiveness, type Liveness } from './liveness.ts';
export { createReadReplicas } from './readings.ts';
export { servicesRoutes } from './routes.ts';
export { createServices, type Services } from './service.ts';
export type { BuildCacheRow } from './caches.ts';
export { createServiceStore, type ReplicaRow, type ServiceRow, type ServiceStore } from './store.ts';

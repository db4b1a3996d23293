export * from './model.ts';
export { envRoutes } from './routes.ts';
export { createEnv, type Env } from './service.ts';
export { openVault } from './vault.ts';

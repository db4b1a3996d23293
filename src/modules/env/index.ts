export * from './model.ts';
export { envRoutes } from './routes.ts';
export { createEnv, type Env, type EnvDeps } from './service.ts';
export { openVault, type Vault } from './vault.ts';

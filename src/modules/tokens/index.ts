export * from './model.ts';
export { tokensRoutes } from './routes.ts';
export { createTokens, type Tokens } from './service.ts';

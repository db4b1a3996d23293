export * from './model.ts';
export { tokensRoutes } from './routes.ts';
export { createTokens, type TokenEvent, type Tokens, type TokensDeps } from './service.ts';

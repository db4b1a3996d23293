export * from './model.ts';
export { createApiDocument, type ApiDocument } from './openapi/document.ts';
export { toJsonSchema, type JsonSchema } from './openapi/schema.ts';
export type { SourceRoute } from './openapi/operation.ts';
export { systemRoutes } from './routes.ts';
export { createSystem, type System, type SystemDeps } from './service.ts';

export * from './model.ts';
export { createRecorder } from './recorder.ts';
export { usageRoutes } from './routes.ts';
export { createSampler, type Reading, type Sampler } from './sampler.ts';
export { createUsage, type UsageReads } from './service.ts';
export { openUsageStore } from './store.ts';
